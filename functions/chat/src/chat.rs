use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use axum::{
    Extension,
    body::{Body, Bytes},
};
use conversation::{ErrorCode, ToolChoice, new_id};
use http::HeaderMap;
use protocols::{Accumulated, Native, TurnRequest};
use serde::Deserialize;
use store::{Owner, Question};
use tokio::time::Instant;
use web::{ApiError, Arrival, Credentials, RequestId};

use crate::begin::{self, Asked, Chosen, Told};
use crate::{App, agents, heavy, repeat};

#[derive(Deserialize)]
pub(crate) struct Options {
    sse: Option<String>,
}

/// `POST /api/chat`: one turn, streamed or as one document.
///
/// Everything that can be refused is refused before anything is stored or paid for; from then on the turn runs to its
/// end whether or not the client stays.
pub(crate) async fn chat(
    State(app): State<App>,
    Extension(id): Extension<RequestId>,
    credentials: Credentials,
    Extension(arrival): Extension<Arrival>,
    options: Result<Query<Options>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let body = web::json_body(&headers, body).await?;
    let request = parsed(&credentials, &body).await?;
    let accumulated = wants_accumulated(options)?;
    let owner = credentials.identify(request.user_id.as_deref())?.owner;
    let wanted = Wanted {
        agent_id: agents::named(request.agent_id.as_deref(), &headers)?,
        model: request.model.as_deref(),
        tool_choice: request.tool_choice.as_ref(),
    };
    let chosen = choose(&app, &owner, wanted).await?;
    let form = Form { stream: request.stream, accumulated, request_id: id.0 };
    let (conversation_id, question) = (request.conversation_id, Question::Words(request.message));
    let deadline = begin::deadline(&app, arrival.invocation.as_ref(), Instant::now());
    let told = told(
        &app,
        &headers,
        &body,
        Asked { owner, chosen, conversation_id, chat_id: None, question, deadline, arrival },
    )
    .await?;
    answered(told, form).await
}

async fn parsed(credentials: &Credentials, body: &Bytes) -> Result<TurnRequest, ApiError> {
    let (reader, body) = (credentials.clone().identify(None)?.owner, body.clone());
    heavy::read(&reader, body.len(), move || TurnRequest::parse(&body)).await
}

/// Begins a turn, or finds the one that the same request began, where it says by a key which that is.
pub(crate) async fn told(app: &App, headers: &HeaderMap, same: &[u8], asked: Asked) -> Result<Told, ApiError> {
    match repeat::key(headers)? {
        None => Ok(begin::begin(app, new_id(), asked).await?.1),
        Some(key) => repeat::once(app, &key, same, asked).await,
    }
}

/// How the caller wants the answer.
pub(crate) struct Form {
    pub(crate) stream: bool,
    pub(crate) accumulated: bool,
    pub(crate) request_id: String,
}

/// A turn as the answer to the request, streamed or as one document.
pub(crate) async fn answered(told: Told, form: Form) -> Result<Response, ApiError> {
    let Told { turn_id, events } = told;
    if !form.stream {
        return Ok(Json(web::collect(events).await?).into_response());
    }
    let native = Native::new(turn_id, form.request_id);
    Ok(if form.accumulated { web::stream(events, Accumulated::new(native)) } else { web::stream(events, native) })
}

/// `POST /api/agent`: the same, and the request must name an agent.
pub(crate) async fn agent(
    app: State<App>,
    id: Extension<RequestId>,
    credentials: Credentials,
    arrival: Extension<Arrival>,
    options: Result<Query<Options>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let body = web::json_body(&headers, body).await?;
    if agents::named(parsed(&credentials, &body).await?.agent_id.as_deref(), &headers)?.is_none() {
        return Err(invalid("An agent is required: `X-Agent-ID` or `agentId`".to_owned()));
    }
    chat(app, id, credentials, arrival, options, headers, Body::from(body)).await
}

pub(crate) fn wants_accumulated(options: Result<Query<Options>, QueryRejection>) -> Result<bool, ApiError> {
    match options.map(|Query(options)| options.sse).as_ref().map(Option::as_deref) {
        Ok(None) => Ok(false),
        Ok(Some("accumulated")) => Ok(true),
        _ => Err(ApiError::new(ErrorCode::InvalidRequest, "`sse` may only be `accumulated`")),
    }
}

/// Who shall answer, as far as a request says.
pub(crate) struct Wanted<'a> {
    pub(crate) agent_id: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) tool_choice: Option<&'a ToolChoice>,
}

/// Finds the agent and the caller's models, and checks every name that the request uses.
pub(crate) async fn choose(app: &App, owner: &Owner, wanted: Wanted<'_>) -> Result<Chosen, ApiError> {
    let agent_id = wanted.agent_id.unwrap_or(agents::DEFAULT).to_owned();
    let definition = app.agents.find(&agent_id).await?;
    let agent = definition.assemble(app).await?;
    if let Some(ToolChoice::Tool(name)) = wanted.tool_choice {
        let mut names = agent.tools.names();
        if !names.any(|known| known == name) {
            let names: Vec<_> = agent.tools.names().collect();
            return Err(invalid(format!("`toolChoice` names no tool; there are: {}", names.join(", "))));
        }
    }
    let tool_choice = wanted.tool_choice.cloned().unwrap_or_else(|| definition.choice(&agent));
    let models = app.models_for(owner).chain(wanted.model, definition.model.as_deref())?;
    Ok(Chosen { agent_id, agent, models, tool_choice })
}

fn invalid(sentence: String) -> ApiError {
    ApiError::new(ErrorCode::InvalidRequest, sentence)
}

/// A storage failure as an answer; what is wrong inside goes to the log. The embedded database logs by itself, and once,
/// that its disk is full or its file damaged.
pub(crate) fn storage(error: &store::StoreError) -> ApiError {
    if !matches!(error, store::StoreError::Full | store::StoreError::Damaged) {
        tracing::error!(%error, "the storage failed");
    }
    match error {
        store::StoreError::Busy => ErrorCode::StorageBusy.into(),
        store::StoreError::Full => ErrorCode::StorageFull.into(),
        store::StoreError::Damaged => ErrorCode::StorageDamaged.into(),
        store::StoreError::Fault(_) => ErrorCode::Internal.into(),
    }
}
