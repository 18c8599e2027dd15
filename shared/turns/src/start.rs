//! The stored turn that starts, or the one that an equal request (`Idempotency-Key`) started.

use std::sync::OnceLock;
use std::time::SystemTime;

use agent::EventLog;
use domain::{ErrorCode, Event, Language, Owner, RequestOrigin, TurnError, TurnStart, new_id};
use store::{BeginError, ConversationStore, IdempotencyClaim, IdempotencyStatus, NewTurn, TurnLease, UserInput};
use tokio::time::Instant;
use tracing::{Instrument, Span};

use crate::handle::TurnStream;
use crate::request::StartTurn;
use crate::services::TurnServices;
use crate::stateful::StatefulTurn;
use crate::{replay, title};

/// What makes two requests the same request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The client's key.
    pub key: String,
    /// What was requested: the same key with another fingerprint is a mistake of the client's.
    pub fingerprint: Vec<u8>,
}

/// Starts a turn. Repeating a request with the same key within 24 hours returns the same turn: live while it runs, replayed
/// once it has finished, and interrupted if its process died.
///
/// # Errors
/// `idempotency_mismatch` for a key that was used for another request.
pub async fn start_or_replay(
    services: &TurnServices,
    key: Option<IdempotencyKey>,
    request: StartTurn,
) -> Result<TurnStream, TurnError> {
    let Some(key) = key else { return start(services, request, None).await };
    let (owner, deadline) = (request.owner.clone(), request.deadline);
    let claim = match find(services, &owner, &key, deadline).await? {
        KeyUse::Free(claim) => claim,
        KeyUse::Began(turn) => return Ok(turn),
    };
    match start(services, request, Some(claim)).await {
        Ok(turn) => Ok(turn),
        // The same request may have begun the turn meanwhile, here or at another instance.
        Err(error) => match find(services, &owner, &key, deadline).await? {
            KeyUse::Free(_) => Err(error),
            KeyUse::Began(turn) => Ok(turn),
        },
    }
}

/// What a key is used for so far.
enum KeyUse {
    Free(IdempotencyClaim),
    Began(TurnStream),
}

async fn find(
    services: &TurnServices,
    owner: &Owner,
    key: &IdempotencyKey,
    deadline: Instant,
) -> Result<KeyUse, TurnError> {
    let IdempotencyKey { key, fingerprint } = key;
    match services.store.idempotency.status(owner, key, fingerprint, SystemTime::now()).await? {
        IdempotencyStatus::New(claim) => Ok(KeyUse::Free(claim)),
        IdempotencyStatus::Existing(turn) => replay::repeated(services, owner, turn, deadline).await.map(KeyUse::Began),
        IdempotencyStatus::Mismatch => Err(ErrorCode::IdempotencyMismatch.into()),
        IdempotencyStatus::Pending => Err(ErrorCode::TurnInProgress.into()),
    }
}

/// Stores the turn as running and spawns it. It runs to its end whether or not a client reads its events.
async fn start(
    services: &TurnServices,
    request: StartTurn,
    idempotency: Option<IdempotencyClaim>,
) -> Result<TurnStream, TurnError> {
    let (_permit, instructions) = services.admit(&request.owner, &request.membership.groups).await?;
    // By the wall clock a lease may seem to have expired that this very process renews.
    if request.conversation_id.as_ref().is_some_and(|id| services.registry.holds(&request.owner, id)) {
        return Err(BeginError::InProgress { retry_after: ConversationStore::LEASE }.into());
    }
    let new_turn = new_turn(&request, idempotency);
    let lease = services.store.begin(&request.owner, &new_turn, SystemTime::now()).await?;
    let continued = lease.continued.as_ref().map(|continued| &continued.message);
    let events = continued.map_or_else(EventLog::default, |one| EventLog::continuing(&one.content, &one.thinking));
    let message_id = continued.map_or(new_turn.assistant_message_id, |one| one.id.clone());
    let subscriber = events.subscribe(0);
    request.request.record_admission();
    let span = turn_span(&request.request, &lease.conversation_id, &lease.turn_id);
    let turn = StatefulTurn {
        services: services.clone(),
        instructions: instructions_for(&request, instructions),
        guard: services.registry.register(&request.owner, &lease, &events),
        title: lease.is_first().then_some(new_turn.title),
        events: events.clone(),
        started: started(&lease, message_id.clone(), new_turn.model),
        message_id,
        lease,
        request,
        sources: OnceLock::new(),
    };
    services.registry.spawn(turn.run().instrument(span), events);
    Ok(TurnStream::of_subscriber(new_turn.turn_id, subscriber))
}

/// What the user wants of all answers, unless the client brings a prompt of its own. A turn can do without it.
fn instructions_for(request: &StartTurn, read: Option<String>) -> String {
    if read.is_none() {
        tracing::warn!("a user's instructions could not be read");
    }
    read.filter(|_| request.client.is_none()).unwrap_or_default()
}

/// The span of every log line that a turn writes; of the highest level, so that no filter drops it.
pub(crate) fn turn_span(request: &RequestOrigin, conversation_id: &str, turn_id: &str) -> Span {
    tracing::error_span!("turn", requestId = request.request_id, conversationId = conversation_id, turnId = turn_id)
}

fn new_turn(request: &StartTurn, idempotency: Option<IdempotencyClaim>) -> NewTurn {
    NewTurn {
        conversation_id: request.conversation_id.clone(),
        chat_id: request.chat_id.clone(),
        turn_id: new_id(),
        user_message_id: new_id(),
        assistant_message_id: new_id(),
        input: request.question.clone(),
        attachments: request.attachments.clone(),
        target: request.target.clone(),
        model: request.agent.model_name().to_owned(),
        language: match &request.question {
            UserInput::Message(message) => Language::of(message),
            UserInput::Regenerate | UserInput::Continue => Language::default(),
        },
        title: match &request.question {
            UserInput::Message(message) => title::of_message(message),
            UserInput::Regenerate | UserInput::Continue => String::new(),
        },
        temporary: request.temporary,
        request: request.client.as_ref().map(|client| client.request.clone()),
        idempotency,
    }
}

fn started(lease: &TurnLease, message_id: String, model: String) -> Event {
    let (conversation_id, continues) = (lease.conversation_id.clone(), lease.continued.is_some());
    Event::Started(Box::new(TurnStart { conversation_id, message_id, model, continues }))
}
