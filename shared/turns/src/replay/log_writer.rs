//! Writes a turn's events to the store while the turn runs, so that other instances can replay it.
//!
//! Nothing is written in a turn's first two seconds, and never more than one batch at a time. The writer runs concurrently with
//! the turn: a store that is slow or fails does not delay it, except for a pending write at its end, by 300 ms at most. After a
//! failed write nothing more is written of this turn, so that no reader sees a gap.
//!
//! All turns flush at the same times, with a few requests for all of them, and in between no delta wakes the writer: requests
//! and wake-ups are the main cost of a delta. A turn with much output does not wait for the next flush. The end needs no write
//! of its own: it is stored in the answer's transaction.

use std::time::{Duration, SystemTime};

use agent::{EventLog, Subscriber};
use domain::Event;
use domain::Owner;
use futures_util::FutureExt;
use store::{LogEntry, LogTail, StoreError, StreamLog, TurnLease};
use tokio::select;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// A turn that ends earlier costs no write.
pub const GRACE_PERIOD: Duration = Duration::from_secs(2);

/// The time between two flushes.
pub const FLUSH_INTERVAL: Duration = Duration::from_millis(250);

/// So many bytes of deltas do not wait for the next flush.
const FLUSH_BYTES: usize = 4096;

/// Timeout of a write.
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

    /// The rest of the log with the closing events, to be stored with the answer; `None` for a turn without a log, or when the
    /// rest does not fit the transaction. No write may be pending.
    pub(crate) fn end(&mut self, closing: &[Event]) -> Option<LogTail> {
        if self.is_over() {
            return None;
        }
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

    /// Deletes what was written: the conversation is deleted.
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

/// Events in their stored form, with the position of the first one.
#[derive(Debug, PartialEq, Eq)]
struct Batch {
    first: usize,
    events: Vec<LogEntry>,
}

/// Divides a turn's events into batches.
struct Batcher {
    /// The flush times of all turns are counted from here.
    origin: Instant,
    started_at: Instant,
    events: EventLog,
    subscriber: Subscriber,
    pending: Batch,
    /// When the pending events are flushed, unless the log reaches `flush_bytes` before.
    flush_at: Instant,
    flush_bytes: usize,
}

impl Batcher {
    fn new(events: &EventLog, origin: Instant) -> Self {
        let started_at = Instant::now();
        let pending = Batch { first: 0, events: Vec::new() };
        // The flush may fall on the very end of the grace period.
        let flush_at = next_flush(origin, started_at + GRACE_PERIOD.saturating_sub(Duration::from_nanos(1)));
        Self {
            origin,
            started_at,
            events: events.clone(),
            subscriber: events.subscribe(0),
            pending,
            flush_at,
            flush_bytes: FLUSH_BYTES,
        }
    }

    /// Whether the grace period is over.
    fn is_past_grace_period(&self) -> bool {
        Instant::now() >= self.started_at + GRACE_PERIOD
    }

    /// The next batch as soon as it is due; `None` once `ended` is cancelled.
    async fn next(&mut self, ended: &CancellationToken) -> Option<Batch> {
        select! {
            biased;
            () = ended.cancelled() => return None,
            () = sleep_until(self.flush_at) => {}
            () = self.has_enough_bytes() => {}
        }
        select! {
            biased;
            () = ended.cancelled() => return None,
            visited = self.subscriber.for_each_new(|event| self.pending.events.push(event.into())) => visited?,
        }
        Some(self.take_pending())
    }

    /// Returns when the log has reached `flush_bytes` after the grace period.
    async fn has_enough_bytes(&self) {
        sleep_until(self.started_at + GRACE_PERIOD).await;
        self.events.wait_for_bytes(self.flush_bytes).await;
    }

    /// All events that are not written yet, followed by the closing ones; they stay pending.
    fn rest(&mut self, closing: &[Event]) -> Batch {
        let mut add = |event: &Event| self.pending.events.push(event.into());
        while let Some(Some(())) = self.subscriber.for_each_new(&mut add).now_or_never() {}
        let Batch { first, events } = &self.pending;
        Batch { first: *first, events: events.iter().cloned().chain(closing.iter().map(LogEntry::from)).collect() }
    }

    fn take_pending(&mut self) -> Batch {
        self.flush_at = next_flush(self.origin, Instant::now());
        self.flush_bytes = self.events.bytes() + FLUSH_BYTES;
        let next = Batch { first: self.pending.first + self.pending.events.len(), events: Vec::new() };
        std::mem::replace(&mut self.pending, next)
    }
}

/// The first flush time after `now`.
fn next_flush(origin: Instant, now: Instant) -> Instant {
    let into = now.duration_since(origin).as_nanos() % FLUSH_INTERVAL.as_nanos();
    now + FLUSH_INTERVAL.saturating_sub(Duration::from_nanos(u64::try_from(into).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, sleep};

    use super::*;

    fn text(delta: &str) -> Event {
        Event::Text { delta: delta.to_owned() }
    }

    fn batch(first: usize, deltas: &[&str]) -> Batch {
        Batch { first, events: deltas.iter().map(|delta| LogEntry::from(&text(delta))).collect() }
    }

    async fn next(batches: &mut Batcher) -> Batch {
        batches.next(&CancellationToken::new()).await.unwrap()
    }

    fn start() -> (EventLog, Batcher, Instant) {
        let events = EventLog::default();
        let batches = Batcher::new(&events, Instant::now());
        (events, batches, Instant::now())
    }

    #[tokio::test(start_paused = true)]
    async fn first_batch_follows_the_grace_period() {
        let (events, mut batches, begun) = start();
        events.send(text("a"));
        events.send(text("b"));
        assert!(!batches.is_past_grace_period());
        assert_eq!(next(&mut batches).await, batch(0, &["a", "b"]));
        assert_eq!(begun.elapsed(), GRACE_PERIOD);
        assert!(batches.is_past_grace_period());
    }

    #[tokio::test(start_paused = true)]
    async fn new_events_are_flushed_every_quarter_second() {
        let (events, mut batches, begun) = start();
        events.send(text("a"));
        next(&mut batches).await;
        events.send(text("b"));
        assert_eq!(next(&mut batches).await, batch(1, &["b"]));
        assert_eq!(begun.elapsed(), GRACE_PERIOD + FLUSH_INTERVAL);
        let later = async {
            sleep(Duration::from_secs(1)).await;
            events.send(text("c"));
        };
        let (written, ()) = tokio::join!(next(&mut batches), later);
        assert_eq!(written, batch(2, &["c"]));
        assert_eq!(
            begun.elapsed(),
            GRACE_PERIOD + FLUSH_INTERVAL + Duration::from_secs(1),
            "a single event after a pause is flushed at once"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn many_bytes_are_flushed_at_once() {
        let (events, mut batches, begun) = start();
        let long = || text(&"x".repeat(FLUSH_BYTES));
        events.send(long());
        next(&mut batches).await;
        assert_eq!(begun.elapsed(), GRACE_PERIOD, "not before the grace period is over");
        events.send(text(&"x".repeat(FLUSH_BYTES - 1)));
        let later = async {
            sleep(FLUSH_INTERVAL / 5).await;
            events.send(text("x"));
        };
        let (written, ()) = tokio::join!(next(&mut batches), later);
        assert_eq!((written.first, written.events.len()), (1, 2));
        assert_eq!(begun.elapsed(), GRACE_PERIOD + FLUSH_INTERVAL / 5);
        events.send(long());
        assert_eq!(next(&mut batches).await.first, 3);
        assert_eq!(begun.elapsed(), GRACE_PERIOD + FLUSH_INTERVAL / 5);
        events.send(text("x"));
        next(&mut batches).await;
        assert_eq!(begun.elapsed(), GRACE_PERIOD + FLUSH_INTERVAL, "and then at the common flush time again");
    }

    #[tokio::test(start_paused = true)]
    async fn all_turns_flush_at_the_same_times() {
        let (_, mut batches, begun) = start();
        advance(FLUSH_INTERVAL / 5).await;
        let events = EventLog::default();
        let mut later = Batcher::new(&events, begun);
        events.send(text("a"));
        next(&mut later).await;
        assert_eq!(begun.elapsed(), GRACE_PERIOD + FLUSH_INTERVAL, "the first flush time after its grace period");
        assert_eq!((batches.take_pending(), batches.flush_at), (batch(0, &[]), later.flush_at));
    }

    #[tokio::test(start_paused = true)]
    async fn events_during_a_write_form_one_batch() {
        let (events, mut batches, _) = start();
        events.send(text("a"));
        next(&mut batches).await;
        for delta in ["b", "c", "d"] {
            advance(FLUSH_INTERVAL).await;
            events.send(text(delta));
        }
        let written = Instant::now();
        assert_eq!(next(&mut batches).await, batch(1, &["b", "c", "d"]));
        assert_eq!(written.elapsed(), Duration::ZERO);
    }

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

    #[tokio::test(start_paused = true)]
    async fn end_takes_all_pending_events_without_waiting() {
        let (events, mut batches, _) = start();
        let ended = CancellationToken::new();
        events.send(text("a"));
        batches.next(&ended).await;
        events.send(text("b"));
        ended.cancel();
        assert_eq!(batches.next(&ended).await, None);
        events.send(text("c"));
        assert_eq!(batches.rest(&[text("d")]), batch(1, &["b", "c", "d"]));
    }
}
