use std::time::{Duration, SystemTime};

use agent::Events;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, body::Body};
use conversation::{ErrorCode, Event, Failure, ToolChoice, new_id};
use http::HeaderMap;
use model::ModelClient;
use protocols::{Accumulated, Native, TurnRequest};
use serde::Deserialize;
use store::{Admission, BeginError, NewTurn, Owner, TurnLease};
use tokio::time::Instant;
use web::{ApiError, InvocationDeadline, RequestId};

use crate::turn::TurnTask;
use crate::{App, caller};

/// Kept back of an invocation's time for storing the answer and ending the stream.
const RESERVE: Duration = Duration::from_secs(8);

/// The longest title made of a first message, in characters.
const TITLE: usize = 60;

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
    invocation: Option<Extension<InvocationDeadline>>,
    options: Result<Query<Options>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let body = web::json_body(&headers, body).await?;
    let request = TurnRequest::parse(&body)?;
    let accumulated = wants_accumulated(options)?;
    let owner = caller::identify(&headers, request.user_id.as_deref())?;
    let model = choose(&app, &request, &headers)?.clone();
    admit(&app, &owner).await?;
    let stream = request.stream;
    let deadline = deadline(&app, invocation.map(|Extension(end)| end), Instant::now());
    let (turn_id, events) = begin(&app, owner, model, request, deadline).await?;
    if !stream {
        return Ok(Json(web::collect(events.follow(0)).await?).into_response());
    }
    let (events, native) = (events.follow(0), Native::new(turn_id, id.0));
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

async fn admit(app: &App, owner: &Owner) -> Result<(), ApiError> {
    let key = format!("chat:{}", owner.as_str());
    let admission = app.store.rate_limiter.admit(&key, app.config.chat_limit, SystemTime::now()).await;
    match admission.map_err(|_| ApiError::from(ErrorCode::StorageBusy))? {
        Admission::Admitted => Ok(()),
        Admission::Denied { retry_after } => {
            let seconds = retry_after.as_secs() + u64::from(retry_after.subsec_nanos() > 0);
            Err(Failure::from(ErrorCode::RateLimited).retry_after(seconds.max(1)).into())
        }
    }
}

/// When the turn must be over: a little before the invocation that carries it, so that the answer is stored in time.
fn deadline(app: &App, invocation: Option<InvocationDeadline>, now: Instant) -> Instant {
    let longest = now + app.config.turn;
    let Some(InvocationDeadline(end)) = invocation else { return longest };
    longest.min(end.checked_sub(RESERVE).unwrap_or(now))
}

/// Stores the user's message and starts the turn; its first event is already on its way.
async fn begin(
    app: &App,
    owner: Owner,
    model: ModelClient,
    request: TurnRequest,
    deadline: Instant,
) -> Result<(String, Events), ApiError> {
    if app.running.is_shutting_down() {
        return Err(ErrorCode::Interrupted.into());
    }
    let title = title(&request.message);
    let turn = NewTurn {
        conversation_id: request.conversation_id.clone(),
        turn_id: new_id(),
        user_message_id: new_id(),
        assistant_message_id: new_id(),
        text: request.message.clone(),
        model: model.config().name.clone(),
        title: title.clone(),
    };
    let lease = app.store.conversations.begin(&owner, &turn, SystemTime::now()).await.map_err(refused)?;
    let events = Events::default();
    let task = TurnTask {
        app: app.clone(),
        place: app.running.enter(&owner, &lease.conversation_id),
        title: request.conversation_id.is_none().then_some(title),
        events: events.clone(),
        started: started(&lease, &turn),
        owner,
        lease,
        model,
        request,
        deadline,
    };
    app.running.spawn(task.drive());
    Ok((turn.turn_id, events))
}

fn started(lease: &TurnLease, turn: &NewTurn) -> Event {
    Event::Started {
        conversation_id: lease.conversation_id.clone(),
        message_id: turn.assistant_message_id.clone(),
        model: turn.model.clone(),
    }
}

fn refused(error: BeginError) -> ApiError {
    match error {
        BeginError::NotFound => ErrorCode::NotFound.into(),
        BeginError::InProgress { retry_after } => {
            Failure::from(ErrorCode::TurnInProgress).retry_after(retry_after.as_secs() + 1).into()
        }
        BeginError::Store(error) => storage(&error),
    }
}

/// A storage failure as an answer; what is wrong inside goes to the log.
pub(crate) fn storage(error: &store::StoreError) -> ApiError {
    tracing::error!(%error, "the storage failed");
    match error {
        store::StoreError::Busy => ErrorCode::StorageBusy.into(),
        store::StoreError::Fault(_) => ErrorCode::Internal.into(),
    }
}

/// A title from the user's first words.
fn title(message: &str) -> String {
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= TITLE {
        return words;
    }
    let mut title: String = words.chars().take(TITLE - 1).collect();
    title.truncate(title.trim_end().len());
    title.push('…');
    title
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_words_on_one_line() {
        assert_eq!(title("  今天\n天气  怎么样？ "), "今天 天气 怎么样？");
        let long = title(&"word ".repeat(50));
        assert_eq!(long.chars().count(), 60);
        assert!(long.ends_with("word…"));
    }
}
