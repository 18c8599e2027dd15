//! `/v1`: OpenAI's wire, over the same agents, models and tools as the product's own.

use agent::Caller as Client;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use conversation::{ErrorCode, Failure, ToolChoice, new_id};
use http::{HeaderMap, HeaderValue, header};
use model::{Effort, ModelClient, Thinking, Wire, Wishes};
use protocols::openai::{ChatRequest, Chunks, Head, Sampling, completion, error_body};
use serde::Serialize;
use store::Owner;
use time::OffsetDateTime;
use tokio::time::Instant;
use tools::ToolRegistry;
use web::{ApiError, Arrival, Caller, Credentials, ErrorShape};

use crate::agents::{self, AgentDefinition};
use crate::answering::Past;
use crate::begin::{self, Chosen};
use crate::passing::{self, Passing};
use crate::{App, heavy};

/// How errors are written under `/v1`.
pub(crate) const ERRORS: ErrorShape = ErrorShape { content_type: "application/json", body: error_body };

/// What the id of an agent follows in the name of a model.
const AGENT: &str = "agent:";

/// `POST /v1/chat/completions`: one turn of a conversation that the caller keeps.
pub(crate) async fn completions(
    State(app): State<App>,
    credentials: Credentials,
    Extension(arrival): Extension<Arrival>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let body = web::json_body(&headers, body).await?;
    let owner = credentials.identify(None)?.owner;
    let request = heavy::read(&owner, body.len(), move || ChatRequest::parse(&body)).await?;
    let chosen = choose(&app, &owner, &request).await?;
    let deadline = begin::deadline(&app, arrival.invocation.as_ref(), Instant::now());
    let head = head(&request);
    let (stream, include_usage) = (request.stream, request.include_usage);
    let past = past(request);
    let events = passing::begin(&app, Passing { owner, chosen, past, deadline, arrival }).await?;
    if stream {
        return Ok(web::stream(web::opened(events).await?, Chunks::new(head, include_usage)));
    }
    let document = completion(&head, &web::collect(events).await?);
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], document).into_response())
}

fn head(request: &ChatRequest) -> Head {
    let created = u64::try_from(OffsetDateTime::now_utc().unix_timestamp()).unwrap_or_default();
    Head { id: format!("chatcmpl-{}", new_id()), created, model: request.model.clone() }
}

fn past(request: ChatRequest) -> Past {
    let ChatRequest { history, text, since, tools, parallel, sampling, .. } = request;
    let caller = Client { since, tools, one_call: !parallel, wishes: wishes(sampling) };
    Past { text, history, summary: None, caller: Some(caller) }
}

fn wishes(sampling: Sampling) -> Wishes {
    let effort = match sampling.effort.as_deref() {
        Some("minimal") => Some(Effort::Minimal),
        Some("low") => Some(Effort::Low),
        Some("medium") => Some(Effort::Medium),
        Some("high") => Some(Effort::High),
        Some("xhigh" | "max") => Some(Effort::Max),
        _ => None,
    };
    Wishes {
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        max_tokens: sampling.max_tokens,
        thinking: sampling.effort.is_some_and(|word| word == "none").then_some(Thinking::Off),
        effort,
        stop: sampling.stop,
        seed: sampling.seed,
        presence_penalty: sampling.presence_penalty,
        frequency_penalty: sampling.frequency_penalty,
        format: sampling.format,
    }
}

/// Finds who answers: a model with the default agent, or an agent with its model.
async fn choose(app: &App, owner: &Owner, request: &ChatRequest) -> Result<Chosen, ApiError> {
    let of_agent = request.model.strip_prefix(AGENT);
    let agent_id = of_agent.unwrap_or(agents::DEFAULT).to_owned();
    let wanted = of_agent.is_none().then_some(request.model.as_str());
    let offered = app.models_for(owner);
    if wanted.is_some_and(|name| offered.get(name).is_none()) {
        return Err(ErrorCode::ModelNotFound.into());
    }
    let definition = app.agents.find(&agent_id).await.map_err(no_model)?;
    let mut chosen = Chosen {
        agent: definition.assemble(app).await?,
        models: offered.chain(wanted, definition.model.as_deref())?,
        tool_choice: ToolChoice::Auto,
        agent_id,
    };
    adapt(&mut chosen, &definition, request)?;
    Ok(chosen)
}

/// An agent that is not there is a model that is not there.
fn no_model(error: ApiError) -> ApiError {
    if error.0.code == ErrorCode::InvalidRequest { ErrorCode::ModelNotFound.into() } else { error }
}

/// Makes of the agent what the request wants of it.
fn adapt(chosen: &mut Chosen, definition: &AgentDefinition, request: &ChatRequest) -> Result<(), ApiError> {
    let Chosen { agent, models, tool_choice, .. } = chosen;
    // The caller keeps the conversation: what of it fits is told, and nothing is made of the rest.
    (agent.history_tokens, agent.summarise) = (u64::MAX, false);
    match &request.system {
        Some(words) if request.model.starts_with(AGENT) => agent.also_told(words),
        Some(words) => agent.system_prompt = Some(words.clone()),
        None => {}
    }
    let must_call = request.tool_choice == Some(ToolChoice::Required) && !request.tools.is_empty();
    if must_call || request.sampling.format.is_some() {
        // The caller waits for one of its own calls, or for data and nothing else.
        agent.tools = ToolRegistry::default();
    }
    if request.sampling.format.is_some() {
        keep_formatting(models)?;
    }
    if let Some(ToolChoice::Tool(name)) = &request.tool_choice
        && !agent.tools.has(name)
        && request.tools.iter().all(|tool| tool.name != *name)
    {
        let sentence = "`tool_choice` must name one of the `tools`";
        return Err(Failure::new(ErrorCode::InvalidRequest, sentence).at("tool_choice").into());
    }
    *tool_choice = request.tool_choice.clone().unwrap_or_else(|| definition.choice(agent));
    Ok(())
}

/// Leaves the models whose wires can be told the form of a reply.
fn keep_formatting(models: &mut Vec<ModelClient>) -> Result<(), ApiError> {
    let takes = |model: &ModelClient| matches!(model.config().wire, Wire::Openai | Wire::Ollama);
    if !models.first().is_some_and(takes) {
        let sentence = "`response_format` must be of type text: this model's endpoint takes no other here";
        return Err(Failure::new(ErrorCode::InvalidRequest, sentence).at("response_format").into());
    }
    models.retain(takes);
    Ok(())
}

#[derive(Serialize)]
struct ModelList {
    object: &'static str,
    data: Vec<Model>,
}

/// A model, or an agent under its name as a model.
#[derive(Serialize)]
pub(crate) struct Model {
    id: String,
    object: &'static str,
    /// Not known.
    created: u64,
    owned_by: &'static str,
}

impl Model {
    fn new(id: String, owned_by: &'static str) -> Self {
        Self { id, object: "model", created: 0, owned_by }
    }
}

/// `GET /v1/models`: what `model` of a request may be.
pub(crate) async fn list(State(app): State<App>, Caller { owner, .. }: Caller) -> Result<Response, ApiError> {
    Ok(Json(ModelList { object: "list", data: all(&app, &owner).await? }).into_response())
}

/// `GET /v1/models/{model}`: one of them.
pub(crate) async fn model(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Model>, ApiError> {
    let Path(id) = id.map_err(|_| ApiError::from(ErrorCode::ModelNotFound))?;
    let found = all(&app, &owner).await?.into_iter().find(|model| model.id == id);
    found.map(Json).ok_or_else(|| ErrorCode::ModelNotFound.into())
}

async fn all(app: &App, owner: &Owner) -> Result<Vec<Model>, ApiError> {
    let models = app.models_for(owner).iter().map(|client| Model::new(client.config().name.clone(), client.provider()));
    let agents = app.agents.all().await?;
    let agents = agents.into_iter().map(|row| Model::new(format!("{AGENT}{}", row.id), "lambda-chat"));
    Ok(models.chain(agents).collect())
}

/// What no route is at under `/v1`.
pub(crate) async fn nowhere() -> ApiError {
    ErrorCode::NotFound.into()
}
