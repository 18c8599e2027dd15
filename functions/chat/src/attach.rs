//! Readers of turns that somebody else began: a turn that runs or just ended here is told from memory, any other from
//! what its process writes down.

use std::time::SystemTime;

use conversation::{ErrorCode, is_id};
use store::{KnownTurn, Owner};
use tokio::time::Instant;
use web::ApiError;

use crate::App;
use crate::begin::{self, Told};
use crate::chat::storage;
use crate::elsewhere::{self, refused};

/// The last frame that a client has: `<turn>-<n>`.
pub(crate) struct LastFrame {
    turn_id: String,
    number: u64,
}

impl LastFrame {
    /// Reads a frame's id; `None` when it is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (turn_id, digits) = text.rsplit_once('-')?;
        let number = digits.parse().ok().filter(|number: &u64| *number > 0 && number.to_string() == digits)?;
        is_id(turn_id).then(|| Self { turn_id: turn_id.to_owned(), number })
    }
}

/// The running turn of a conversation from its first event on, wherever it runs; `None` also when there is no such
/// conversation.
pub(crate) async fn running(app: &App, owner: &Owner, conversation_id: &str) -> Result<Option<Told>, ApiError> {
    let longest = begin::deadline(app, None, Instant::now());
    match running_until(app, owner, conversation_id, longest).await {
        Err(ApiError(failure)) if failure.code == ErrorCode::NotFound => Ok(None),
        told => told.inspect(|told| count(app, told.as_ref())),
    }
}

async fn running_until(
    app: &App,
    owner: &Owner,
    conversation_id: &str,
    deadline: Instant,
) -> Result<Option<Told>, ApiError> {
    if let Some((turn_id, events)) = app.running.current(owner, conversation_id) {
        return Ok(Some(Told::new(turn_id, events.subscribe(0).into_stream())));
    }
    match head(app, owner, conversation_id).await? {
        Some(turn) => elsewhere::told(app, owner, turn, 0, deadline).await.map(Some),
        None => Ok(None),
    }
}

/// The turn that a client goes on reading, and how many of its frames that client has; `None` when there is none.
///
/// That is the turn whose frame it names, for as long as that can be told, else the one that runs.
pub(crate) async fn resumed(
    app: &App,
    owner: &Owner,
    conversation_id: &str,
    last: Option<LastFrame>,
    deadline: Instant,
) -> Result<Option<(Told, u64)>, ApiError> {
    if let Some(last) = last
        && let Some(told) = named(app, owner, conversation_id, &last, deadline).await?
    {
        count(app, Some(&told));
        return Ok(Some((told, last.number)));
    }
    let told = running_until(app, owner, conversation_id, deadline).await?;
    count(app, told.as_ref());
    Ok(told.map(|told| (told, 0)))
}

async fn named(
    app: &App,
    owner: &Owner,
    conversation_id: &str,
    last: &LastFrame,
    deadline: Instant,
) -> Result<Option<Told>, ApiError> {
    let LastFrame { turn_id, number } = last;
    let current = app.running.current(owner, conversation_id).filter(|(current, _)| current == turn_id);
    if let Some((turn_id, events)) = current {
        return Ok(Some(Told::new(turn_id, events.subscribe(0).into_stream())));
    }
    // Also for what is kept here: a conversation that was deleted elsewhere is not told.
    let running = head(app, owner, conversation_id).await?.filter(|running| running.turn_id == *turn_id);
    if let Some(events) = app.running.events(owner, conversation_id, turn_id) {
        return Ok(Some(Told::new(turn_id.clone(), events.subscribe(0).into_stream())));
    }
    let turn = match running {
        None => app.store.streams.find(owner, conversation_id, turn_id, SystemTime::now()).await,
        running => Ok(running),
    };
    match turn.map_err(|error| storage(&error))? {
        Some(turn) => elsewhere::told(app, owner, turn, *number, deadline).await.map(Some),
        None => Ok(None),
    }
}

/// This turn from its first event on, wherever it runs or ran.
pub(crate) async fn known(app: &App, owner: &Owner, turn: KnownTurn, deadline: Instant) -> Result<Told, ApiError> {
    let told = match app.running.events(owner, &turn.conversation_id, &turn.turn_id) {
        Some(events) => Ok(Told::new(turn.turn_id, events.subscribe(0).into_stream())),
        None => elsewhere::told(app, owner, turn, 0, deadline).await,
    };
    told.inspect(|told| count(app, Some(told)))
}

/// Counts a reader who came to a turn.
fn count(app: &App, told: Option<&Told>) {
    if let Some(told) = told {
        app.config.metrics.resumed(&told.turn_id, SystemTime::now());
    }
}

async fn head(app: &App, owner: &Owner, conversation_id: &str) -> Result<Option<KnownTurn>, ApiError> {
    app.store.conversations.running(owner, conversation_id, SystemTime::now()).await.map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frames_id_is_a_turn_and_a_number_from_one() {
        let last = LastFrame::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV-12").unwrap();
        assert_eq!((last.turn_id.as_str(), last.number), ("01ARZ3NDEKTSV4RRFFQ69G5FAV", 12));
        for bad in ["", "-", "12", "x-1", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAV-"] {
            assert!(LastFrame::parse(bad).is_none(), "{bad}");
        }
        for number in ["0", "01", "+1", "-1", "1.0", " 1", "x", "18446744073709551616"] {
            assert!(LastFrame::parse(&format!("01ARZ3NDEKTSV4RRFFQ69G5FAV-{number}")).is_none(), "{number}");
        }
    }

    #[test]
    fn fuzz_only_ids_of_frames_are_read() {
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV-12";
        fuzz::run_text("ids of frames", &[id], &["-", "0", "1", "+", " ", "汉", "18446744073709551616"], |text| {
            let Some(LastFrame { turn_id, number }) = LastFrame::parse(text) else { return Ok(()) };
            fuzz::holds(format!("{turn_id}-{number}") == text, || format!("{turn_id}-{number} is another text"))
        });
    }
}
