//! Every route of this server: the single source of the router and of `/openapi.json`.

use axum::routing::{get, post};
use serde_json::{Value, json};

use super::route::{Access, Answer, Content, Handler, Parameter, Place, Route, Verb};
use super::{agent, approvals, record, task, tools};
use crate::http::{metrics, openapi};

const fn json(status: u16, about: &'static str, schema: &'static str) -> Answer {
    Answer { status: Some(status), about, content: Content::Json(schema) }
}

const fn either(status: u16, about: &'static str, one: &'static str, other: &'static str) -> Answer {
    Answer { status: Some(status), about, content: Content::Either(one, other) }
}

const fn query(name: &'static str, about: &'static str, schema: fn() -> Value) -> Parameter {
    Parameter { name, place: Place::Query, about, schema }
}

const fn in_path(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, place: Place::Path, about, schema: short }
}

fn short() -> Value {
    json!({"type": "string", "minLength": 1})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn how_many() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": record::MOST, "default": record::USUAL})
}

const INVALID: Answer = json(400, "The query or the body does not fit.", "Problem");
const TOO_LARGE: Answer = json(413, "The body is too large and was not read.", "Problem");
const TOO_SLOW: Answer = json(408, "The body did not arrive in time.", "Problem");
const NOT_JSON: Answer = json(415, "The body is not declared as JSON.", "Problem");
const NO_RECORD: Answer = json(503, "The record cannot be read or written.", "Problem");

/// For the protocols that describe themselves elsewhere.
const UNREADABLE: Answer =
    either(400, "The message cannot be read, or the request's headers do not fit.", "JsonRpc", "Problem");
const ITS_OWN: Answer =
    Answer { status: None, about: "As the protocol says.", content: Content::JsonOrEvents("Anything") };

const LAST: Parameter =
    query("last", "How many, the newest. With `request` all that may be shown.", how_many);

pub(in crate::http) const DRY_RUN: Parameter =
    query("dry_run", "Only show what would be done.", || json!({"type": "boolean", "default": false}));

/// A call of a tool, by its name in the path. The document has one of these for each tool too.
pub(in crate::http) const TOOL: Route = Route {
    verb: Verb::Post,
    path: "/api/tools/{name}",
    access: Access::Credential,
    id: "callTool",
    summary: "Call a tool. The body is the arguments; an empty one stands for `{}`.",
    parameters: &[in_path("name", "The tool's name, as GET /api/tools lists it."), DRY_RUN],
    body: Some("Arguments"),
    answers: &[
        json(200, "The call was made; the result says how it went, and may be an error.", "ToolResult"),
        json(
            202,
            "A person has to say yes first: `error.details` has the `approval_id` and when it expires. Once approved, \
             make exactly this call again. A dry run only says so, and has neither.",
            "ToolResult",
        ),
        json(400, "The query does not fit, or the body is no JSON object.", "Problem"),
        either(403, "Policy denies the call, or the request itself.", "ToolResult", "Problem"),
        json(404, "No such tool is offered to you.", "ToolResult"),
        TOO_SLOW,
        json(409, "Something that the call needs is busy; try again.", "ToolResult"),
        TOO_LARGE,
        NOT_JSON,
        json(422, "The arguments do not fit the tool.", "ToolResult"),
        either(500, "A fault of Vambrace; the detail is in the record.", "ToolResult", "Problem"),
        either(
            503,
            "Nothing is done: there is no record or no cage, or the service ends.",
            "ToolResult",
            "Problem",
        ),
    ],
    handler: Handler::Here(|| post(tools::routed)),
};

pub(in crate::http) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/api/tools",
        access: Access::Credential,
        id: "listTools",
        summary: "The tools that you may use.",
        parameters: &[],
        body: None,
        answers: &[json(200, "The tools.", "ToolList"), INVALID],
        handler: Handler::Here(|| get(tools::list)),
    },
    TOOL,
    Route {
        verb: Verb::Get,
        path: "/api/audit",
        access: Access::Credential,
        id: "listRecords",
        summary: "Records in short, oldest first. Operators see everybody's, others their own.",
        parameters: &[
            LAST,
            query("caller", "Only of this caller.", text),
            query("tool", "Only of this tool.", text),
            query("request", "Only of the request with this id.", text),
            query(
                "decision",
                "Only with this decision.",
                || json!({"type": "string", "enum": ["allow", "ask", "deny"]}),
            ),
        ],
        body: None,
        answers: &[json(200, "The records.", "RecordList"), INVALID, NO_RECORD],
        handler: Handler::Here(|| get(record::audit)),
    },
    Route {
        verb: Verb::Get,
        path: "/api/audit/{call_id}",
        access: Access::Credential,
        id: "showRecords",
        summary: "Every record of one call, as it was written.",
        parameters: &[in_path("call_id", "As a result's metadata names it.")],
        body: None,
        answers: &[
            json(200, "The records.", "WholeRecords"),
            INVALID,
            json(404, "No record that you may see has this call id.", "Problem"),
            NO_RECORD,
        ],
        handler: Handler::Here(|| get(record::one)),
    },
    Route {
        verb: Verb::Get,
        path: "/api/alerts",
        access: Access::Credential,
        id: "listAlerts",
        summary: "Alerts, oldest first. Operators see everybody's, others their own.",
        parameters: &[query("last", "How many, the newest.", how_many)],
        body: None,
        answers: &[json(200, "The alerts.", "AlertList"), INVALID, NO_RECORD],
        handler: Handler::Here(|| get(record::alarms)),
    },
    Route {
        verb: Verb::Get,
        path: "/api/approvals",
        access: Access::Credential,
        id: "listApprovals",
        summary: "Questions that wait for a person. Operators see everybody's, others their own.",
        parameters: &[query(
            "state",
            "Those that wait, or also those that are answered, used or expired.",
            || json!({"type": "string", "enum": ["waiting", "all"], "default": "waiting"}),
        )],
        body: None,
        answers: &[json(200, "The questions.", "ApprovalList"), INVALID, NO_RECORD],
        handler: Handler::Here(|| get(approvals::list)),
    },
    Route {
        verb: Verb::Post,
        path: "/api/approvals",
        access: Access::Credential,
        id: "answerApproval",
        summary: "Answer a question. For operators, and never one's own.",
        parameters: &[],
        body: Some("ApprovalAnswer"),
        answers: &[
            json(200, "The question as it now stands.", "Approval"),
            INVALID,
            json(403, "You are no operator, or it is your own question.", "Problem"),
            json(404, "No question has this id.", "Problem"),
            TOO_SLOW,
            json(409, "It is answered already.", "Problem"),
            json(410, "It has expired.", "Problem"),
            TOO_LARGE,
            NOT_JSON,
            NO_RECORD,
        ],
        handler: Handler::Here(|| post(approvals::answer)),
    },
    Route {
        verb: Verb::Post,
        path: "/api/tokens/task",
        access: Access::Credential,
        id: "makeTaskToken",
        summary: "A token for one task, in your own context, that can only narrow what you may do.",
        parameters: &[],
        body: Some("TaskWish"),
        answers: &[
            json(200, "The token. It is shown once and kept nowhere.", "TaskToken"),
            INVALID,
            json(403, "It would give more than you have, or you are a task yourself.", "Problem"),
            TOO_SLOW,
            TOO_LARGE,
            NOT_JSON,
            NO_RECORD,
        ],
        handler: Handler::Here(|| post(task::make)),
    },
    Route {
        verb: Verb::Post,
        path: "/api/query",
        access: Access::Credential,
        id: "query",
        summary: "Ask the agent. Answers 503 until a model is configured.",
        parameters: &[],
        body: Some("Query"),
        answers: &[
            INVALID,
            TOO_SLOW,
            TOO_LARGE,
            NOT_JSON,
            json(503, "No language model is configured.", "Problem"),
        ],
        handler: Handler::Here(|| post(agent::query)),
    },
    Route {
        verb: Verb::Post,
        path: "/api/query/stream",
        access: Access::Credential,
        id: "queryStream",
        summary: "Ask the agent and watch it answer. Answers 503 until a model is configured.",
        parameters: &[],
        body: Some("Query"),
        answers: &[
            INVALID,
            TOO_SLOW,
            TOO_LARGE,
            NOT_JSON,
            json(503, "No language model is configured.", "Problem"),
        ],
        handler: Handler::Here(|| post(agent::query)),
    },
    Route {
        verb: Verb::Get,
        path: "/openapi.json",
        access: Access::Credential,
        id: "openapi",
        summary: "This document, with the tools that you may use.",
        parameters: &[],
        body: None,
        answers: &[json(200, "OpenAPI 3.1.", "Anything"), INVALID],
        handler: Handler::Here(|| get(openapi::show)),
    },
    Route {
        verb: Verb::Get,
        path: "/metrics",
        access: Access::Public,
        id: "metrics",
        summary: "Counters for Prometheus, in the OpenMetrics text format.",
        parameters: &[],
        body: None,
        answers: &[Answer {
            status: Some(200),
            about: "OpenMetrics text.",
            content: Content::Text(metrics::OPEN_METRICS),
        }],
        handler: Handler::Here(|| get(metrics::show)),
    },
    public("/health", "health", "Whether the process answers.", &[HEALTH, ITS_OWN]),
    public("/ready", "ready", "Whether calls are taken.", &[READY, NOT_READY, ITS_OWN]),
    public("/live", "live", "Whether the process answers.", &[LIVE, ITS_OWN]),
    elsewhere(Verb::Get, "/", Access::Credential, "status", "A plain status page."),
    elsewhere(
        Verb::Post,
        "/mcp",
        Access::Credential,
        "mcp",
        "Model Context Protocol over streamable HTTP, revisions 2025-11-25 and 2026-07-28.",
    ),
    elsewhere(
        Verb::Get,
        "/mcp",
        Access::Credential,
        "mcpStream",
        "The stream of a session of revision 2025-11-25.",
    ),
    elsewhere(Verb::Delete, "/mcp", Access::Credential, "mcpEnd", "Ends a session of revision 2025-11-25."),
    elsewhere(
        Verb::Post,
        "/a2a/invoke",
        Access::Credential,
        "a2a",
        "Agent2Agent 1.0 over JSON-RPC, with the method names of 0.3 as aliases.",
    ),
    public("/.well-known/agent-card.json", "agentCard", "The card of Agent2Agent 1.0.", &[CARD, ITS_OWN]),
    public("/.well-known/oauth-protected-resource", "protectedResource", OAUTH, &[METADATA, ITS_OWN]),
    public("/.well-known/oauth-protected-resource/mcp", "protectedEndpoint", OAUTH, &[METADATA, ITS_OWN]),
];

const OAUTH: &str = "What MCP clients need for OAuth (RFC 9728).";
const HEALTH: Answer = json(200, "`status` is `healthy` or `degraded`.", "Anything");
const READY: Answer = json(200, "Calls are taken.", "Anything");
const NOT_READY: Answer =
    json(503, "No calls are taken: the service ends, or its self-test did not hold.", "Anything");
const LIVE: Answer = json(200, "The process answers.", "Anything");
const CARD: Answer = json(200, "The card; it may be kept for a while.", "Anything");
const METADATA: Answer = json(200, "The metadata.", "Anything");

/// For everybody, and served by a router of its own.
const fn public(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    answers: &'static [Answer],
) -> Route {
    Route { answers, ..elsewhere(Verb::Get, path, Access::Public, id, summary) }
}

/// Served by a router of its own, which knows what it answers.
const fn elsewhere(
    verb: Verb,
    path: &'static str,
    access: Access,
    id: &'static str,
    summary: &'static str,
) -> Route {
    let (body, answers): (_, &[Answer]) = match verb {
        Verb::Post => (Some("JsonRpc"), &[UNREADABLE, ITS_OWN]),
        Verb::Get | Verb::Delete => (None, &[ITS_OWN]),
    };
    Route { verb, path, access, id, summary, parameters: &[], body, answers, handler: Handler::Elsewhere }
}
