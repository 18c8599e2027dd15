//! `/v1`: OpenAI's wire, over the same agents, models and tools as the product's own.

use std::time::{SystemTime, UNIX_EPOCH};

use agent::{Agent, ClientContext};
use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use client_protocols::openai::{
    ChatRequest, CompletionChunks, CompletionMeta, Sampling, render_completion, render_error,
};
use client_protocols::{MAX_INLINE_BODY_BYTES, TurnOptions};
use domain::{ErrorCode, Failure, ToolChoice, new_id};
use http::{HeaderValue, header};
use llm::{Effort, GenerationParams, ModelClient, Thinking, Wire};
use serde_json::{Value, json};
use tools::ToolRegistry;
use tools::url_allowlist::SEARCH_WEB;
use turns::{PromptInput, ResolvedAgent, StartStatelessTurn, StatelessInput};
use web::{ApiError, Caller, ErrorFormat};

use super::attachments::read_inline;
use super::extract::TurnRequestHead;
use crate::definitions::{AgentDefinition, DEFAULT_AGENT};
use crate::{App, Result};

/// The error format under `/v1`.
pub(crate) const ERRORS: ErrorFormat = ErrorFormat { content_type: "application/json", render: render_error };

/// Precedes the id of an agent in the name of a model.
const AGENT_PREFIX: &str = "agent:";

/// `POST /v1/chat/completions`: one turn of a conversation that the client keeps.
pub(crate) async fn completions(head: TurnRequestHead, body: Body) -> Result<Response> {
    let body = web::read_json_body_up_to(&head.headers, body, MAX_INLINE_BODY_BYTES).await?;
    let mut request = head.parse(&body, ChatRequest::parse).await?;
    // Its files are in the request.
    drop(body);
    let (app, caller) = (head.app.clone(), head.caller(None)?);
    let (agent, has_links) = resolve(&app, &caller, &request).await?;
    let earlier = request.history.iter_mut().flat_map(|turn| &mut turn.messages);
    read_inline(&app, &caller.owner, &agent, &mut request.attachments, earlier).await?;
    let (membership, owner) = (caller.membership, caller.owner);
    let meta = completion_meta(&request, has_links);
    let (stream, include_usage) = (request.stream, request.include_usage);
    let kind = if is_background_task(&request) { StatelessInput::Task } else { StatelessInput::Message };
    let (input, context) = (kind(Box::new(prompt_input(request))), head.context);
    let deadline = turns::deadline(&app.turns.limits, Some(&context));
    let turn = StartStatelessTurn { owner, membership, agent, input, deadline, request: context };
    let events = turns::start_stateless(&app.turns, turn).await?;
    if stream {
        return Ok(web::stream_response(
            web::wait_for_first_content(events).await?,
            CompletionChunks::new(meta, include_usage),
        ));
    }
    let document = render_completion(&meta, &web::collect(events).await?);
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], document).into_response())
}

fn completion_meta(request: &ChatRequest, citation_links: bool) -> CompletionMeta {
    let created = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    CompletionMeta { id: format!("chatcmpl-{}", new_id()), created, model: request.model.clone(), citation_links }
}

pub(super) fn prompt_input(mut request: ChatRequest) -> PromptInput {
    let (text, history) = (std::mem::take(&mut request.text), std::mem::take(&mut request.history));
    let attachments = std::mem::take(&mut request.attachments);
    PromptInput { text, attachments, history, client: Some(client_context(request)), ..PromptInput::default() }
}

pub(super) fn client_context(request: ChatRequest) -> ClientContext {
    let ChatRequest { trailing_messages, tools, parallel_tool_calls: parallel, sampling, .. } = request;
    ClientContext { trailing_messages, tools, one_call: !parallel, params: generation_params(sampling) }
}

fn generation_params(sampling: Sampling) -> GenerationParams {
    let effort = match sampling.effort.as_deref() {
        Some("minimal") => Some(Effort::Minimal),
        Some("low") => Some(Effort::Low),
        Some("medium") => Some(Effort::Medium),
        Some("high") => Some(Effort::High),
        Some("xhigh" | "max") => Some(Effort::Max),
        _ => None,
    };
    GenerationParams {
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        max_tokens: sampling.max_tokens,
        thinking: sampling.effort.is_some_and(|effort| effort == "none").then_some(Thinking::Off),
        effort,
        stop: sampling.stop,
        seed: sampling.seed,
        presence_penalty: sampling.presence_penalty,
        frequency_penalty: sampling.frequency_penalty,
        format: sampling.format,
    }
}

/// Resolves the requested model: the default agent with that model, or the agent of that name with its own model. Also
/// returns whether answers end with link definitions.
pub(super) async fn resolve(app: &App, caller: &Caller, request: &ChatRequest) -> Result<(ResolvedAgent, bool)> {
    let agent_id = request.model.strip_prefix(AGENT_PREFIX);
    let model = agent_id.is_none().then_some(&request.model);
    let visible = app.models_for(caller);
    if model.is_some_and(|name| visible.get(name).is_none()) {
        return Err(ErrorCode::ModelNotFound.into());
    }
    let row = app.catalog.agents.find(agent_id.unwrap_or(DEFAULT_AGENT), caller).await.map_err(as_model_not_found)?;
    // The tool choice is checked with the client's own tools.
    let options = TurnOptions { model: model.cloned(), time_zone: request.time_zone.clone(), ..TurnOptions::default() };
    let mut resolved = app.catalog.resolve(visible, &row, &options).await?;
    if request.web_search {
        add_web_search(&mut resolved.agent, &app.catalog.built_in)?;
    }
    apply_request(&mut resolved, &row.definition, request)?;
    let by_default = row.definition.citation_links || caller.citation_links;
    let has_links = request.citation_links.unwrap_or(by_default) && request.sampling.format.is_none();
    Ok((resolved, has_links))
}

/// Adds the web search of the deployment to an agent that has none.
fn add_web_search(agent: &mut Agent, built_in: &ToolRegistry) -> Result<()> {
    if agent.tools.has(SEARCH_WEB) {
        return Ok(());
    }
    let message = "`tools` must have no `web_search`: this deployment has no search";
    let missing = || Failure::new(ErrorCode::InvalidRequest, message).with_param("tools");
    agent.tools = agent.tools.with_one_of(built_in, SEARCH_WEB).ok_or_else(missing)?;
    Ok(())
}

/// On these routes an unknown agent is an unknown model.
fn as_model_not_found(error: ApiError) -> ApiError {
    if error.failure.code == ErrorCode::InvalidRequest { ErrorCode::ModelNotFound.into() } else { error }
}

fn apply_request(resolved: &mut ResolvedAgent, definition: &AgentDefinition, request: &ChatRequest) -> Result<()> {
    let ResolvedAgent { agent, models, tool_choice, .. } = resolved;
    // The client keeps the conversation: as much of it as fits is sent, and the rest is not summarised.
    (agent.history_tokens, agent.summarise) = (u64::MAX, false);
    match &request.system {
        Some(system) if request.model.starts_with(AGENT_PREFIX) => agent.added_prompt = Some(system.clone()),
        Some(system) => agent.system_prompt = Some(system.clone()),
        None => {}
    }
    let must_call = request.tool_choice == Some(ToolChoice::Required) && !request.tools.is_empty();
    let has_format_and_tools = request.sampling.format.is_some() && !request.tools.is_empty();
    let wants_own_tools = (must_call || has_format_and_tools) && !request.web_search;
    if wants_own_tools || is_background_task(request) {
        // The client expects one of its own calls, formatted data in any reply, or text about the conversation alone.
        agent.tools = ToolRegistry::default();
    }
    if request.sampling.format.is_some() {
        keep_formatting_models(models)?;
    }
    if let Some(ToolChoice::Tool(name)) = &request.tool_choice
        && !agent.tools.has(name)
        && request.tools.iter().all(|tool| tool.name != *name)
    {
        let message = "`tool_choice` must name one of the `tools`";
        return Err(Failure::new(ErrorCode::InvalidRequest, message).with_param("tool_choice").into());
    }
    *tool_choice = request.tool_choice.clone().unwrap_or_else(|| definition.choice(agent));
    Ok(())
}

/// Whether a request is a task that no person wrote, such as a title, tags or follow-up questions. The page and `Open WebUI`
/// send it as a single message that begins and ends so (<https://docs.openwebui.com/getting-started/env-configuration/#tasks>, 2026-11-25).
fn is_background_task(request: &ChatRequest) -> bool {
    let text = request.text.trim();
    request.history.is_empty()
        && text.starts_with("### Task:")
        && text.contains("<chat_history>")
        && text.ends_with("</chat_history>")
}

fn keep_formatting_models(models: &mut Vec<ModelClient>) -> Result<()> {
    let accepts_format =
        |model: &ModelClient| matches!(model.config().wire, Wire::Openai | Wire::Responses | Wire::Ollama);
    if !models.first().is_some_and(accepts_format) {
        let message = "`response_format` must be of type text: this model's endpoint takes no other here";
        return Err(Failure::new(ErrorCode::InvalidRequest, message).with_param("response_format").into());
    }
    models.retain(accepts_format);
    Ok(())
}

/// A model, or an agent under its name as a model. When it was created is unknown: always 0.
fn model_object(id: &str, owned_by: &str) -> Value {
    json!({ "id": id, "object": "model", "created": 0, "owned_by": owned_by })
}

/// `GET /v1/models`: the accepted values of `model`.
pub(crate) async fn list(State(app): State<App>, caller: Caller) -> Result<Json<Value>> {
    Ok(Json(json!({ "object": "list", "data": all(&app, &caller).await? })))
}

/// `GET /v1/models/{model}`: one of them.
pub(crate) async fn model(
    State(app): State<App>,
    caller: Caller,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>> {
    let Path(id) = id.map_err(|_| ApiError::from(ErrorCode::ModelNotFound))?;
    let found = all(&app, &caller).await?.into_iter().find(|model| model["id"] == *id);
    found.map(Json).ok_or_else(|| ErrorCode::ModelNotFound.into())
}

async fn all(app: &App, caller: &Caller) -> Result<Vec<Value>> {
    let models = app.models_for(caller).iter().map(|client| model_object(&client.config().name, client.provider()));
    let agents = app.catalog.agents.all(caller).await?;
    let agents = agents.iter().map(|agent| model_object(&format!("{AGENT_PREFIX}{}", agent.id), "lambda-chat"));
    Ok(models.chain(agents).collect())
}

/// The response for any other path under `/v1`.
pub(crate) async fn not_found() -> ApiError {
    ErrorCode::NotFound.into()
}
