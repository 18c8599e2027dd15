//! `/v1/responses`: OpenAI's newer API over stored conversations. A response is an answer of one of them.

use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use client_protocols::openai::{
    ChatRequest, InputItem, ResponseId, ResponseStream, ResponsesRequest, check_calls, deleted_response,
    request_details,
};
use client_protocols::{MAX_BODY_BYTES, MAX_INLINE_BODY_BYTES, Protocol};
use domain::{Attachment, ErrorCode, Event, EventBatch, Failure, Message, Owner, RequestOrigin, ToolCall, TurnStart};
use futures_util::{Stream, StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{StoredCall, StoredRequest, StoredResponse, UserInput};
use tokio::time::timeout;
use turns::{ClientTurn, StartStatelessTurn, StatelessInput, TurnStream};
use web::{ApiError, Caller};

use super::attachments::{read_inline, store_inline};
use super::extract::{ParsedQuery, PathId, Target, TurnRequestHead};
use super::openai::{client_context, prompt_input, resolve};
use crate::App;

/// Maximum size of what is stored of a request in addition to its text, as JSON in bytes: both are in one item.
const MAX_STORED_BYTES: usize = 128 * 1024;

/// Maximum length of the text that represents several messages in the conversation, in characters.
const MAX_SHOWN_CHARS: usize = 4_000;

/// How long the log of a turn can be read.
const LOG_LIFETIME: Duration = Duration::from_hours(1);

/// How long a cancelled response may take to end.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// `POST /v1/responses`: one turn, in a stored conversation unless the request declines that.
pub(crate) async fn create(head: TurnRequestHead, body: Body) -> Result<Response, ApiError> {
    let body = web::read_json_body_up_to(&head.headers, body, MAX_INLINE_BODY_BYTES).await?;
    let request = head.parse(&body, ResponsesRequest::parse).await?;
    let (app, caller) = (head.app.clone(), head.caller(None)?);
    let previous = match &request.previous {
        Some(id) => Some(find(&app, &caller.owner, id).await.map_err(as_previous_not_found)?),
        None => None,
    };
    let calls = previous.as_ref().map(client_calls).unwrap_or_default();
    let messages = input_messages(&app, &caller.owner, &request.input, &calls).await?;
    let (stream, in_background) = (request.chat.stream, request.in_background && head.context.deadline.is_none());
    let received = (!stream).then_some(u64::MAX);
    let response = ResponseStream::new(request.details.clone(), received, None);
    if !request.is_stored {
        let events = start_stateless(head, caller, request.chat, previous, messages).await?;
        return if stream { Ok(web::stream_response(events, response)) } else { whole(events, response).await };
    }
    let TurnStream { mut events, .. } = Box::pin(start(head, caller, request, messages, &body)).await?;
    if stream {
        return Ok(web::stream_response(events, response));
    }
    if in_background {
        let mut response = response;
        add_events(&mut response, &events.next().await.unwrap_or_default());
        return Ok(Json(response.response()).into_response());
    }
    whole(events, response).await
}

async fn start_stateless(
    head: TurnRequestHead,
    caller: Caller,
    chat: ChatRequest,
    previous: Option<StoredResponse>,
    mut messages: Vec<Message>,
) -> Result<impl Stream<Item = EventBatch> + Send + Unpin + use<>, ApiError> {
    check_end(&messages)?;
    let (agent, _) = resolve(&head.app, &caller, &chat).await?;
    let (earlier, question) = split_question(&mut messages);
    read_inline(&head.app, &caller.owner, &agent, question, earlier.iter_mut()).await?;
    let input = match previous {
        Some(answer) => {
            let (answer, context) = (Box::new(answer), Box::new(client_context(chat)));
            StatelessInput::After { answer, messages, context }
        }
        None => StatelessInput::Message(Box::new(prompt_input(chat.with_conversation(messages)?))),
    };
    let (membership, owner, request) = (caller.membership, caller.owner, head.context);
    let deadline = turns::deadline(&head.app.turns.limits, Some(&request));
    let turn = StartStatelessTurn { owner, membership, agent, input, deadline, request };
    Ok(Box::pin(turns::start_stateless(&head.app.turns, turn).await?))
}

async fn start(
    head: TurnRequestHead,
    caller: Caller,
    request: ResponsesRequest,
    mut messages: Vec<Message>,
    body: &[u8],
) -> Result<TurnStream, ApiError> {
    let ResponsesRequest { chat, previous, details, .. } = request;
    let (agent, _) = resolve(&head.app, &caller, &chat).await?;
    let is_new = previous.is_none();
    if is_new {
        chat.clone().with_conversation(messages.clone())?;
    }
    check_end(&messages)?;
    let (earlier, question) = split_question(&mut messages);
    store_inline(&head.app, &caller.owner, &agent, question, earlier.iter_mut()).await?;
    let attachments = messages.iter().flat_map(Message::attachments).cloned().collect();
    let (text, input) = match <[Message; 1]>::try_from(messages) {
        Ok([Message::User { text, .. }]) => (text, Vec::new()),
        Ok([message]) => (shown_text(std::slice::from_ref(&message)), vec![message]),
        Err(messages) => (shown_text(&messages), messages),
    };
    let request = StoredRequest { input, details };
    if serde_json::to_vec(&request).map_or(0, |json| json.len()) > MAX_STORED_BYTES {
        let max = MAX_STORED_BYTES / 1024;
        let message = format!("More than {max} KiB in addition to a message cannot be stored: send `\"store\": false`");
        return Err(Failure::new(ErrorCode::TooLarge, message).into());
    }
    let client = Some(Box::new(ClientTurn { context: client_context(chat), request }));
    let previous = previous.unwrap_or_default();
    let target = Target {
        conversation_id: Some(previous.conversation_id).filter(|_| !is_new),
        message: if is_new { store::Target::End } else { store::Target::Message(previous.message_id) },
        attachments,
        client,
        ..Target::default()
    };
    let turn = head.start((caller, agent), target, UserInput::Message(text), body).await;
    turn.map_err(|error| if is_new { error } else { as_previous_not_found(error) })
}

/// The messages before the last one of the user, and its files.
fn split_question(messages: &mut [Message]) -> (&mut [Message], &mut [Attachment]) {
    let last = messages.iter().rposition(|message| matches!(message, Message::User { .. })).unwrap_or_default();
    let (earlier, since) = messages.split_at_mut(last);
    (earlier, since.first_mut().map(Message::attachments_mut).unwrap_or_default())
}

/// Checks that there is something to answer.
fn check_end(messages: &[Message]) -> Result<(), Failure> {
    match messages.last() {
        Some(Message::Tool(_)) => Ok(()),
        Some(Message::User { text, attachments }) if !text.trim().is_empty() || !attachments.is_empty() => Ok(()),
        _ => {
            let message =
                "`input` must end with a message of the user that has a text or a file, or with outputs of functions";
            Err(Failure::new(ErrorCode::InvalidRequest, message).with_param("input"))
        }
    }
}

/// The text that a conversation shows for messages: the last one of the user, or else the results of calls.
fn shown_text(messages: &[Message]) -> String {
    let user = messages.iter().rev().find_map(|message| match message {
        Message::User { text, .. } => Some(text.clone()),
        Message::Assistant { .. } | Message::Tool(_) => None,
    });
    let results = messages.iter().filter_map(|message| match message {
        Message::Tool(result) => Some(result.content.as_str()),
        Message::User { .. } | Message::Assistant { .. } => None,
    });
    let text = user.unwrap_or_else(|| results.collect::<Vec<_>>().join("\n\n"));
    text.chars().take(MAX_SHOWN_CHARS).collect()
}

/// The messages of the input, with the answers that it refers to.
async fn input_messages(
    app: &App,
    owner: &Owner,
    input: &[InputItem],
    calls: &[ToolCall],
) -> Result<Vec<Message>, ApiError> {
    let (mut messages, mut read_bytes) = (Vec::with_capacity(input.len()), 0);
    for item in input {
        messages.push(match item {
            InputItem::Message(message) => message.clone(),
            InputItem::Answer(id) => {
                let missing = "`input` must refer to items of stored responses only";
                let unknown = |_| Failure::new(ErrorCode::InvalidRequest, missing).with_param("input");
                let found = find(app, owner, id).await.map_err(unknown)?;
                read_bytes += found.message.content.len();
                if read_bytes > MAX_BODY_BYTES {
                    return Err(ErrorCode::TooLarge.into());
                }
                let calls = client_calls(&found);
                Message::Assistant { text: found.message.content, thinking: String::new(), calls, provider_data: None }
            }
        });
    }
    check_calls(calls, &mut messages)?;
    Ok(messages)
}

async fn find(app: &App, owner: &Owner, id: &ResponseId) -> Result<StoredResponse, ApiError> {
    let ResponseId { conversation_id, message_id } = id;
    Ok(app.store.conversations.response(owner, conversation_id, message_id, SystemTime::now()).await?)
}

fn client_calls(response: &StoredResponse) -> Vec<ToolCall> {
    response.message.tool_calls.iter().filter(|call| call.client).map(StoredCall::call).collect()
}

fn as_previous_not_found(error: ApiError) -> ApiError {
    if error.failure.code == ErrorCode::NotFound { ErrorCode::PreviousResponseNotFound.into() } else { error }
}

fn add_events(response: &mut ResponseStream, batch: &EventBatch) {
    let mut unused = String::new();
    for event in batch {
        response.write_frames(event, &mut unused);
        unused.clear();
    }
}

async fn collect(mut events: impl Stream<Item = EventBatch> + Unpin, response: &mut ResponseStream) {
    while let Some(batch) = events.next().await {
        add_events(response, &batch);
    }
}

/// The response once its turn has ended; a failure is the request's.
async fn whole(
    events: impl Stream<Item = EventBatch> + Unpin,
    mut response: ResponseStream,
) -> Result<Response, ApiError> {
    collect(events, &mut response).await;
    match response.failure() {
        Some(failure) => Err(failure.clone().into()),
        None => Ok(Json(response.response()).into_response()),
    }
}

#[derive(Deserialize)]
pub(crate) struct RetrieveQuery {
    stream: Option<String>,
    starting_after: Option<String>,
}

/// `GET /v1/responses/{id}`: a response as it is now; with `stream=true` its events, after the number `starting_after`.
pub(crate) async fn retrieve(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    Extension(context): Extension<RequestOrigin>,
    PathId(id): PathId,
    ParsedQuery(query): ParsedQuery<RetrieveQuery>,
) -> Result<Response, ApiError> {
    let received = query.starting_after.as_deref().map(str::parse).transpose();
    let received = received.map_err(|_| ApiError::invalid_request("`starting_after` must be a whole number"))?;
    let (id, found) = find_named(&app, &owner, &id).await?;
    if query.stream.as_deref() == Some("true") {
        let deadline = turns::deadline(&app.turns.limits, Some(&context));
        let response = ResponseStream::new(details(&found), received, found.ended_secs);
        if is_only_stored(&found) {
            let events = turns::events_of_answer(&id.conversation_id, found.message);
            let events = stream::iter([events.into_iter().collect()]);
            return Ok(web::stream_response(events, response));
        }
        let turn = turns::repeated(&app.turns, &owner, found.turn, deadline).await?;
        return Ok(web::stream_response(turn.events, response));
    }
    Ok(Json(current(&id, found)).into_response())
}

async fn find_named(app: &App, owner: &Owner, id: &str) -> Result<(ResponseId, StoredResponse), ApiError> {
    let id = ResponseId::parse(id).ok_or(ErrorCode::NotFound)?;
    let found = find(app, owner, &id).await?;
    Ok((id, found))
}

fn details(StoredResponse { message, details, .. }: &StoredResponse) -> Value {
    details.clone().unwrap_or_else(|| request_details(&json!({ "model": message.model })))
}

/// Whether nothing but the stored answer has all of a response: its turn's log is gone, or several turns have written it.
fn is_only_stored(StoredResponse { message, is_continued, .. }: &StoredResponse) -> bool {
    let age = store::parse_time(&message.created_at).and_then(|time| time.elapsed().ok()).unwrap_or_default();
    message.status != store::Status::Running && (*is_continued || age > LOG_LIFETIME)
}

/// The response as it is now: whole once it has ended, without items while it runs.
fn current(ResponseId { conversation_id, message_id }: &ResponseId, found: StoredResponse) -> Value {
    let mut response = ResponseStream::new(details(&found), Some(u64::MAX), found.ended_secs);
    let events = if found.message.status == store::Status::Running {
        let (conversation_id, message_id) = (conversation_id.clone(), message_id.clone());
        vec![Event::Started(Box::new(TurnStart {
            conversation_id,
            message_id,
            model: String::new(),
            continues: false,
        }))]
    } else {
        turns::events_of_answer(conversation_id, found.message)
    };
    add_events(&mut response, &events.into_iter().collect());
    response.response()
}

/// `POST /v1/responses/{id}/cancel`: stops the response if it runs, and returns it.
pub(crate) async fn cancel(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    PathId(id): PathId,
) -> Result<Json<Value>, ApiError> {
    let (id, found) = find_named(&app, &owner, &id).await?;
    if found.message.status == store::Status::Running {
        let deadline = turns::deadline(&app.turns.limits, None);
        let mut response = ResponseStream::new(details(&found), Some(u64::MAX), None);
        let running = turns::repeated(&app.turns, &owner, found.turn.clone(), deadline).await?;
        // The next turn of the conversation may have begun.
        let (conversation_id, turn_id) = (&id.conversation_id, Some(found.turn.turn_id.as_str()));
        if !app.turns.registry.stop(&owner, conversation_id, turn_id) {
            app.store.conversations.request_stop(&owner, conversation_id, turn_id, SystemTime::now()).await?;
        }
        // Another instance ends its turn when it renews the lease.
        let ended = timeout(CANCEL_TIMEOUT, collect(running.events, &mut response)).await;
        if ended.is_ok() && !found.is_continued {
            return Ok(Json(response.response()));
        }
    }
    Ok(Json(current(&id, find(&app, &owner, &id).await?)))
}

/// `DELETE /v1/responses/{id}`: deletes the answer with its question and what follows, and a conversation without others.
pub(crate) async fn delete(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    PathId(id): PathId,
) -> Result<Json<Value>, ApiError> {
    let (id, found) = find_named(&app, &owner, &id).await?;
    if found.is_alone {
        turns::delete_conversation(&app.turns, &owner, &id.conversation_id).await?;
    } else {
        turns::delete_message(&app.turns, &owner, &id.conversation_id, &found.question_id).await?;
    }
    Ok(Json(deleted_response(&id)))
}
