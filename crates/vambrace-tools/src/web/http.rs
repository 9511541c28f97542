//! Declared `http` tools (specification 000): a request of the operator's with values of the caller's in it.

use serde_json::{Map, Value};
use vambrace_net::{Response, decode, safe_body_string};
use vambrace_policy::url::Voice;
use vambrace_policy::{Answers, Author, FetchUrl, Header, Permit};
use vambrace_types::{ErrorCode, RawOutput, Secret, ToolError, Tree};

use super::journey::travel;
use super::template::{Place, Template};
use super::{cut_words, preview, settle};
use crate::declared::{ArgumentSchema, tree_of};
use crate::{About, CallContext, DeclaredRequest, Hands, Hints, Look, Tool, WebLimits};

pub(crate) struct HttpTool {
    about: About,
    declared: DeclaredRequest,
    limits: WebLimits,
    schema: ArgumentSchema,
    url: Template,
    headers: Vec<(String, Template)>,
    body: Option<(Place, Template)>,
}

/// Whatever the operator's service does; nobody has told us.
const UNKNOWN: Hints = Hints { read_only: false, destructive: true, idempotent: false, open_world: true };

impl HttpTool {
    pub(crate) fn new(declared: &DeclaredRequest, limits: WebLimits) -> HttpTool {
        // LIMIT: a few names and sentences for every start or reload of the configuration stay for good.
        let keep = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let name = keep(&declared.name);
        let hints = match declared.method.as_str() {
            "GET" | "HEAD" => Hints { destructive: false, ..UNKNOWN },
            _ => UNKNOWN,
        };
        let headers = declared.headers.iter().map(|(name, value)| {
            // A secret in a template is held as one: only its filled form is, and that is a secret again.
            (name.to_ascii_lowercase(), Template::parse(value.expose()))
        });
        let content_type =
            declared.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let content_type = content_type.map(|(_, value)| value.expose().as_str());
        let body = declared.body.as_ref().map(|body| (Place::of(content_type, body), Template::parse(body)));
        HttpTool {
            about: About { name, title: name, description: keep(&declared.description), hints },
            schema: ArgumentSchema::compile(&declared.schema),
            url: Template::parse(&declared.url),
            headers: headers.collect(),
            body,
            limits,
            declared: declared.clone(),
        }
    }

    fn headers(&self, arguments: &Map<String, Value>) -> Result<Vec<Header>, ToolError> {
        let mut headers = Vec::new();
        for (name, template) in &self.headers {
            let value = Secret::new(template.header(name, arguments)?);
            headers.push(Header { name: name.clone(), value });
        }
        if let Some((Place::Json, _)) = self.body
            && !headers.iter().any(|header| header.name == "content-type")
        {
            let value = Secret::new("application/json".to_owned());
            headers.push(Header { name: "content-type".to_owned(), value });
        }
        Ok(headers)
    }
}

impl Tool for HttpTool {
    type Args = Map<String, Value>;
    type Action = FetchUrl;
    const ABOUT: About = About {
        name: "declared_request",
        title: "Declared request",
        description: "A request that the operator declared.",
        hints: UNKNOWN,
    };

    fn about(&self) -> About {
        self.about
    }

    fn own_schema(&self) -> Option<Map<String, Value>> {
        Some(self.schema.shown())
    }

    fn plan(&self, args: Map<String, Value>, _context: &CallContext<'_>) -> Result<FetchUrl, ToolError> {
        let arguments = Value::Object(args);
        self.schema.check(self.about.name, &arguments)?;
        let Value::Object(arguments) = arguments else { return Err(not_an_object()) };
        Ok(FetchUrl {
            url: self.url.url(&arguments)?,
            method: self.declared.method.clone(),
            headers: self.headers(&arguments)?,
            body: self.body.as_ref().map(|(place, body)| Secret::new(body.body(*place, &arguments))),
            author: Author::Operator,
            voice: Voice::Seed000,
            answers: Answers::Unasked,
            time: Some(self.declared.time),
            length: None,
        })
    }

    fn settle(&self, action: &FetchUrl, look: &Look<'_>) -> Result<Option<FetchUrl>, ToolError> {
        Ok(settle(action, look))
    }

    fn preview(&self, permit: &Permit<FetchUrl>, _look: &Look<'_>) -> Result<RawOutput, ToolError> {
        Ok(preview(self.about.name, permit))
    }

    async fn run(&self, permit: Permit<FetchUrl>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let response = travel(self.about.name, permit, hands, self.declared.time).await?;
        hands.blocking(|| self.result(&response))?
    }
}

fn not_an_object() -> ToolError {
    ToolError::new(ErrorCode::ValidationError, "The arguments must be an object.")
}

impl HttpTool {
    /// The body untouched, and beside it the text that may go on into other texts.
    fn result(&self, response: &Response) -> Result<RawOutput, ToolError> {
        let mut text = safe_body_string(&response.body, &response.content_type, self.limits.braces);
        if response.truncated {
            text = format!("{text}\n[{}]", cut_words(self.limits.body));
        }
        if response.status >= 400 {
            let message = format!("`{}` answered with status {}: {text}", self.about.name, response.status);
            return Err(ToolError::new(ErrorCode::HttpStatus, message)
                .suggestion("Read what the service says and correct the arguments, or tell the operator."));
        }
        let body = decode(&response.body, &response.content_type);
        let json = serde_json::from_str::<Value>(&body).ok();
        let json = json.filter(|value| value.is_object() || value.is_array()).map(tree_of);
        let mut entries = vec![
            ("status", Tree::Int(i64::from(response.status))),
            ("content_type", Tree::text(&response.content_type)),
            ("text", Tree::Text(text)),
            ("bytes", Tree::count(response.body.len())),
            ("truncated", Tree::Bool(response.truncated)),
        ];
        entries.push(match json {
            Some(json) => ("json", json),
            None => ("body", Tree::Text(body)),
        });
        Ok(RawOutput::new(Tree::map(entries)))
    }
}
