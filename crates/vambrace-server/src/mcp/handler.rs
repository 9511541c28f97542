//! MCP requests in, replies out.

use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode as RpcErrorCode, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use vambrace_runtime::{Corridor, Incoming, Leash, Purpose, ToolDescription};
use vambrace_tools::ProgressSink;
use vambrace_types::{Caller, ErrorCode, SessionId, Status};

use crate::mcp::oversize::{LONGEST, TOO_LONG};
use crate::mcp::progress::tell;
use crate::mcp::threshold::Departure;
use crate::{render, wire};

const INSTRUCTIONS: &str = "Vambrace gives you governed tools. Paths are relative to the service folder. A refused call \
    says why and what to do next; do not look for a way round it. Secrets appear as [REDACTED:…] markers: leave them \
    where they are. Add \"dry_run\": true to any call to see what it would do.";

/// One MCP connection: who is at the other end is fixed when it opens.
#[derive(Clone)]
pub struct Gate {
    corridor: Arc<Corridor>,
    caller: Caller,
    session: SessionId,
    dry_run: DryRun,
    pub(super) departure: Departure,
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
        Gate { corridor, caller, session, dry_run, departure: Departure::default() }
    }
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

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.corridor.tools_for(&self.caller).into_iter().map(describe).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tools = self.corridor.tools_for(&self.caller);
        tools.into_iter().find(|tool| tool.about.name == name).map(describe)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method == TOO_LONG {
            let details = json!({
                "code": ErrorCode::MessageTooLarge.as_str(),
                "suggestion": "Send less at once; large files can be written in parts with edit_file.",
            });
            let message = format!("The message is longer than {LONGEST} bytes and was not read.");
            return Err(ErrorData::invalid_request(message, Some(details)));
        }
        Err(ErrorData::new(RpcErrorCode::METHOD_NOT_FOUND, "There is no such method.", None))
    }

    /// Denials are results with `isError`, never protocol errors: clients hide the text of those from the model.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let leash = Leash::default();
        let told = context.meta.get_progress_token().map(|token| tell(context.peer.clone(), token));
        let (progress, telling) = told.unzip();
        let progress = progress.map(|steps| Arc::new(steps) as Arc<dyn ProgressSink>);
        let call = self.corridor.call(Incoming {
            caller: self.caller.clone(),
            session: self.session.clone(),
            tool: request.name.into_owned(),
            arguments: Value::Object(request.arguments.unwrap_or_default()),
            // A call that asks for it itself is heard by the corridor.
            dry_run: self.dry_run == DryRun::Always,
            purpose: Purpose::Call,
            leash: leash.clone(),
            progress,
            live: None,
            approver: None,
        });
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
        let reply = reply.ok_or_else(|| {
            ErrorData::internal_error("Vambrace met an internal fault or is shutting down.", None)
        })?;
        let mut result = CallToolResult::success(vec![ContentBlock::text(render::text(&reply))]);
        result.structured_content = Some(wire::tool_result(&reply));
        result.is_error = Some(reply.status() == Status::Error || render::is_failed_command(&reply));
        Ok(CallToolResponse::Complete(result))
    }
}

struct Gone(Option<Leash>);

impl Gone {
    fn stay(mut self) {
        self.0 = None;
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        if let Some(leash) = &self.0 {
            leash.caller_gone();
        }
    }
}

fn describe(tool: ToolDescription) -> Tool {
    let hints = tool.about.hints;
    let annotations = ToolAnnotations::from_raw(
        Some(tool.about.title.to_owned()),
        Some(hints.read_only),
        Some(hints.destructive),
        Some(hints.idempotent),
        Some(hints.open_world),
    );
    Tool::new(tool.about.name, tool.about.description, Arc::new(with_dry_run(tool.schema)))
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
