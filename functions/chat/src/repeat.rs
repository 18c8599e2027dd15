//! Requests that may come twice: `Idempotency-Key`.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use conversation::{ErrorCode, Event, Source, ToolCall, ToolReport, Usage, new_id};
use futures_util::StreamExt;
use futures_util::stream;
use http::HeaderMap;
use store::{Claimed, KnownTurn, Owner, ReadError, Status, StoredCall, StoredTurn, TurnEnd};
use tokio::time::{Instant, sleep};
use web::ApiError;

use crate::App;
use crate::begin::{self, Asked, Told};
use crate::chat::storage;

/// The longest key, in characters.
const LONGEST_KEY: usize = 255;

/// How often a turn that runs in another process is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// The request's idempotency key.
///
/// # Errors
/// `invalid_request` for a key that cannot be one.
pub(crate) fn key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().ok().filter(|text| (1..=LONGEST_KEY).contains(&text.len()));
    let sentence = "`Idempotency-Key` must be 1 to 255 visible ASCII characters";
    text.map(|text| Some(text.to_owned())).ok_or_else(|| ApiError::new(ErrorCode::InvalidRequest, sentence))
}

/// Begins the turn, or attaches to the one that the same request began.
pub(crate) async fn once(app: &App, key: &str, body: &[u8], asked: Asked) -> Result<Told, ApiError> {
    let turn_id = new_id();
    loop {
        let claimed = app.store.idempotency.claim(&asked.owner, key, body, &turn_id, SystemTime::now()).await;
        match claimed.map_err(|error| storage(&error))? {
            Claimed::New(claim) => {
                let begun = begin::begin(app, turn_id, asked).await;
                let kept = match &begun {
                    Ok((lease, _)) => app.store.idempotency.record(&claim, lease).await,
                    Err(_) => app.store.idempotency.release(&claim).await,
                };
                kept.map_err(|error| storage(&error))?;
                return Ok(begun?.1);
            }
            Claimed::Known(known) => return attach(app, asked.owner, known, asked.deadline).await,
            Claimed::Mismatch => return Err(ErrorCode::IdempotencyMismatch.into()),
            Claimed::Pending if Instant::now() + LOOK < asked.deadline => sleep(LOOK).await,
            Claimed::Pending => return Err(ErrorCode::TurnInProgress.into()),
        }
    }
}

/// Follows the turn if it runs here; else waits for what the process that runs it stores.
pub(crate) async fn attach(app: &App, owner: Owner, known: KnownTurn, deadline: Instant) -> Result<Told, ApiError> {
    if let Some(events) = app.running.events(&owner, &known) {
        return Ok(Told::new(known.turn_id, events.follow(0)));
    }
    let turn = look(app, &owner, &known).await?;
    let started = Event::Started {
        conversation_id: known.conversation_id.clone(),
        message_id: turn.message.id.clone(),
        model: turn.message.model.clone(),
    };
    let (app, turn_id) = (app.clone(), known.turn_id.clone());
    let rest = stream::once(async move { ended(&app, &owner, &known, turn, deadline).await });
    let first = stream::once(std::future::ready(vec![Arc::new(started)]));
    Ok(Told::new(turn_id, first.chain(rest)))
}

async fn look(app: &App, owner: &Owner, known: &KnownTurn) -> Result<StoredTurn, ApiError> {
    let conversations = &app.store.conversations;
    let turn = conversations.turn(owner, &known.conversation_id, known.answer, SystemTime::now()).await;
    turn.map_err(|error| match error {
        ReadError::NotFound | ReadError::BadCursor => ErrorCode::NotFound.into(),
        ReadError::Store(error) => storage(&error),
    })
}

/// Everything after the start, as soon as the turn has ended.
async fn ended(
    app: &App,
    owner: &Owner,
    known: &KnownTurn,
    mut turn: StoredTurn,
    deadline: Instant,
) -> Vec<Arc<Event>> {
    while turn.message.status == Status::Running && Instant::now() + LOOK < deadline {
        sleep(LOOK).await;
        match look(app, owner, known).await {
            Ok(now) => turn = now,
            Err(error) => return vec![Arc::new(Event::Failed(error.0))],
        }
    }
    told_again(turn).into_iter().map(Arc::new).collect()
}

/// What a stored turn said, as events: the same words, in fewer frames.
fn told_again(turn: StoredTurn) -> Vec<Event> {
    let StoredTurn { message, tally } = turn;
    let mut events = Vec::new();
    if !message.thinking.is_empty() {
        events.push(Event::Thinking { delta: message.thinking });
    }
    let mut sources = message.sources;
    for call in message.tool_calls {
        events.extend(call_again(call, std::mem::take(&mut sources)));
    }
    events.extend(content_again(&message.content, &message.models));
    let (usage, end) = match tally {
        Some(tally) => (tally.usage, tally.end),
        None => (Usage::default(), TurnEnd::Failed(ErrorCode::Interrupted)),
    };
    events.push(Event::Usage(usage));
    events.push(match end {
        TurnEnd::Done(finish_reason) => Event::Done { finish_reason },
        TurnEnd::Failed(code) => Event::Failed(code.into()),
    });
    events
}

/// The words of the models that wrote them. Where one took over from another is not kept: each but the last gets a
/// character.
fn content_again(content: &str, models: &[String]) -> Vec<Event> {
    let (mut events, mut rest) = (Vec::new(), content);
    for (place, model) in models.iter().enumerate() {
        if place > 0 {
            let (one, others) = rest.split_at(rest.chars().next().map_or(0, char::len_utf8));
            events.push(Event::Text { delta: one.to_owned() });
            rest = others;
        }
        events.push(Event::Handover { model: model.clone() });
    }
    events.extend((!rest.is_empty()).then(|| Event::Text { delta: rest.to_owned() }));
    events
}

fn call_again(call: StoredCall, sources: Vec<Source>) -> [Event; 2] {
    let StoredCall { id, name, arguments, ok, summary } = call;
    let error = (!ok).then(|| conversation::ToolFailure { code: "failed".to_owned(), message: summary.clone() });
    let report =
        ToolReport { id: id.clone(), name: name.clone(), ok, cached: true, duration_ms: 0, summary, sources, error };
    [Event::ToolCall(ToolCall { id, name, arguments }), Event::ToolResult(report)]
}
