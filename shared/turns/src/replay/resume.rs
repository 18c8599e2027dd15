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
pub async fn current(services: &TurnServices, owner: &Owner, id: &str) -> Result<Option<TurnStream>, TurnError> {
    let conversation = Conversation { services, owner, id, deadline: deadline(&services.limits, None) };
    match conversation.current().await {
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
    id: &str,
    last_frame: Option<FrameId>,
    deadline: Instant,
) -> Result<Option<(TurnStream, TurnPosition)>, TurnError> {
    let conversation = Conversation { services, owner, id, deadline };
    let (turn, received) = match last_frame {
        Some(frame) => (conversation.turn_of(&frame).await?, frame.received),
        None => (None, TurnPosition::default()),
    };
    let (turn, received) = match turn {
        Some(turn) => (Some(turn), received),
        None => (conversation.current().await?, TurnPosition::default()),
    };
    record_resumed(services, turn.as_ref());
    Ok(turn.map(|turn| (turn, received)))
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
    let id = turn.conversation_id.clone();
    let conversation = Conversation { services, owner, id: &id, deadline };
    let stream = match conversation.in_process(&turn.turn_id) {
        Some(running) => Ok(running),
        None => match conversation.completed(&turn.turn_id).await? {
            Some(completed) => Ok(completed),
            None => conversation.follow(turn, false).await,
        },
    };
    stream.inspect(|turn| record_resumed(services, Some(turn)))
}

/// A conversation of which a client reads a turn again, until `deadline`.
struct Conversation<'a> {
    services: &'a TurnServices,
    owner: &'a Owner,
    id: &'a str,
    deadline: Instant,
}

impl Conversation<'_> {
    /// The running turn.
    async fn current(&self) -> Result<Option<TurnStream>, TurnError> {
        if let Some((turn_id, events)) = self.services.registry.current(self.owner, self.id) {
            return Ok(Some(TurnStream::of_subscriber(turn_id, events.subscribe(0))));
        }
        match self.running().await? {
            Some(turn) => self.follow(turn, false).await.map(Some),
            None => Ok(None),
        }
    }

    /// The turn of a frame, if it can be replayed.
    async fn turn_of(&self, frame: &FrameId) -> Result<Option<TurnStream>, TurnError> {
        if let Some(running) = self.in_process(&frame.turn_id) {
            return Ok(Some(running));
        }
        let running = self.running().await?.filter(|running| running.turn_id == frame.turn_id);
        if let Some(completed) = self.completed(&frame.turn_id).await? {
            return Ok(Some(completed));
        }
        let turn = match running {
            None => self.find_ended(frame).await?,
            running => running,
        };
        match turn {
            Some(turn) => self.follow(turn, frame.received.frames().is_some()).await.map(Some),
            None => Ok(None),
        }
    }

    /// This turn, if it runs in this process.
    fn in_process(&self, turn_id: &str) -> Option<TurnStream> {
        let current = self.services.registry.current(self.owner, self.id).filter(|(current, _)| current == turn_id);
        current.map(|(turn_id, events)| TurnStream::of_subscriber(turn_id, events.subscribe(0)))
    }

    /// This turn, if it is cached in this process and no other instance has deleted its answer.
    async fn completed(&self, turn_id: &str) -> Result<Option<TurnStream>, StoreError> {
        let cached = self.services.registry.completed(self.owner, self.id, turn_id);
        let Some((events, answer_seq)) = cached else { return Ok(None) };
        let is_deleted = self.services.store.conversations.is_deleted(self.owner, self.id, answer_seq).await?;
        Ok((!is_deleted).then(|| TurnStream::of_subscriber(turn_id.to_owned(), events.subscribe(0))))
    }

    /// The finished turn of a frame, if it can be replayed: one with a log, or one whose answer holds everything.
    async fn find_ended(&self, FrameId { turn_id, received }: &FrameId) -> Result<Option<TurnRef>, StoreError> {
        let (store, now) = (&self.services.store, SystemTime::now());
        let logged = store.streams.find(self.owner, self.id, turn_id, now).await?;
        // An answer does not hold how it was divided into frames.
        if logged.is_some() || received.frames().is_some() {
            return Ok(logged);
        }
        store.conversations.find_ended_turn(self.owner, self.id, turn_id, now).await
    }

    /// The running turn by the conversation's head item.
    async fn running(&self) -> Result<Option<TurnRef>, TurnError> {
        let running = self.services.store.conversations.running_turn(self.owner, self.id, SystemTime::now()).await;
        running.map_err(not_found_or_store)
    }

    async fn follow(&self, turn: TurnRef, counts_frames: bool) -> Result<TurnStream, TurnError> {
        log_tailer::follow(self.services, self.owner, turn, counts_frames, self.deadline).await
    }
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
