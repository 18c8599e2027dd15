use std::sync::Arc;
use std::time::{Duration, SystemTime};

use agent::{Agent, EventLog};
use conversation::{Batch, ErrorCode, Event, Failure, Started, ToolChoice, new_id};
use futures_util::stream::{BoxStream, Stream, StreamExt};
use model::ModelClient;
use store::{Admission, BeginError, ConversationStore, NewTurn, Owner, Question, TurnLease};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;
use tracing::Instrument;
use web::{ApiError, Arrival, Invocation};

use crate::App;
use crate::chat::storage;
use crate::turn::TurnTask;

/// Kept back of an invocation's time for storing the answer and ending the stream.
const RESERVE: Duration = Duration::from_secs(8);

/// The longest title made of a first message, in characters.
const TITLE: usize = 60;

/// How many turns begin at a time: each makes a few calls of the store, one after the other, so that DynamoDB is given
/// thousands of turns a second all the same.
const AT_ONCE: usize = 32;

/// Where turns wait that want to begin while many others do.
///
/// A crowd waits here, before any timer runs, and not at the store: there it would hold up the turns that run, whose
/// answers must be stored and whose leases must be renewed in time.
#[derive(Clone)]
pub(crate) struct Door(Arc<Semaphore>);

impl Default for Door {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Door {
    async fn enter(&self) -> Result<SemaphorePermit<'_>, ApiError> {
        self.0.acquire().await.map_err(|_| ErrorCode::Interrupted.into())
    }
}

/// A turn that is asked for, with everything in it checked.
pub(crate) struct Asked {
    pub(crate) owner: Owner,
    pub(crate) chosen: Chosen,
    /// `None` for a new conversation.
    pub(crate) conversation_id: Option<String>,
    /// For a new conversation, the id by which its client knows it, if it has one.
    pub(crate) chat_id: Option<String>,
    pub(crate) question: Question,
    pub(crate) deadline: Instant,
    pub(crate) arrival: Arrival,
}

/// Who answers.
pub(crate) struct Chosen {
    pub(crate) agent_id: String,
    pub(crate) agent: Agent,
    /// The model that answers, then those that take over when it fails; never empty.
    pub(crate) models: Vec<ModelClient>,
    pub(crate) tool_choice: ToolChoice,
}

/// A turn and what happens in it, from its first event on.
pub(crate) struct Told {
    pub(crate) turn_id: String,
    pub(crate) events: BoxStream<'static, Batch>,
}

impl Told {
    pub(crate) fn new(turn_id: String, events: impl Stream<Item = Batch> + Send + 'static) -> Self {
        Self { turn_id, events: events.boxed() }
    }
}

async fn admit(app: &App, owner: &Owner) -> Result<(), ApiError> {
    let admission = app.store.rate_limiter.admit(&owner.turns(), app.config.chat_limit, SystemTime::now()).await;
    let admission = admission.map_err(|error| match error {
        store::StoreError::Full | store::StoreError::Damaged => storage(&error),
        store::StoreError::Busy | store::StoreError::Fault(_) => ErrorCode::StorageBusy.into(),
    });
    match admission? {
        Admission::Admitted => Ok(()),
        Admission::Denied { retry_after } => {
            let seconds = retry_after.as_secs() + u64::from(retry_after.subsec_nanos() > 0);
            Err(Failure::from(ErrorCode::RateLimited).retry_after(seconds.max(1)).into())
        }
    }
}

/// When the turn must be over: a little before the invocation that carries it, so that the answer is stored in time.
pub(crate) fn deadline(app: &App, invocation: Option<&Invocation>, now: Instant) -> Instant {
    let longest = now + app.config.turn;
    let Some(Invocation { deadline: end, .. }) = invocation else { return longest };
    longest.min(end.checked_sub(RESERVE).unwrap_or(now))
}

/// Lets a turn in, unless the process ends or the caller's limit or budget is used up; the place is held while it begins.
pub(crate) async fn admitted<'a>(app: &'a App, owner: &Owner) -> Result<SemaphorePermit<'a>, ApiError> {
    let place = app.door.enter().await?;
    if app.running.is_shutting_down() {
        return Err(ErrorCode::Interrupted.into());
    }
    admit(app, owner).await?;
    app.config.budgets.admit(&app.store.ledger, owner, SystemTime::now()).await?;
    Ok(place)
}

/// Stores the request and starts the turn, which runs to its end whether or not its events are read.
pub(crate) async fn begin(app: &App, turn_id: String, asked: Asked) -> Result<(TurnLease, Told), ApiError> {
    let _place = admitted(app, &asked.owner).await?;
    // By the wall clock a lease may seem to be over that is renewed in this very process.
    if asked.conversation_id.as_ref().is_some_and(|id| app.running.holds(&asked.owner, id)) {
        return Err(refused(BeginError::InProgress { retry_after: ConversationStore::LEASE }));
    }
    let turn = new_turn(turn_id, &asked);
    let lease = app.store.conversations.begin(&asked.owner, &turn, SystemTime::now()).await.map_err(refused)?;
    let events = EventLog::default();
    let (turn_id, subscriber) = (turn.turn_id.clone(), events.subscribe(0));
    let span = span(&asked.arrival, &lease.conversation_id, &lease.turn_id);
    let task = TurnTask {
        app: app.clone(),
        place: app.running.enter(&asked.owner, &lease, &events),
        title: lease.is_first().then_some(turn.title),
        events: events.clone(),
        started: started(&lease, turn.assistant_message_id.clone(), turn.model),
        message_id: turn.assistant_message_id,
        lease: lease.clone(),
        asked,
    };
    app.running.spawn(task.drive().instrument(span), events);
    Ok((lease, Told::new(turn_id, subscriber.into_stream())))
}

/// What every line of the log that a turn writes is marked with; of the highest level, so that it always is.
pub(crate) fn span(arrival: &Arrival, conversation: &str, turn: &str) -> tracing::Span {
    tracing::error_span!("turn", requestId = arrival.request_id, conversationId = conversation, turnId = turn)
}

fn new_turn(turn_id: String, asked: &Asked) -> NewTurn {
    NewTurn {
        conversation_id: asked.conversation_id.clone(),
        chat_id: asked.chat_id.clone(),
        turn_id,
        user_message_id: new_id(),
        assistant_message_id: new_id(),
        question: asked.question.clone(),
        model: asked.chosen.models.first().map(|model| model.config().name.clone()).unwrap_or_default(),
        title: match &asked.question {
            Question::Words(words) => title(words),
            Question::Again => String::new(),
        },
    }
}

fn started(lease: &TurnLease, message_id: String, model: String) -> Event {
    Event::Started(Box::new(Started { conversation_id: lease.conversation_id.clone(), message_id, model }))
}

fn refused(error: BeginError) -> ApiError {
    match error {
        BeginError::NotFound => ErrorCode::NotFound.into(),
        BeginError::NothingAsked => {
            ApiError::new(ErrorCode::InvalidRequest, "There is no message yet that could be answered again")
        }
        BeginError::InProgress { retry_after } => {
            Failure::from(ErrorCode::TurnInProgress).retry_after(retry_after.as_secs() + 1).into()
        }
        BeginError::Store(error) => storage(&error),
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
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn so_many_turns_begin_at_a_time_and_the_next_when_one_has_begun_or_its_client_has_left() {
        let door = Door::default();
        let mut inside: Vec<_> = (0..AT_ONCE).filter_map(|_| door.enter().now_or_never()).collect();
        assert!(inside.len() == AT_ONCE && inside.iter().all(Result::is_ok));
        assert!(door.enter().now_or_never().is_none());
        inside.pop();
        assert!(door.enter().now_or_never().is_some_and(|entered| entered.is_ok()));
    }

    #[test]
    fn a_title_is_the_first_words_on_one_line() {
        assert_eq!(title("  今天\n天气  怎么样？ "), "今天 天气 怎么样？");
        let long = title(&"word ".repeat(50));
        assert_eq!(long.chars().count(), 60);
        assert!(long.ends_with("word…"));
    }
}
