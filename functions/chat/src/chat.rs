use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, body::Body};
use conversation::{ErrorCode, ToolChoice, new_id};
use http::HeaderMap;
use model::ModelClient;
use protocols::{Accumulated, Native, TurnRequest};
use serde::Deserialize;
use tokio::time::Instant;
use web::{ApiError, Credentials, InvocationDeadline, RequestId};

use crate::begin::{self, Asked, Told};
use crate::{App, repeat};

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
    invocation: Option<Extension<InvocationDeadline>>,
    options: Result<Query<Options>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let body = web::json_body(&headers, body).await?;
    let request = TurnRequest::parse(&body)?;
    let accumulated = wants_accumulated(options)?;
    let owner = credentials.identify(request.user_id.as_deref())?.owner;
    let name = choose(&app, &request, &headers)?.config().name.clone();
    let models = app.config.models.chain(&name);
    let stream = request.stream;
    let deadline = begin::deadline(&app, invocation.map(|Extension(end)| end), Instant::now());
    let asked = Asked { owner, models, request, deadline };
    let Told { turn_id, events } = match repeat::key(&headers)? {
        None => begin::begin(&app, new_id(), asked).await?.1,
        Some(key) => repeat::once(&app, &key, &body, asked).await?,
    };
    if !stream {
        return Ok(Json(web::collect(events).await?).into_response());
    }
    let native = Native::new(turn_id, id.0);
    Ok(if accumulated { web::stream(events, Accumulated::new(native)) } else { web::stream(events, native) })
}

fn wants_accumulated(options: Result<Query<Options>, QueryRejection>) -> Result<bool, ApiError> {
    match options.map(|Query(options)| options.sse).as_ref().map(Option::as_deref) {
        Ok(None) => Ok(false),
        Ok(Some("accumulated")) => Ok(true),
        _ => Err(ApiError::new(ErrorCode::InvalidRequest, "`sse` may only be `accumulated`")),
    }
}

/// Finds the model and checks every name that the request uses.
fn choose<'a>(app: &'a App, request: &TurnRequest, headers: &HeaderMap) -> Result<&'a ModelClient, ApiError> {
    let invalid = |sentence: String| ApiError::new(ErrorCode::InvalidRequest, sentence);
    if headers.contains_key("x-agent-id") || request.agent_id.is_some() {
        let agent = request.agent_id.as_deref().or_else(|| headers.get("x-agent-id")?.to_str().ok());
        if agent != Some("default") {
            return Err(invalid("There is no such agent; there is: default".to_owned()));
        }
    }
    if let ToolChoice::Tool(name) = &request.tool_choice {
        let specs = app.agent.tools.specs();
        if !specs.iter().any(|spec| spec.name == *name) {
            let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
            return Err(invalid(format!("`toolChoice` names no tool; there are: {}", names.join(", "))));
        }
    }
    let models = &app.config.models;
    let found = match &request.model {
        Some(name) => models.get(name),
        None => models.default_model(),
    };
    found.ok_or_else(|| {
        let names: Vec<_> = models.iter().map(|client| client.config().name.as_str()).collect();
        invalid(format!("`modelType` names no model; there are: {}", names.join(", ")))
    })
}

/// A storage failure as an answer; what is wrong inside goes to the log.
pub(crate) fn storage(error: &store::StoreError) -> ApiError {
    tracing::error!(%error, "the storage failed");
    match error {
        store::StoreError::Busy => ErrorCode::StorageBusy.into(),
        store::StoreError::Fault(_) => ErrorCode::Internal.into(),
    }
}
