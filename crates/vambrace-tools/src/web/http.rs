//! Declared `http` tools (specification 000): a request of the operator's with values of the caller's in it.

use serde_json::{Map, Value};
use vambrace_json::Limits;
use vambrace_net::{Response, safe_body_string};
use vambrace_policy::url::Voice;
use vambrace_policy::{Answers, Author, FetchUrl, Header, Permit};
use vambrace_types::{ErrorCode, RawOutput, Secret, ToolError, ToolName, Tree};

use super::journey::travel;
use super::template::{Place, Template};
use super::{cut_words, n_bytes, preview, settle, text_of};
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
    /// None where the name is no name; the configuration refuses those.
    pub(crate) fn new(declared: &DeclaredRequest, limits: WebLimits) -> Option<HttpTool> {
        let name = ToolName::parse(&declared.name)?;
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
        // One that the caller fills in says nothing beforehand; then the look of the template counts.
        let content_type =
            content_type.map(|(_, value)| value.expose().as_str()).filter(|text| !text.contains("{{"));
        let body = declared.body.as_ref().map(|body| (Place::of(content_type, body), Template::parse(body)));
        Some(HttpTool {
            about: About::configured(name, declared.description.clone(), hints),
            schema: ArgumentSchema::compile(&declared.schema),
            url: Template::parse(&declared.url),
            headers: headers.collect(),
            body,
            limits,
            declared: declared.clone(),
        })
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

    fn about(&self) -> About {
        self.about.clone()
    }

    fn own_schema(&self) -> Option<Map<String, Value>> {
        Some(self.schema.shown())
    }

    fn plan(&self, args: Map<String, Value>, _context: &CallContext<'_>) -> Result<FetchUrl, ToolError> {
        let arguments = Value::Object(args);
        self.schema.check(self.about.name.as_str(), &arguments)?;
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
            spelled: texts(&Value::Object(arguments)),
            length: None,
            named: None,
        })
    }

    fn settle(&self, action: &FetchUrl, look: &Look<'_>) -> Result<Option<FetchUrl>, ToolError> {
        Ok(settle(action, look))
    }

    fn preview(&self, permit: &Permit<FetchUrl>, _look: &Look<'_>) -> Result<RawOutput, ToolError> {
        Ok(preview(self.about.name.as_str(), permit.action()))
    }

    async fn run(&self, permit: Permit<FetchUrl>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let mut response = travel(&self.about.name, permit, hands, self.declared.time).await?;
        hands.blocking(|| self.result(&mut response, hands)).await
    }
}

/// Every text in the arguments, names of fields too.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null | Value::Bool(_) => Vec::new(),
        Value::Number(number) => vec![number.to_string()],
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(entries) => {
            entries.iter().flat_map(|(key, value)| std::iter::once(key.clone()).chain(texts(value))).collect()
        }
    }
}

fn not_an_object() -> ToolError {
    ToolError::new(ErrorCode::ValidationError, "The arguments must be an object.")
}

impl HttpTool {
    /// The body untouched, and beside it the text that may go on into other texts.
    fn result(&self, response: &mut Response, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let n_bytes = n_bytes(response);
        // THREAT: P02, cleaned before anything is escaped or split: a secret in another spelling is none that we know.
        let cleaned = hands.redactor().text_owned(text_of(response, hands, |text| text));
        hands.redacted(cleaned.n_redactions);
        let body = cleaned.value.into_string();
        let mut text = safe_body_string(body.as_bytes(), &utf8(&response.content_type), self.limits.braces);
        if response.truncated {
            text = format!("{text}\n[{}]", cut_words(self.limits.body));
        }
        if response.status >= 400 {
            let message =
                format!("`{}` answered with status {}: {text}", self.declared.name, response.status);
            return Err(ToolError::new(ErrorCode::HttpStatus, message)
                .suggestion("Read what the service says and correct the arguments, or tell the operator."));
        }
        let mut entries = vec![
            ("status", Tree::Int(i64::from(response.status))),
            ("content_type", Tree::text(&response.content_type)),
            ("text", Tree::Text(text)),
            ("bytes", Tree::count(n_bytes)),
            ("truncated", Tree::Bool(response.truncated)),
        ];
        entries.push(match json_of(&body) {
            Some(json) => ("json", json),
            None => ("body", Tree::Text(body)),
        });
        Ok(RawOutput::new(Tree::map(entries)))
    }
}

/// LIMIT: of a larger body, only the text is shown. Ten megabytes of `[0,0,…]` are a hundred times as much in a tree.
const LARGEST_JSON: usize = 1 << 20;

fn json_of(body: &str) -> Option<Tree> {
    let json = vambrace_json::read(body.as_bytes(), Limits::document(LARGEST_JSON)).ok();
    json.filter(|value| value.is_object() || value.is_array()).map(tree_of)
}

/// The type of a body that was decoded already.
fn utf8(content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default();
    format!("{essence}; charset=utf-8")
}
