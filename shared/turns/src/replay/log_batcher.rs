//! Divides a turn's events into the batches that the log writer writes.

use std::time::Duration;

use agent::{EventLog, Subscriber};
use domain::{AnswerDelta, Event, Note, ToolEvent};
use futures_util::FutureExt;
use store::LogEntry;
use tokio::select;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// No event is written before a turn is this old: a short turn costs no write.
pub const GRACE_PERIOD: Duration = Duration::from_secs(2);

/// The time between two flushes.
pub const FLUSH_INTERVAL: Duration = Duration::from_millis(250);

/// This many bytes of deltas are flushed at once.
const FLUSH_BYTES: usize = 4096;

/// Events in their stored form, with the position of the first one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Batch {
    pub(super) first: usize,
    pub(super) events: Vec<LogEntry>,
}

/// Divides a turn's events into batches.
pub(super) struct Batcher {
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
    pub(super) fn new(events: &EventLog, origin: Instant) -> Self {
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
    pub(super) fn is_past_grace_period(&self) -> bool {
        Instant::now() >= self.started_at + GRACE_PERIOD
    }

    /// The next batch as soon as it is due; `None` once `ended` is cancelled.
    pub(super) async fn next(&mut self, ended: &CancellationToken) -> Option<Batch> {
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
    pub(super) fn rest(&mut self, closing: &[Event]) -> Batch {
        let mut add = |event: &Event| self.pending.events.push(event.into());
        while let Some(Some(())) = self.subscriber.for_each_new(&mut add).now_or_never() {}
        let Batch { first, events } = &self.pending;
        Batch { first: *first, events: events.iter().cloned().chain(closing.iter().map(LogEntry::from)).collect() }
    }

    /// Whether the turn has events that cannot be rebuilt from its answer.
    pub(super) fn needs_log(&self) -> bool {
        let (mut needs_log, mut subscriber) = (false, self.events.subscribe(0));
        while let Some(Some(())) = subscriber.for_each_new(|event| needs_log |= !is_in_answer(event)).now_or_never() {}
        needs_log
    }

    fn take_pending(&mut self) -> Batch {
        self.flush_at = next_flush(self.origin, Instant::now());
        self.flush_bytes = self.events.bytes() + FLUSH_BYTES;
        let next = Batch { first: self.pending.first + self.pending.events.len(), events: Vec::new() };
        std::mem::replace(&mut self.pending, next)
    }
}

/// Whether an event can be rebuilt from the stored answer.
fn is_in_answer(event: &Event) -> bool {
    match event {
        Event::Started(_)
        | Event::Delta(AnswerDelta::Text(_) | AnswerDelta::Thinking(_))
        | Event::Tool(ToolEvent::Call(_) | ToolEvent::Result(_))
        | Event::Note(Note::Title(_) | Note::Usage(_))
        | Event::End(_) => true,
        Event::Delta(AnswerDelta::Reclassified(_))
        | Event::Tool(ToolEvent::Progress(_) | ToolEvent::ClientCall(_))
        | Event::Note(Note::ModelSwitched(_) | Note::EarlierSource(_)) => false,
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
        Event::Delta(AnswerDelta::Text(delta.to_owned()))
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
