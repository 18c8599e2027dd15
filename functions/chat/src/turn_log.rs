//! Writes what happens in a turn to the store while it runs, so that other processes can tell it.
//!
//! Nothing is written before a turn has run for two seconds, and never more than one batch at a time. It runs beside the
//! turn: a store that is slow or fails holds nothing up, but the end for a moment where a write is on its way. After a
//! write that failed nothing more is written of this turn, so that no reader sees a gap.
//!
//! All turns write at the same moments, a few requests for all of them, and between these no word of theirs wakes anything
//! here: requests and wakings are what words cost most. A turn that says very much meanwhile does not wait for the moment.
//! The end is no write of its own: it goes along with the answer.

use std::time::{Duration, SystemTime};

use agent::{EventLog, Subscriber};
use conversation::Event;
use futures_util::FutureExt;
use store::{LoggedEnd, Owner, StoreError, StreamLog, TurnLease};
use tokio::select;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// A turn that is over before costs no write.
pub const AFTER: Duration = Duration::from_secs(2);

/// The time between two writes.
pub const PERIOD: Duration = Duration::from_millis(250);

/// The bytes of words that do not wait for the next moment.
const MUCH: usize = 4096;

/// The longest that is waited for a write, and for one that holds the end of a turn up.
const PATIENCE: Duration = Duration::from_secs(2);
const MOMENT: Duration = Duration::from_millis(300);

/// The log of one turn.
pub(crate) struct TurnLog<'a> {
    streams: &'a StreamLog,
    owner: &'a Owner,
    turn: &'a TurnLease,
    batches: Batches,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing is written.
    Empty,
    Written,
    /// Nothing more is to be written: the end is stored, or the turn was too short for a log.
    Ended,
    /// A write failed, or may still happen.
    GivenUp,
}

impl<'a> TurnLog<'a> {
    /// The log of a turn that begins now.
    pub(crate) fn new(streams: &'a StreamLog, owner: &'a Owner, turn: &'a TurnLease, events: &EventLog) -> Self {
        Self { streams, owner, turn, batches: Batches::new(events, streams.begun()), state: State::Empty }
    }

    /// Writes what happens, until `ended` is cancelled; a write that is on its way then has a moment left.
    pub(crate) async fn follow(&mut self, ended: &CancellationToken) {
        while self.state != State::GivenUp
            && let Some(batch) = self.batches.next(ended).await
        {
            if !in_time(self.write(batch), ended).await {
                self.give_up(None);
            }
        }
    }

    /// The rest of a turn with the events that end it, which nobody has seen yet, to be stored with its answer; `None` for
    /// a turn that has no log, and where it cannot go along. Nothing may be on its way.
    pub(crate) fn end(&mut self, last: &[Event]) -> Option<LoggedEnd> {
        if self.is_over() {
            return None;
        }
        let Batch { first, events } = self.batches.rest(last);
        self.streams.end(self.owner, self.turn, first, &events, SystemTime::now())
    }

    /// Notes that the answer is stored, and whether the end is with it. A log that was not begun before is not begun
    /// any more.
    pub(crate) fn stored(&mut self, along: bool) {
        if along || self.state == State::Empty {
            self.state = State::Ended;
        }
    }

    /// Writes the rest of a turn and the events that end it, unless that is done or there is no log.
    pub(crate) async fn finish(&mut self, last: &[Event]) {
        if !self.is_over() {
            let batch = self.batches.rest(last);
            self.write(batch).await;
        }
    }

    fn is_over(&self) -> bool {
        match self.state {
            State::Empty => !self.batches.is_due(),
            State::Written => false,
            State::Ended | State::GivenUp => true,
        }
    }

    /// Whether something may have been written since the answer was stored, which no deletion until then has seen.
    pub(crate) fn is_late(&self) -> bool {
        matches!(self.state, State::Written | State::GivenUp)
    }

    /// Deletes what was written: the conversation is gone.
    pub(crate) async fn discard(&mut self) {
        if self.state == State::Empty {
            return;
        }
        let deleted = self.streams.forget(self.owner, &self.turn.conversation_id, Some(&self.turn.turn_id));
        if !matches!(timeout(PATIENCE, deleted).await, Ok(Ok(()))) {
            tracing::warn!(turn = %self.turn.turn_id, "the events of a turn could not be deleted; they expire");
        }
    }

    async fn write(&mut self, Batch { first, events }: Batch) {
        let written = self.streams.append(self.owner, self.turn, first, &events, SystemTime::now());
        self.state = match timeout(PATIENCE, written).await {
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

/// Whether a write is over a moment after `ended` is cancelled at the latest.
async fn in_time(write: impl Future<Output = ()>, ended: &CancellationToken) -> bool {
    select! {
        biased;
        () = write => true,
        () = ended.cancelled().then(|()| sleep(MOMENT)) => false,
    }
}

/// EventLog as JSON, the first of which has this number in its turn.
#[derive(Debug, PartialEq, Eq)]
struct Batch {
    first: usize,
    events: Vec<String>,
}

/// Divides what happens in a turn into batches.
struct Batches {
    /// From when on the moments are counted at which all turns write.
    origin: Instant,
    begun: Instant,
    events: EventLog,
    subscriber: Subscriber,
    waiting: Batch,
    /// When what waits is to be written, unless there are so many bytes of words before.
    due: Instant,
    brim: usize,
}

impl Batches {
    fn new(events: &EventLog, origin: Instant) -> Self {
        let begun = Instant::now();
        let waiting = Batch { first: 0, events: Vec::new() };
        // It may be the very moment at which the time is over.
        let due = next_moment(origin, begun + AFTER.saturating_sub(Duration::from_nanos(1)));
        Self { origin, begun, events: events.clone(), subscriber: events.subscribe(0), waiting, due, brim: MUCH }
    }

    /// Whether the turn has run for long enough.
    fn is_due(&self) -> bool {
        Instant::now() >= self.begun + AFTER
    }

    /// The next batch as soon as it is to be written; `None` once `ended` is cancelled.
    async fn next(&mut self, ended: &CancellationToken) -> Option<Batch> {
        select! {
            biased;
            () = ended.cancelled() => return None,
            () = sleep_until(self.due) => {}
            () = self.filled() => {}
        }
        select! {
            biased;
            () = ended.cancelled() => return None,
            looked = self.subscriber.for_each_new(|event| self.waiting.events.push(json(event))) => looked?,
        }
        Some(self.take())
    }

    /// Ends when very much was said of a turn that has run for long enough.
    async fn filled(&self) {
        sleep_until(self.begun + AFTER).await;
        self.events.wait_for_bytes(self.brim).await;
    }

    /// All that happened and is not written yet, with these events behind it; it stays unwritten.
    fn rest(&mut self, last: &[Event]) -> Batch {
        let mut add = |event: &Event| self.waiting.events.push(json(event));
        while let Some(Some(())) = self.subscriber.for_each_new(&mut add).now_or_never() {}
        let Batch { first, events } = &self.waiting;
        Batch { first: *first, events: events.iter().cloned().chain(last.iter().map(json)).collect() }
    }

    fn take(&mut self) -> Batch {
        self.due = next_moment(self.origin, Instant::now());
        self.brim = self.events.bytes() + MUCH;
        let next = Batch { first: self.waiting.first + self.waiting.events.len(), events: Vec::new() };
        std::mem::replace(&mut self.waiting, next)
    }
}

/// Plain data, which can always be written as JSON.
fn json(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

/// The first moment after `now` at which logs are written.
fn next_moment(origin: Instant, now: Instant) -> Instant {
    let into = now.duration_since(origin).as_nanos() % PERIOD.as_nanos();
    now + PERIOD.saturating_sub(Duration::from_nanos(u64::try_from(into).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, sleep};

    use super::*;

    fn text(delta: &str) -> Event {
        Event::Text { delta: delta.to_owned() }
    }

    fn batch(first: usize, deltas: &[&str]) -> Batch {
        Batch { first, events: deltas.iter().map(|delta| serde_json::to_string(&text(delta)).unwrap()).collect() }
    }

    async fn next(batches: &mut Batches) -> Batch {
        batches.next(&CancellationToken::new()).await.unwrap()
    }

    fn start() -> (EventLog, Batches, Instant) {
        let events = EventLog::default();
        let batches = Batches::new(&events, Instant::now());
        (events, batches, Instant::now())
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_written_for_two_seconds_and_then_all_that_was_said() {
        let (events, mut batches, begun) = start();
        events.send(text("a"));
        events.send(text("b"));
        assert!(!batches.is_due());
        assert_eq!(next(&mut batches).await, batch(0, &["a", "b"]));
        assert_eq!(begun.elapsed(), AFTER);
        assert!(batches.is_due());
    }

    #[tokio::test(start_paused = true)]
    async fn then_a_batch_follows_every_quarter_of_a_second_when_there_is_something_new() {
        let (events, mut batches, begun) = start();
        events.send(text("a"));
        next(&mut batches).await;
        events.send(text("b"));
        assert_eq!(next(&mut batches).await, batch(1, &["b"]));
        assert_eq!(begun.elapsed(), AFTER + PERIOD);
        let later = async {
            sleep(Duration::from_secs(1)).await;
            events.send(text("c"));
        };
        let (written, ()) = tokio::join!(next(&mut batches), later);
        assert_eq!(written, batch(2, &["c"]));
        assert_eq!(
            begun.elapsed(),
            AFTER + PERIOD + Duration::from_secs(1),
            "what is alone after a pause goes at once"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn much_that_is_said_does_not_wait_for_the_moment() {
        let (events, mut batches, begun) = start();
        let much = || text(&"x".repeat(MUCH));
        events.send(much());
        next(&mut batches).await;
        assert_eq!(begun.elapsed(), AFTER, "not before its two seconds");
        events.send(text(&"x".repeat(MUCH - 1)));
        let later = async {
            sleep(PERIOD / 5).await;
            events.send(text("x"));
        };
        let (written, ()) = tokio::join!(next(&mut batches), later);
        assert_eq!((written.first, written.events.len()), (1, 2));
        assert_eq!(begun.elapsed(), AFTER + PERIOD / 5);
        events.send(much());
        assert_eq!(next(&mut batches).await.first, 3);
        assert_eq!(begun.elapsed(), AFTER + PERIOD / 5);
        events.send(text("x"));
        next(&mut batches).await;
        assert_eq!(begun.elapsed(), AFTER + PERIOD, "and then at the moment of all again");
    }

    #[tokio::test(start_paused = true)]
    async fn all_turns_write_at_the_same_moments() {
        let (_, mut batches, begun) = start();
        advance(PERIOD / 5).await;
        let events = EventLog::default();
        let mut later = Batches::new(&events, begun);
        events.send(text("a"));
        next(&mut later).await;
        assert_eq!(begun.elapsed(), AFTER + PERIOD, "the first one behind its two seconds");
        assert_eq!((batches.take(), batches.due), (batch(0, &[]), later.due));
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_during_a_write_is_one_batch_after_it() {
        let (events, mut batches, _) = start();
        events.send(text("a"));
        next(&mut batches).await;
        for delta in ["b", "c", "d"] {
            advance(PERIOD).await;
            events.send(text(delta));
        }
        let written = Instant::now();
        assert_eq!(next(&mut batches).await, batch(1, &["b", "c", "d"]));
        assert_eq!(written.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_that_is_on_its_way_holds_the_end_of_a_turn_up_for_a_moment_at_most() {
        let (ended, begun) = (CancellationToken::new(), Instant::now());
        assert!(in_time(sleep(PATIENCE), &ended).await, "before the end it has all its time");
        assert_eq!(begun.elapsed(), PATIENCE);
        ended.cancel();
        assert!(in_time(sleep(MOMENT / 2), &ended).await);
        let begun = Instant::now();
        assert!(!in_time(sleep(PATIENCE), &ended).await);
        assert_eq!(begun.elapsed(), MOMENT);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_turn_does_not_wait_and_takes_everything_along() {
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
