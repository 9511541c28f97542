//! MCP requests in, replies out.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, ConstString as _, ContentBlock, CustomRequest, CustomResult,
    ErrorCode as RpcErrorCode, ErrorData, Implementation, InitializeRequestParams, ListPromptsRequestMethod,
    ListPromptsResult, ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
    ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use vambrace_runtime::{Corridor, Incoming, Leash, Purpose, Reply, Ticket, ToolDescription};
use vambrace_tools::ProgressSink;
use vambrace_types::{Caller, Chain, Door, SessionId, Status, write_json_text};

use crate::http::{Admitted, Calling, Front, Gone, is_plain, is_stopped};
use crate::mcp::asking::{
    Asked, Questions, Refused, Said, Way, answer, elicit, input_required, patience, redeem,
};
use crate::mcp::progress::tell;
use crate::mcp::revision::{SPOKEN, agreed};
use crate::mcp::threshold::Departure;
use crate::{render, wire};

const INSTRUCTIONS: &str = "Vambrace gives you governed tools. Paths are relative to the service folder. A refused call \
    says why and what to do next; do not look for a way round it. Secrets appear as [REDACTED:…] markers: leave them \
    where they are. Add \"dry_run\": true to any call to see what it would do.";

/// For a call that has no answer.
pub(super) const UNANSWERED: &str = "Vambrace met an internal fault or is shutting down.";

/// One MCP connection or session.
#[derive(Clone)]
pub struct Gate {
    corridor: Arc<Corridor>,
    /// Who opened it.
    caller: Caller,
    way: Inward,
    session: SessionId,
    questions: Arc<Questions>,
    /// When the server ends, nobody is waited for.
    ending: CancellationToken,
    pub(super) departure: Departure,
}

/// How requests come in, and so whose word counts for who is calling.
#[derive(Clone)]
enum Inward {
    /// Whoever opened them is at the other end.
    Pipes(DryRun),
    /// Every request shows who it is.
    Http(Arc<Front>),
}

/// Which calls of a connection are only shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DryRun {
    Always,
    /// Those that say so themselves.
    OnRequest,
}

impl Gate {
    pub fn new(corridor: Arc<Corridor>, caller: Caller, session: SessionId, dry_run: DryRun) -> Gate {
        Gate {
            corridor,
            caller,
            way: Inward::Pipes(dry_run),
            session,
            questions: Arc::new(Questions::Elsewhere),
            ending: CancellationToken::new(),
            departure: Departure::default(),
        }
    }

    pub(super) fn corridor(&self) -> Arc<Corridor> {
        Arc::clone(&self.corridor)
    }

    /// Without this, questions are answered elsewhere.
    #[must_use]
    pub fn with_questions(mut self, questions: Questions) -> Gate {
        self.questions = Arc::new(questions);
        self
    }

    /// For one session, or for one request of the revisions without sessions.
    pub(super) fn for_http(
        front: &Arc<Front>,
        caller: Caller,
        questions: Arc<Questions>,
        departure: Departure,
    ) -> Gate {
        Gate {
            corridor: Arc::clone(&front.corridor),
            caller,
            way: Inward::Http(Arc::clone(front)),
            session: Corridor::new_session(),
            questions,
            ending: front.ending.clone(),
            departure,
        }
    }

    /// THREAT: P13, identity is what this request showed, never what is left of an earlier one.
    fn caller_of(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        match &self.way {
            Inward::Pipes(_) => Ok(self.caller.clone()),
            Inward::Http(_) => context
                .extensions
                .get::<http::request::Parts>()
                .and_then(|parts| parts.extensions.get::<Admitted>())
                .map(|admitted| admitted.caller(Door::McpHttp))
                .ok_or_else(|| ErrorData::internal_error("The request came in by no door.", None)),
        }
    }

    /// One walk, watched for the client's word and its departure.
    async fn walk(
        &self,
        caller: &Caller,
        tool: &str,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, ErrorData> {
        let leash = Leash::default();
        let told = context.meta.get_progress_token().map(|token| tell(context.peer.clone(), token));
        let (progress, telling) = told.unzip();
        let progress = progress.map(|steps| Arc::new(steps) as Arc<dyn ProgressSink>);
        let (caller, session, tool) = (caller.clone(), self.session.clone(), tool.to_owned());
        let (pulled, chain) = (leash.clone(), chain_of(context));
        let call = async {
            match &self.way {
                Inward::Pipes(dry_run) => {
                    let incoming = Incoming {
                        caller,
                        session,
                        tool,
                        arguments,
                        // A call that asks for it itself is heard by the corridor.
                        dry_run: *dry_run == DryRun::Always,
                        purpose: Purpose::Call,
                        leash: pulled,
                        progress,
                        live: None,
                        approver: None,
                        chain,
                    };
                    self.corridor.call(incoming).await
                }
                Inward::Http(front) => {
                    let calling = Calling { caller, session, tool, arguments, dry_run: false, chain };
                    front.call_telling(calling, pulled, progress).await
                }
            }
        };
        // If this future is dropped, the connection is gone; the walk goes on in its own task and is told so.
        let gone = Gone(Some(leash.clone()));
        tokio::pin!(call);
        let reply = tokio::select! {
            biased;
            reply = &mut call => reply,
            () = context.ct.cancelled() => {
                if self.departure.has_come() { leash.caller_gone() } else { leash.cancel() }
                call.await
            }
        };
        gone.stay();
        drop(telling);
        reply.ok_or_else(|| ErrorData::internal_error(UNANSWERED, None))
    }

    /// Lets the client's user answer, if that is how it can be done. The result is what the client is to be told.
    async fn ask(
        &self,
        (reply, ticket): (&Reply, &Ticket),
        asked: &Asked<'_>,
        way: Way,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<CallToolResponse>, ErrorData> {
        let patience = patience(ticket, &self.corridor);
        match way {
            Way::None => Ok(None),
            Way::Return | Way::Elicit if !self.questions.may_answer(ticket) => Ok(None),
            Way::Return => {
                let result = input_required(&self.questions, ticket, asked, patience);
                Ok(result.map(CallToolResponse::InputRequired))
            }
            Way::Elicit => {
                let said = elicit(ticket, asked.tool, context, &self.ending, patience).await;
                if matches!(said, Said::Nothing | Said::Closed) {
                    return Ok(None);
                }
                // A caller that was stopped meanwhile answers nothing; the walk says so.
                if is_stopped(&self.corridor, asked.caller).unwrap_or(true) {
                    let reply = self.walk(asked.caller, asked.tool, asked.arguments.clone(), context).await?;
                    return Ok(Some(CallToolResponse::Complete(rendered(&reply))));
                }
                // An answer that came too late, or from elsewhere first, changes nothing here: the walk looks it up. But
                // whoever says no does not see it done, whatever others said.
                let _ = answer(&self.corridor, &ticket.id, said == Said::Yes, asked).await;
                if said == Said::No {
                    let told = Refused::Declined.instead_of(reply, asked.tool);
                    return Ok(Some(CallToolResponse::Complete(told)));
                }
                let reply = self.walk(asked.caller, asked.tool, asked.arguments.clone(), context).await?;
                Ok(Some(CallToolResponse::Complete(rendered(&reply))))
            }
        }
    }
}

/// As the request was admitted. Over stdio nobody has called before, and the request has no name but its id.
fn chain_of(context: &RequestContext<RoleServer>) -> Chain {
    let parts = context.extensions.get::<http::request::Parts>();
    match parts.and_then(|parts| parts.extensions.get::<Admitted>()) {
        Some(admitted) => admitted.chain.clone(),
        None => {
            let mut chain = Chain::default();
            chain.request_id = Some(context.id.to_string()).filter(|id| is_plain(id.as_bytes()));
            chain
        }
    }
}

pub(super) fn rendered(reply: &Reply) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(render::text(reply))]);
    result.structured_content = Some(wire::tool_result(reply));
    result.is_error = Some(is_error(reply));
    result
}

fn is_error(reply: &Reply) -> bool {
    reply.status() == Status::Error || reply.is_failure()
}

/// The same as `rendered` in the words of revision 2026-07-28, written straight from the reply.
pub(super) fn write_rendered(reply: &Reply, out: &mut String) {
    out.push_str(r#"{"resultType":"complete","content":[{"type":"text","text":"#);
    write_json_text(&render::text(reply), out);
    out.push_str(r#"}],"structuredContent":"#);
    wire::ToolResult::of(reply).write(out);
    out.push_str(if is_error(reply) { r#","isError":true}"# } else { r#","isError":false}"# });
}

impl ServerHandler for Gate {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("vambrace", env!("CARGO_PKG_VERSION")).with_title("Vambrace"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(SPOKEN)
    }

    fn negotiate_initialize(&self, request: &InitializeRequestParams) -> Result<ServerConfig, ErrorData> {
        Ok(self.get_info().with_protocol_version(agreed(&request.protocol_version)))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller_of(&context)?;
        let tools = self.corridor.tools_for(&caller).into_iter().map(describe).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    // What is not offered is not there; the library would answer with empty lists.
    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.corridor.tool_for(&self.caller, name).map(describe)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A call whose parameters are not what they must be is no other method.
        if request.method == CallToolRequestMethod::VALUE {
            let message = "The parameters do not fit: `name` must be a text, and `arguments` an object.";
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(RpcErrorCode::METHOD_NOT_FOUND, "There is no such method.", None))
    }

    /// Denials are results with `isError`, never protocol errors: clients hide the text of those from the model.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller_of(&context)?;
        let tool = request.name;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        if let Some(state) = &request.request_state {
            let asked = Asked { caller: &caller, tool: &tool, arguments: &arguments };
            let responses = request.input_responses.as_ref();
            if let Err(refused) = redeem(&self.questions, &self.corridor, &asked, state, responses).await {
                refused.tell(&self.corridor, &caller, &chain_of(&context), &tool);
                return Ok(CallToolResponse::Complete(refused.into_result(&self.corridor, &tool)));
            }
        }
        // Kept only where the same call may be made again.
        let way = Way::of(&self.questions, &context);
        let kept = (way != Way::None).then(|| arguments.clone());
        let reply = self.walk(&caller, &tool, arguments, &context).await?;
        if let (Some(ticket), Some(arguments)) = (reply.ticket(), &kept) {
            let asked = Asked { caller: &caller, tool: &tool, arguments };
            if let Some(response) = self.ask((&reply, ticket), &asked, way, &context).await? {
                return Ok(response);
            }
        }
        Ok(CallToolResponse::Complete(rendered(&reply)))
    }
}

fn describe(tool: ToolDescription) -> Tool {
    let hints = tool.about.hints;
    let annotations = ToolAnnotations::from_raw(
        Some(tool.about.title.clone().into_owned()),
        Some(hints.read_only),
        Some(hints.destructive),
        Some(hints.idempotent),
        Some(hints.open_world),
    );
    Tool::new(
        tool.about.name.as_str().to_owned(),
        tool.about.description,
        Arc::new(with_dry_run(tool.schema)),
    )
    .with_title(tool.about.title)
    .with_annotations(annotations)
}

/// Any call may ask to be only shown (decision C34).
fn with_dry_run(mut schema: Map<String, Value>) -> Map<String, Value> {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        let property =
            json!({"type": "boolean", "description": "Only show what would be done. Default false."});
        properties.insert("dry_run".to_owned(), property);
    }
    schema
}
