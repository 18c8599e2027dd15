//! `/mcp`: the deployment as a server of the Model Context Protocol, for assistants and editors.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use client_protocols::{
    MAX_MESSAGE_CHARS, McpCall, McpError, McpHeaders, McpMethod, McpRequest, McpStream, TurnOptions, mcp_response,
    mcp_result, mcp_tool, render_mcp_error,
};
use domain::{ErrorCode, Failure, Language, StrictObject, ToolCall, ToolSpec, new_id};
use http::header::{self, HeaderValue};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tools::ToolRegistry;
use tools::url_allowlist::{READ_URL, SEARCH_WEB};
use turns::{PromptInput, ResolvedAgent, StartStatelessTurn, StatelessInput};
use web::{ApiError, Caller, ErrorFormat, ErrorId, Exposure};

use super::extract::TurnRequestHead;
use crate::App;
use crate::definitions::{AgentRow, DEFAULT_AGENT};

/// The error format of `/mcp`.
pub(crate) const ERRORS: ErrorFormat = ErrorFormat { content_type: "application/json", render: render_mcp_error };

/// The tool whose answer is that of an agent.
const QUESTION: &str = "ask";

/// The other tools that clients get, where they are configured.
const TOOLS: [&str; 6] = [SEARCH_WEB, READ_URL, "search_articles", "grep_search", "glob_search", "read_file"];

/// Rejects pages of other origins, and adds to a response to a caller without a valid credential where the issuer of
/// tokens is named (RFC 9728, section 5.1).
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    // The loopback guard has compared the origin with the host.
    let is_checked = app.config.exposure == Exposure::LoopbackOnly || !headers.contains_key(header::ORIGIN);
    if !is_checked && app.config.origins.allowed_origin(headers).is_none() {
        return ApiError::new(ErrorCode::Forbidden, "This origin is not one of `ALLOWED_ORIGINS`.").into_response();
    }
    let base = app.config.auth.issuer().and_then(|_| base_url(headers));
    let mut response = next.run(request).await;
    if let Some(base) = base.filter(|_| response.status() == StatusCode::UNAUTHORIZED) {
        let challenge = format!("Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"");
        // A `Host` header is valid in another header.
        let challenge = HeaderValue::try_from(challenge).unwrap_or(HeaderValue::from_static("Bearer"));
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// `POST /mcp`: one message.
pub(crate) async fn serve(head: TurnRequestHead, body: Body) -> Result<Response, ApiError> {
    let body = web::read_json_body(&head.headers, body).await?;
    let headers = mcp_headers(&head.headers);
    let parsed = head.parse(&body, move |body| Ok::<_, Failure>(McpRequest::parse(body, &headers))).await?;
    Ok(match parsed {
        Err(error) => error_response(error),
        Ok(request) => {
            let id = ErrorId(request.id.to_string());
            answer(head, request).await.unwrap_or_else(|error| (Extension(id), error).into_response())
        }
    })
}

async fn answer(head: TurnRequestHead, request: McpRequest) -> Result<Response, ApiError> {
    Ok(match request {
        McpRequest { method: McpMethod::Notification, .. } => StatusCode::ACCEPTED.into_response(),
        McpRequest { id, method: McpMethod::CallTool(call) } => call_tool(head, id, call).await?,
        request if request.method == McpMethod::ListTools => {
            let (tools, _) = own_tools(&head.app, &head.caller(None)?).await?;
            Json(mcp_response(&request, &tool_rows(&head.app, &tools))).into_response()
        }
        request => Json(mcp_response(&request, &[])).into_response(),
    })
}

fn mcp_headers(headers: &HeaderMap) -> McpHeaders {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
    McpHeaders {
        version: text("mcp-protocol-version"),
        method: text("mcp-method"),
        name: text("mcp-name").map(decode_value),
    }
}

/// The text of a header that may be Base64 between markers.
fn decode_value(value: String) -> String {
    let encoded = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    encoded.and_then(|text| String::from_utf8(STANDARD.decode(text).ok()?).ok()).unwrap_or(value)
}

fn error_response(error: McpError) -> Response {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::BAD_REQUEST);
    (status, Json(error.body)).into_response()
}

/// Those of [`TOOLS`] that the caller may call, each as the first of the caller's agents has it; and the first agent.
async fn own_tools(app: &App, caller: &Caller) -> Result<(ToolRegistry, Option<AgentRow>), ApiError> {
    let (mut tools, rows) = (ToolRegistry::default(), app.catalog.agents.all(caller).await?);
    for row in &rows {
        let agent_tools = app.catalog.built_in_tools(&row.definition);
        for name in TOOLS {
            let more = if tools.has(name) { None } else { tools.with_one_of(&agent_tools, name) };
            tools = more.unwrap_or(tools);
        }
    }
    Ok((tools, rows.into_iter().next()))
}

fn tool_rows(app: &App, tools: &ToolRegistry) -> Vec<Value> {
    let language = app.catalog.locale.language.unwrap_or(Language::En);
    [&question_spec(language)].into_iter().chain(tools.specs(language).iter()).map(mcp_tool).collect()
}

fn question_spec(language: Language) -> ToolSpec {
    let (description, agent) = match language {
        Language::Zh => (
            "向本部署的助手提问：它在需要时搜索，并以编号注明来源。它不知道之前的问题。",
            "回答的智能体的 id；省略时为默认智能体。",
        ),
        Language::En => (
            "Gets an answer of this deployment's assistant, which searches where it needs to and cites its sources by \
             number. It knows nothing of earlier questions.",
            "The id of the agent that answers; by default the default agent.",
        ),
    };
    let question = json!({ "type": "string", "maxLength": MAX_MESSAGE_CHARS });
    let parameters = json!({
        "type": "object",
        "properties": { "question": question, "agent": { "type": "string", "description": agent } },
        "required": ["question"],
        "additionalProperties": false,
    });
    ToolSpec { name: QUESTION.into(), description: description.into(), parameters, examples: Vec::new() }
}

async fn call_tool(head: TurnRequestHead, id: Value, call: McpCall) -> Result<Response, ApiError> {
    let McpCall { name, arguments, progress_token } = call;
    let (app, caller, is_own) = (&head.app, head.caller(None)?, name != QUESTION);
    let prepared = if is_own {
        let (tools, row) = own_tools(app, &caller).await?;
        let Some(row) = row.filter(|_| tools.has(&name)) else {
            return Ok(error_response(McpError::unknown_tool(&name, &id)));
        };
        let call = StatelessInput::Call(ToolCall { id: new_id(), name, arguments });
        resolve(app, &caller, &row).await.map(|mut agent| {
            agent.agent.tools = tools;
            (agent, call)
        })
    } else {
        question(app, &caller, arguments).await
    };
    let (agent, input) = match prepared {
        Err(error) if error.failure.code == ErrorCode::InvalidRequest => {
            return Ok(Json(mcp_result(&id, Err(&error.failure), is_own)).into_response());
        }
        prepared => prepared?,
    };
    let (owner, membership) = (caller.owner, caller.membership);
    let deadline = turns::deadline(&app.turns.limits, Some(&head.context));
    let turn = StartStatelessTurn { owner, membership, agent, input, deadline, request: head.context };
    let events = turns::start_stateless(&app.turns, turn).await?;
    if let Some(token) = progress_token {
        let mut response = web::stream_response(Box::pin(events), McpStream::new(id, token, is_own));
        // Keeps proxies from buffering the stream.
        response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
        return Ok(response);
    }
    let document = web::collect(events).await;
    Ok(Json(mcp_result(&id, document.as_ref(), is_own)).into_response())
}

/// The agent that answers, and the question.
async fn question(app: &App, caller: &Caller, arguments: Value) -> Result<(ResolvedAgent, StatelessInput), ApiError> {
    let mut fields = StrictObject::parse(arguments.to_string().as_bytes())?;
    let text = fields.take_non_blank("question", MAX_MESSAGE_CHARS)?;
    let agent = fields.take_string("agent")?;
    fields.reject_unknown("`question`, `agent`")?;
    let text = text.ok_or_else(|| ApiError::invalid_request("`question` must be a text that is not blank"))?;
    let row = app.catalog.agents.find(agent.as_deref().unwrap_or(DEFAULT_AGENT), caller).await?;
    let agent = resolve(app, caller, &row).await?;
    Ok((agent, StatelessInput::Message(Box::new(PromptInput { text, ..PromptInput::default() }))))
}

async fn resolve(app: &App, caller: &Caller, row: &AgentRow) -> Result<ResolvedAgent, ApiError> {
    app.catalog.resolve(app.models_for(caller), row, &TurnOptions::default()).await
}

/// `GET /.well-known/oauth-protected-resource`: who issues the tokens that this server accepts (RFC 9728).
pub(crate) async fn metadata(State(app): State<App>, headers: HeaderMap) -> Result<Json<Value>, ApiError> {
    let (Some(issuer), Some(base)) = (app.config.auth.issuer(), base_url(&headers)) else {
        return Err(ErrorCode::NotFound.into());
    };
    let scopes = app.config.auth.sign_in().map(|sign_in| sign_in.scopes().collect::<Vec<_>>());
    Ok(Json(json!({
        "resource": format!("{base}/mcp"),
        "authorization_servers": [issuer],
        "scopes_supported": scopes.unwrap_or_default(),
        "bearer_methods_supported": ["header"],
    })))
}

/// The address under which the client reached this server.
fn base_url(headers: &HeaderMap) -> Option<String> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let scheme = if platform::transport::is_loopback_host(host) { "http" } else { "https" };
    Some(format!("{scheme}://{host}"))
}
