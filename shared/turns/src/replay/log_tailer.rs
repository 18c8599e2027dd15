//! Tails a turn that runs, or ran, on another instance.
//!
//! The tailer polls the turn's log. When the log has nothing new, it reads the conversation's head, which shows whether the
//! turn still runs. Once it does not, the tailer takes what the log lacks from the stored answer.

use std::time::{Duration, SystemTime};

use domain::{ErrorCode, Event, EventBatch, Owner, TurnAccumulator, TurnError, TurnStart};
use futures_util::StreamExt;
use futures_util::stream::{once, unfold};
use store::{ReadError, StoreError, StoredTurn, TurnRef};
use tokio::time::{Instant, sleep};

use super::from_answer::{deleted_end, interrupted_end, remaining};
use crate::handle::TurnStream;
use crate::services::TurnServices;

/// Poll interval of the log.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// How long after the answer was seen to be stored the last batch of the log may arrive, if it was not stored with the answer.
const LAST_BATCH_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the store may fail before the stream ends.
const STORE_FAILURE_TIMEOUT: Duration = Duration::from_secs(15);

/// Reads the log of one turn for one client.
struct LogTailer {
    services: TurnServices,
    owner: Owner,
    turn: TurnRef,
    /// Whether the client counts frames, so that only the log can continue what it has.
    counts_frames: bool,
    deadline: Instant,
    /// What the log has held so far, after the text of the answer that the turn continues.
    delivered: TurnAccumulator,
    /// The position of the next event in the log.
    next: usize,
    /// Whether to read again without waiting.
    has_more: bool,
    is_readable: bool,
    /// When the answer was first seen to be stored.
    stored_since: Option<Instant>,
    /// When the store began to fail.
    failing_since: Option<Instant>,
}

/// The turn from its first event on; interrupted where the log ends early, if the client counts frames.
pub(super) async fn follow(
    services: &TurnServices,
    owner: &Owner,
    turn: TurnRef,
    counts_frames: bool,
    deadline: Instant,
) -> Result<TurnStream, TurnError> {
    let StoredTurn { message, before: (content, thinking), continues, .. } =
        stored_turn(services, owner, &turn).await.map_err(not_found_or_store)?;
    let started = Event::Started(Box::new(TurnStart {
        conversation_id: turn.conversation_id.clone(),
        message_id: message.id,
        model: message.model,
        continues,
    }));
    let turn_id = turn.turn_id.clone();
    let tailer = LogTailer {
        services: services.clone(),
        owner: owner.clone(),
        turn,
        counts_frames,
        deadline,
        delivered: TurnAccumulator { content, thinking, ..TurnAccumulator::default() },
        next: 0,
        has_more: true,
        is_readable: true,
        stored_since: None,
        failing_since: None,
    };
    let first = once(std::future::ready(vec![started]));
    let rest = unfold(Some(tailer), |tailer| async move {
        let mut tailer = tailer?;
        let batch = tailer.next_batch().await;
        let has_ended = batch.last().is_some_and(Event::is_end);
        Some((batch, (!has_ended).then_some(tailer)))
    });
    Ok(TurnStream::new(turn_id, first.chain(rest).map(EventBatch::from_vec)))
}

async fn stored_turn(services: &TurnServices, owner: &Owner, turn: &TurnRef) -> Result<StoredTurn, ReadError> {
    services.store.conversations.find_turn(owner, turn, SystemTime::now()).await
}

/// The failure of a read that has no cursor.
pub(super) fn not_found_or_store(error: ReadError) -> TurnError {
    match error {
        ReadError::NotFound | ReadError::BadCursor => ErrorCode::NotFound.into(),
        ReadError::Store(error) => error.into(),
    }
}

impl LogTailer {
    /// The next events after the start, as soon as there are any.
    async fn next_batch(&mut self) -> Vec<Event> {
        loop {
            if !std::mem::take(&mut self.has_more) {
                sleep(POLL_INTERVAL).await;
            }
            let batch = match self.poll().await {
                Ok(batch) => {
                    self.failing_since = None;
                    batch
                }
                Err(error) => self.on_read_error(&error),
            };
            if !batch.is_empty() {
                return batch;
            }
        }
    }

    /// The turn continues whether or not its log can be read: only a store that fails for long ends the stream.
    fn on_read_error(&mut self, error: &StoreError) -> Vec<Event> {
        let since = *self.failing_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= STORE_FAILURE_TIMEOUT || Instant::now() >= self.deadline {
            tracing::error!(%error, "a turn's log cannot be read; its stream ends");
            return interrupted_end(error.code().into());
        }
        tracing::warn!(%error, "a turn's log could not be read and is read again");
        Vec::new()
    }

    async fn poll(&mut self) -> Result<Vec<Event>, StoreError> {
        let logged = self.read_log().await?;
        if !logged.is_empty() {
            return Ok(logged);
        }
        let conversations = &self.services.store.conversations;
        match conversations.running_turn(&self.owner, &self.turn.conversation_id, SystemTime::now()).await {
            Ok(Some(running)) if running == self.turn => Ok(self.end_if_expired()),
            Ok(_) => self.read_end().await,
            Err(ReadError::Store(error)) => Err(error),
            Err(_) => Ok(deleted_end()),
        }
    }

    /// What is new in the log, without its first event: the start was sent before.
    async fn read_log(&mut self) -> Result<Vec<Event>, StoreError> {
        if !self.is_readable {
            return Ok(Vec::new());
        }
        let streams = &self.services.store.streams;
        let logged = streams.read(&self.owner, &self.turn, self.next, SystemTime::now()).await?;
        self.next += logged.events.len();
        (self.is_readable, self.has_more) = (!logged.unreadable, logged.has_more);
        logged.events.iter().for_each(|event| self.delivered.apply(event));
        Ok(logged.events.into_iter().filter(|event| !matches!(event, Event::Started(_))).collect())
    }

    /// The end of a turn that no longer runs.
    async fn read_end(&mut self) -> Result<Vec<Event>, StoreError> {
        let turn = match stored_turn(&self.services, &self.owner, &self.turn).await {
            Ok(turn) => turn,
            Err(ReadError::Store(error)) => return Err(error),
            Err(_) => return Ok(deleted_end()),
        };
        // The last batch is stored with the answer or after it, and may have arrived since the log was read.
        let logged = self.read_log().await?;
        let since = *self.stored_since.get_or_insert_with(Instant::now);
        // A turn that ended before its log began gets no batch, unless its answer cannot continue what clients have.
        let has_log = self.next > 0 || turn.outcome.as_ref().is_some_and(|outcome| outcome.reclassified > 0);
        let is_awaited = turn.outcome.is_some() && has_log && self.is_readable && since.elapsed() < LAST_BATCH_TIMEOUT;
        if !logged.is_empty() || is_awaited {
            return Ok(logged);
        }
        if turn.outcome.is_none() {
            self.recover().await;
        }
        let rest = if self.counts_frames { None } else { remaining(&self.delivered, turn) };
        Ok(rest.unwrap_or_else(|| interrupted_end(ErrorCode::Interrupted.into())))
    }

    /// Makes what the log holds the answer of the turn, which died: the log expires.
    async fn recover(&self) {
        if let Err(error) = self.services.store.recover_turn(&self.owner, &self.turn, SystemTime::now()).await {
            tracing::warn!(%error, turn = %self.turn.turn_id, "an interrupted answer was not recovered");
        }
    }

    /// Nothing, or the end if this process shuts down or the reader's time is over; on Lambda the turn's own deadline is
    /// earlier.
    fn end_if_expired(&self) -> Vec<Event> {
        let may_continue = Instant::now() < self.deadline && !self.services.registry.is_shutting_down();
        if may_continue { Vec::new() } else { interrupted_end(ErrorCode::Interrupted.into()) }
    }
}
