use std::time::SystemTime;

use domain::{ErrorCode, Owner, TurnError, TurnPosition, is_id};
use store::{StoreError, TurnRef};
use tokio::time::Instant;

use super::log_tailer::{self, not_found_or_store};
use crate::admission::deadline;
use crate::handle::TurnStream;
use crate::services::TurnServices;

/// The id of a frame: `<turn>-<position>`, with the position after the frame.
pub struct FrameId {
    turn_id: String,
    received: TurnPosition,
}

impl FrameId {
    /// Parses a frame's id; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (turn_id, position) = text.split_once('-')?;
        let received = TurnPosition::parse(position)?;
        is_id(turn_id).then(|| Self { turn_id: turn_id.to_owned(), received })
    }
}

/// The running turn of a conversation from its first event on, on whichever instance it runs; `None` if none runs, also when
/// there is no such conversation.
///
/// # Errors
/// A failure of the store.
pub async fn current(
    services: &TurnServices,
    owner: &Owner,
    conversation_id: &str,
) -> Result<Option<TurnStream>, TurnError> {
    match subscribe_current(services, owner, conversation_id, deadline(&services.limits, None)).await {
        Err(error) if error.failure.code == ErrorCode::NotFound => Ok(None),
        turn => turn.inspect(|turn| record_resumed(services, turn.as_ref())),
    }
}

/// The turn that a client resumes from its first event on, and how much of it that client has; `None` if there is nothing to resume.
///
/// That is the turn whose frame the client names, as long as it can be replayed, otherwise the running one.
///
/// # Errors
/// `not_found` without such a conversation, or a failure of the store.
pub async fn resume(
    services: &TurnServices,
    owner: &Owner,
    conversation_id: &str,
    last_frame: Option<FrameId>,
    deadline: Instant,
) -> Result<Option<(TurnStream, TurnPosition)>, TurnError> {
    if let Some(last_frame) = last_frame
        && let Some(turn) = subscribe_from(services, owner, conversation_id, &last_frame, deadline).await?
    {
        record_resumed(services, Some(&turn));
        return Ok(Some((turn, last_frame.received)));
    }
    let turn = subscribe_current(services, owner, conversation_id, deadline).await?;
    record_resumed(services, turn.as_ref());
    Ok(turn.map(|turn| (turn, TurnPosition::default())))
}

/// This turn from its first event on, whether it runs or has finished, on whichever instance.
///
/// # Errors
/// `not_found` without such a conversation, or a failure of the store.
pub async fn repeated(
    services: &TurnServices,
    owner: &Owner,
    turn: TurnRef,
    deadline: Instant,
) -> Result<TurnStream, TurnError> {
    let TurnRef { turn_id, conversation_id, .. } = &turn;
    let stream = match current_turn(services, owner, conversation_id, turn_id) {
        Some(running) => Ok(running),
        None => match completed(services, owner, conversation_id, turn_id).await? {
            Some(completed) => Ok(completed),
            None => log_tailer::follow(services, owner, turn, false, deadline).await,
        },
    };
    stream.inspect(|turn| record_resumed(services, Some(turn)))
}

async fn subscribe_current(
    services: &TurnServices,
    owner: &Owner,
    conversation_id: &str,
    deadline: Instant,
) -> Result<Option<TurnStream>, TurnError> {
    if let Some((turn_id, events)) = services.registry.current(owner, conversation_id) {
        return Ok(Some(TurnStream::of_subscriber(turn_id, events.subscribe(0))));
    }
    match running(services, owner, conversation_id).await? {
        Some(turn) => log_tailer::follow(services, owner, turn, false, deadline).await.map(Some),
        None => Ok(None),
    }
}

async fn subscribe_from(
    services: &TurnServices,
    owner: &Owner,
    conversation_id: &str,
    last_frame: &FrameId,
    deadline: Instant,
) -> Result<Option<TurnStream>, TurnError> {
    let FrameId { turn_id, received } = last_frame;
    if let Some(running) = current_turn(services, owner, conversation_id, turn_id) {
        return Ok(Some(running));
    }
    let running = running(services, owner, conversation_id).await?.filter(|running| running.turn_id == *turn_id);
    if let Some(completed) = completed(services, owner, conversation_id, turn_id).await? {
        return Ok(Some(completed));
    }
    let counts_frames = received.frames().is_some();
    let turn = match running {
        None => find_ended(services, owner, conversation_id, last_frame).await?,
        running => running,
    };
    match turn {
        Some(turn) => log_tailer::follow(services, owner, turn, counts_frames, deadline).await.map(Some),
        None => Ok(None),
    }
}

/// This turn, if it runs in this process.
fn current_turn(services: &TurnServices, owner: &Owner, conversation_id: &str, turn_id: &str) -> Option<TurnStream> {
    let current = services.registry.current(owner, conversation_id).filter(|(current, _)| current == turn_id);
    current.map(|(turn_id, events)| TurnStream::of_subscriber(turn_id, events.subscribe(0)))
}

/// This turn, if it is cached in this process and no other instance has deleted its answer.
async fn completed(
    services: &TurnServices,
    owner: &Owner,
    conversation_id: &str,
    turn_id: &str,
) -> Result<Option<TurnStream>, StoreError> {
    let Some((events, answer_seq)) = services.registry.completed(owner, conversation_id, turn_id) else {
        return Ok(None);
    };
    let is_deleted = services.store.conversations.is_deleted(owner, conversation_id, answer_seq).await?;
    Ok((!is_deleted).then(|| TurnStream::of_subscriber(turn_id.to_owned(), events.subscribe(0))))
}

/// The finished turn of a frame, if it can be replayed: one with a log, or one whose answer holds everything.
async fn find_ended(
    services: &TurnServices,
    owner: &Owner,
    conversation_id: &str,
    FrameId { turn_id, received }: &FrameId,
) -> Result<Option<TurnRef>, StoreError> {
    let (store, now) = (&services.store, SystemTime::now());
    let logged = store.streams.find(owner, conversation_id, turn_id, now).await?;
    // An answer does not hold how it was divided into frames.
    if logged.is_some() || received.frames().is_some() {
        return Ok(logged);
    }
    store.conversations.find_ended_turn(owner, conversation_id, turn_id, now).await
}

/// The running turn of a conversation by its head item.
async fn running(services: &TurnServices, owner: &Owner, conversation_id: &str) -> Result<Option<TurnRef>, TurnError> {
    let running = services.store.conversations.running_turn(owner, conversation_id, SystemTime::now()).await;
    running.map_err(not_found_or_store)
}

/// Counts a client that reads a turn again.
fn record_resumed(services: &TurnServices, turn: Option<&TurnStream>) {
    if let Some(turn) = turn {
        services.metrics.resumed(&turn.turn_id, SystemTime::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_id_is_a_turn_and_a_position() {
        for position in ["12", "12.0", "12.14"] {
            let id = FrameId::parse(&format!("01ARZ3NDEKTSV4RRFFQ69G5FAV-{position}")).unwrap();
            assert_eq!(id.turn_id, "01ARZ3NDEKTSV4RRFFQ69G5FAV");
            assert_eq!(Some(id.received), TurnPosition::parse(position));
        }
        for bad in ["", "-", "12", "x-1", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAV-"] {
            assert!(FrameId::parse(bad).is_none(), "{bad}");
        }
        for number in ["0", "01", "+1", "-1", "1.", " 1", "x", "18446744073709551616"] {
            assert!(FrameId::parse(&format!("01ARZ3NDEKTSV4RRFFQ69G5FAV-{number}")).is_none(), "{number}");
        }
    }

    #[test]
    fn fuzz_only_frame_ids_are_parsed() {
        let ids = ["01ARZ3NDEKTSV4RRFFQ69G5FAV-12", "01ARZ3NDEKTSV4RRFFQ69G5FAV-33.1311110017"];
        let parts = ["-", ".", "0", "1", "14", "+", " ", "汉", "18446744073709551616"];
        fuzz::run_text("ids of frames", &ids, &parts, |text| {
            let Some(FrameId { turn_id, received }) = FrameId::parse(text) else { return Ok(()) };
            let mut written = format!("{turn_id}-");
            received.write(&mut written);
            fuzz::ensure(written == text, || format!("{written} is another text"))
        });
    }
}
