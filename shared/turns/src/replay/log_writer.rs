//! Writes a turn's events to the store while the turn runs, so that other instances can replay it.
//!
//! Nothing is written in a turn's first two seconds: a turn that ends by then is rebuilt from its answer, unless it has events
//! that no answer holds. There is never more than one batch at a time. The writer runs concurrently with
//! the turn: a store that is slow or fails does not delay it, except for a pending write at its end, by 300 ms at most. After a
//! failed write nothing more is written of this turn, so that no reader sees a gap.
//!
//! All turns flush at the same times, with a few requests for all of them, and in between no delta wakes the writer: requests
//! and wake-ups are the main cost of a delta. A turn with much output does not wait for the next flush. The end needs no write
//! of its own: it is stored in the answer's transaction.

use std::time::{Duration, SystemTime};

use agent::EventLog;
use domain::{Event, Owner};
use futures_util::FutureExt;
use store::{AnswerWrites, StoreError, StreamLog, TurnLease};
use tokio::select;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::log_batcher::{Batch, Batcher};

const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// Timeout of a write that is pending when the turn ends.
const END_GRACE: Duration = Duration::from_millis(300);

/// Writes the log of one turn.
pub(crate) struct LogWriter<'a> {
    streams: &'a StreamLog,
    owner: &'a Owner,
    turn: &'a TurnLease,
    batches: Batcher,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing is written yet.
    Empty,
    Written,
    /// Nothing more is written: the end is stored, or the turn was too short for a log.
    Ended,
    /// A write failed, or may still succeed.
    GivenUp,
}

impl<'a> LogWriter<'a> {
    /// The log of a turn that starts now.
    pub(crate) fn new(streams: &'a StreamLog, owner: &'a Owner, turn: &'a TurnLease, events: &EventLog) -> Self {
        Self { streams, owner, turn, batches: Batcher::new(events, streams.flush_epoch()), state: State::Empty }
    }

    /// Writes events until `ended` is cancelled; a write that is pending then has [`END_GRACE`] left.
    pub(crate) async fn follow(&mut self, ended: &CancellationToken) {
        while self.state != State::GivenUp
            && let Some(batch) = self.batches.next(ended).await
        {
            if !completes_in_time(self.write(batch), ended).await {
                self.give_up(None);
            }
        }
    }

    /// The rest of the log with the closing events, to be stored with the answer; `None` for a turn that needs no log, or if
    /// the rest does not fit the transaction. No write may be pending.
    pub(crate) fn end(&mut self, closing: &[Event]) -> Option<AnswerWrites> {
        let needs_none = self.state == State::Empty && self.is_over() && !self.batches.needs_log();
        let has_ended = needs_none || matches!(self.state, State::Ended | State::GivenUp);
        if has_ended { None } else { self.tail(closing) }
    }

    fn tail(&mut self, closing: &[Event]) -> Option<AnswerWrites> {
        let Batch { first, events } = self.batches.rest(closing);
        self.streams.prepare_tail(self.owner, self.turn, first, &events, SystemTime::now())
    }

    /// Records that the answer is stored, and whether the end of the log is in its transaction. A log that was not begun
    /// before is not begun afterwards.
    pub(crate) fn mark_stored(&mut self, with_log: bool) {
        if with_log || self.state == State::Empty {
            self.state = State::Ended;
        }
    }

    /// Writes the rest of the log with the closing events, unless that is done or there is no log.
    pub(crate) async fn finish(&mut self, closing: &[Event]) {
        if !self.is_over() {
            let batch = self.batches.rest(closing);
            self.write(batch).await;
        }
    }

    fn is_over(&self) -> bool {
        match self.state {
            State::Empty => !self.batches.is_past_grace_period(),
            State::Written => false,
            State::Ended | State::GivenUp => true,
        }
    }

    /// Whether something may have been written after the answer was stored, so that a deletion may have missed it.
    pub(crate) fn may_outlive_deletion(&self) -> bool {
        matches!(self.state, State::Written | State::GivenUp)
    }

    /// Deletes the log: the conversation is deleted.
    pub(crate) async fn discard(&mut self) {
        if self.state == State::Empty {
            return;
        }
        let deleted = self.streams.delete_logs(self.owner, &self.turn.conversation_id, Some(&self.turn.turn_id));
        if !matches!(timeout(WRITE_TIMEOUT, deleted).await, Ok(Ok(()))) {
            tracing::warn!(turn = %self.turn.turn_id, "the events of a turn could not be deleted; they expire");
        }
    }

    async fn write(&mut self, Batch { first, events }: Batch) {
        let written = self.streams.append(self.owner, self.turn, first, &events, SystemTime::now());
        self.state = match timeout(WRITE_TIMEOUT, written).await {
            Ok(Ok(())) => State::Written,
            outcome => return self.give_up(outcome.ok().and_then(Result::err)),
        };
    }

    fn give_up(&mut self, error: Option<StoreError>) {
        let error = error.map(|error| error.to_string());
        tracing::warn!(error, turn = %self.turn.turn_id, "the events of a turn are not written any more");
        self.state = State::GivenUp;
    }
}

/// Awaits a write for at most [`END_GRACE`] after `ended` is cancelled; whether it completed.
async fn completes_in_time(write: impl Future<Output = ()>, ended: &CancellationToken) -> bool {
    select! {
        biased;
        () = write => true,
        () = ended.cancelled().then(|()| sleep(END_GRACE)) => false,
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pending_write_delays_the_end_briefly() {
        let (ended, begun) = (CancellationToken::new(), Instant::now());
        assert!(completes_in_time(sleep(WRITE_TIMEOUT), &ended).await, "before the end it has its full timeout");
        assert_eq!(begun.elapsed(), WRITE_TIMEOUT);
        ended.cancel();
        assert!(completes_in_time(sleep(END_GRACE / 2), &ended).await);
        let begun = Instant::now();
        assert!(!completes_in_time(sleep(WRITE_TIMEOUT), &ended).await);
        assert_eq!(begun.elapsed(), END_GRACE);
    }
}
