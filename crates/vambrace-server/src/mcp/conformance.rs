//! Fixtures that the public conformance kit calls by name, beside the real tools. They act on nothing, and are there
//! only with `VAMBRACE_CONFORMANCE=mcp`, on loopback.
#![expect(deprecated, reason = "the kit tests sampling and logging, which the older revision has")]

mod content;
mod rounds;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, CompleteRequestParams,
    CompleteResult, CreateMessageRequestParams, CustomRequest, CustomResult, ElicitRequestParams, ErrorData,
    GetPromptRequestParams, GetPromptResponse, InitializeRequestParams, InputRequiredResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
    LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, ServiceError};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::mcp::revision::agreed;
use crate::mcp::{Gate, Questions};
use rounds::Round;

/// Between the messages of fixtures that tell several.
const PAUSE: Duration = Duration::from_millis(50);
/// For the client's answer.
const PATIENCE: Duration = Duration::from_secs(30);

type Context = RequestContext<RoleServer>;

#[derive(Clone)]
pub(super) struct Fixtures {
    gate: Gate,
    /// Of the fixtures alone; whether the questions of real calls are put to the client is the operator's to say.
    questions: Arc<Questions>,
}

impl Fixtures {
    pub(super) fn new(gate: Gate, questions: Arc<Questions>) -> Fixtures {
        Fixtures { gate, questions }
    }

    async fn call_fixture(
        &self,
        request: &CallToolRequestParams,
        context: &Context,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        if let Some(answer) = content::answer(&request.name) {
            return Some(complete::<CallToolResult>(answer).map(CallToolResponse::Complete));
        }
        let can = context.client_capabilities().unwrap_or_default();
        if let Some(codec) = self.questions.codec() {
            let (responses, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
            if let Some(round) = rounds::round(&request.name, codec, &can, responses, state) {
                return Some(round.and_then(call_response));
            }
        }
        let argument = |name: &str| {
            let given = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
            given.and_then(Value::as_str).unwrap_or_default()
        };
        let done = match request.name.as_ref() {
            "test_tool_with_logging" => tell_log(context, true).await,
            "test_logging_tool" => tell_log(context, context.meta.log_level().is_some()).await,
            "test_tool_with_progress" => tell_progress(context).await,
            "test_sampling" => sample(context, &can, argument("prompt")).await,
            "test_elicitation" => {
                let field = |about: &str| json!({"type": "string", "description": about});
                let properties =
                    json!({"username": field("User's response"), "email": field("User's email address")});
                let schema =
                    json!({"type": "object", "properties": properties, "required": ["username", "email"]});
                elicit(context, argument("message"), schema)
                    .await
                    .map(|said| format!("User response: {said}"))
            }
            "test_elicitation_sep1034_defaults" => {
                elicit(context, "Please look through the values.", content::form_with_defaults())
                    .await
                    .map(|said| format!("Elicitation completed: {said}"))
            }
            "test_elicitation_sep1330_enums" => {
                elicit(context, "Please choose.", content::form_with_choices())
                    .await
                    .map(|said| format!("Elicitation completed: {said}"))
            }
            "test_missing_capability" => needs_sampling(&can).map(|()| "Done.".to_owned()),
            _ => return None,
        };
        Some(done.and_then(|text| call_response(Round::Done(text))))
    }
}

/// A result that says so, as the newer revision wants it; the library takes the word out for older ones.
fn complete<T: DeserializeOwned>(mut shape: Value) -> Result<T, ErrorData> {
    if let Value::Object(members) = &mut shape {
        members.insert("resultType".to_owned(), json!("complete"));
    }
    shaped(shape)
}

fn shaped<T: DeserializeOwned>(shape: Value) -> Result<T, ErrorData> {
    serde_json::from_value(shape).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn call_response(round: Round) -> Result<CallToolResponse, ErrorData> {
    match round {
        Round::Done(text) => {
            complete(json!({"content": [content::text(&text)]})).map(CallToolResponse::Complete)
        }
        Round::Ask { requests, state } => {
            input_required(requests, state).map(CallToolResponse::InputRequired)
        }
    }
}

fn input_required(requests: Value, state: Option<String>) -> Result<InputRequiredResult, ErrorData> {
    Ok(InputRequiredResult::new(Some(shaped(requests)?), state))
}

fn failed(error: ServiceError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn needs_sampling(can: &ClientCapabilities) -> Result<(), ErrorData> {
    if can.sampling.is_some() {
        return Ok(());
    }
    let required = ClientCapabilities::builder().enable_sampling().build();
    Err(ErrorData::missing_required_client_capability(required))
}

async fn tell_log(context: &Context, wanted: bool) -> Result<String, ErrorData> {
    if wanted {
        for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            let line = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(text));
            context.peer.notify_logging_message(line).await.map_err(failed)?;
            tokio::time::sleep(PAUSE).await;
        }
    }
    Ok("Everything was logged.".to_owned())
}

async fn tell_progress(context: &Context) -> Result<String, ErrorData> {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let step = ProgressNotificationParam::new(token, done).with_total(100.0);
            context.peer.notify_progress(step).await.map_err(failed)?;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok("All steps are done.".to_owned())
}

async fn sample(context: &Context, can: &ClientCapabilities, prompt: &str) -> Result<String, ErrorData> {
    needs_sampling(can)?;
    let message = json!({"role": "user", "content": content::text(prompt)});
    let params: CreateMessageRequestParams = shaped(json!({"messages": [message], "maxTokens": 100}))?;
    let asked = context.peer.create_message(params);
    let said = tokio::time::timeout(PATIENCE, asked)
        .await
        .map_err(|_| ErrorData::internal_error("The client did not answer.", None))?
        .map_err(failed)?;
    let said = serde_json::to_value(said).unwrap_or_default();
    let text = said.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
    Ok(format!("LLM response: {text}"))
}

async fn elicit(context: &Context, message: &str, schema: Value) -> Result<String, ErrorData> {
    let params: ElicitRequestParams =
        shaped(json!({"mode": "form", "message": message, "requestedSchema": schema}))?;
    let said = context.peer.create_elicitation_with_timeout(params, Some(PATIENCE)).await.map_err(failed)?;
    let action = serde_json::to_value(&said.action).unwrap_or_default();
    let content = said.content.unwrap_or_default();
    Ok(format!("action={}, content={content}", action.as_str().unwrap_or_default()))
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.gate.get_info();
        let offered = json!({"tools": {}, "prompts": {}, "resources": {}, "completions": {}, "logging": {}});
        if let Ok(capabilities) = serde_json::from_value(offered) {
            info.capabilities = capabilities;
        }
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.gate.supported_protocol_versions()
    }

    fn negotiate_initialize(&self, request: &InitializeRequestParams) -> Result<ServerConfig, ErrorData> {
        Ok(self.get_info().with_protocol_version(agreed(&request.protocol_version)))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.gate.list_tools(request, context).await?;
        listed.tools.extend(shaped::<Vec<Tool>>(content::tools())?);
        Ok(listed)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let fixtures: Vec<Tool> = shaped(content::tools()).unwrap_or_default();
        fixtures.into_iter().find(|tool| tool.name == name).or_else(|| self.gate.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.call_fixture(&request, &context).await {
            Some(response) => response,
            None => self.gate.call_tool(request, context).await,
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        complete(content::prompts())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name == "test_input_required_result_prompt" {
            return match rounds::prompt_round(request.input_responses.as_ref()) {
                Round::Ask { requests, state } => {
                    input_required(requests, state).map(GetPromptResponse::InputRequired)
                }
                Round::Done(text) => {
                    let message = json!({"role": "user", "content": content::text(&text)});
                    complete(json!({"messages": [message]})).map(GetPromptResponse::Complete)
                }
            };
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let prompt = content::prompt(&request.name, &arguments)
            .ok_or_else(|| ErrorData::invalid_params("There is no such prompt.", None))?;
        complete(prompt).map(GetPromptResponse::Complete)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        complete(content::resources())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        complete(content::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = content::read(&request.uri).ok_or_else(|| {
            ErrorData::resource_not_found("There is no such resource.", Some(json!({"uri": request.uri})))
        })?;
        complete(read).map(ReadResourceResponse::Complete)
    }

    async fn subscribe(&self, _request: SubscribeRequestParams, _context: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        complete(json!({"completion": {"values": ["paris", "park", "party"], "total": 3, "hasMore": false}}))
    }

    async fn set_level(&self, _request: SetLevelRequestParams, _context: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        self.gate.on_custom_request(request, context).await
    }
}
