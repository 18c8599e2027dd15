//! What happens in a turn, kept for as long as the turn runs: every reader follows at its own pace, from wherever it
//! likes, and none can hold the turn up. The size is bounded: text beyond [`MAX_ANSWER_BYTES`] is dropped and the turn ends
//! there, reasoning beyond [`MAX_THINKING_BYTES`] is dropped.

use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use aside::Inmost;
use conversation::{Batch, Event, MAX_ANSWER_BYTES, MAX_THINKING_BYTES};
use futures_util::future::poll_fn;
use futures_util::stream::Stream;
use model::Attempts;

use crate::{Draft, Recording};

/// Where a turn's events go: into the draft, and to all who follow.
#[derive(Clone, Default)]
pub struct Events(Arc<Shared>);

#[derive(Default)]
struct Shared {
    inmost: Inmost,
    recording: OnceLock<Arc<dyn Recording>>,
    said: Mutex<Said>,
}

/// All that was said, as it is kept and as it is followed.
#[derive(Default)]
struct Said {
    log: Log,
    draft: Draft,
}

#[derive(Default)]
struct Log {
    events: Vec<Event>,
    closed: bool,
    /// The followers that have told all so far; the log itself says what is new.
    waiting: Vec<Waker>,
    /// The bytes of all words so far.
    bytes: usize,
    /// Who waits for so many bytes.
    brim: Option<(usize, Waker)>,
    /// Whether text was dropped because it was too much.
    is_full: bool,
    /// The task that waits for that.
    full: Option<Waker>,
}

/// What is read in the inmost place has it woken, which is a part of this: a waker of its own would be one more piece of
/// memory that each word needs.
impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.inmost.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.inmost.ring();
    }
}

/// Ends the followers' streams when dropped, whatever happened to the turn.
pub struct Closing(Events);

impl Events {
    /// Notes the event and passes it on to all followers.
    ///
    /// Text and reasoning beyond what is stored of an answer are dropped; with text, the turn ends with `length`.
    pub fn send(&self, mut event: Event) {
        if !self.said().fit(&mut event) {
            return;
        }
        if let Some(recording) = self.0.recording.get() {
            recording.event(&event);
        }
        let Said { log, draft } = &mut *self.said();
        draft.note(&event);
        log.bytes += words(&event);
        log.events.push(event);
        log.wake();
    }

    /// Has all events taken down, those so far too.
    pub(crate) fn record(&self, recording: &Arc<dyn Recording>) {
        self.said().log.events.iter().for_each(|event| recording.event(event));
        let _first = self.0.recording.set(Arc::clone(recording));
    }

    /// How many events there are so far.
    pub fn count(&self) -> usize {
        self.said().log.events.len()
    }

    /// How many bytes of words there are so far.
    pub fn bytes(&self) -> usize {
        self.said().log.bytes
    }

    /// Waits until there are so many bytes of words; one can wait at a time.
    pub async fn filled(&self, bytes: usize) {
        poll_fn(|context| {
            let log = &mut self.said().log;
            if log.bytes >= bytes {
                return Poll::Ready(());
            }
            log.brim = Some((bytes, context.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    /// Whether text was dropped because the answer is as long as one may be.
    pub(crate) fn is_full(&self) -> bool {
        self.said().log.is_full
    }

    /// Waits until text is dropped because the answer is as long as one may be; one task can wait at a time.
    pub(crate) async fn full(&self) {
        poll_fn(|context| {
            let log = &mut self.said().log;
            if log.is_full {
                return Poll::Ready(());
            }
            log.full = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The draft; to be let go before anything is awaited.
    pub fn draft(&self) -> impl DerefMut<Target = Draft> {
        DraftGuard(self.said())
    }

    /// Where the attempts at calls of models are kept.
    pub(crate) fn attempts(&self) -> Attempts {
        self.draft().attempts.clone()
    }

    /// All events from the `first` on (counted from 0), in batches of as many as are ready; ends when the turn does.
    pub fn follow(&self, first: usize) -> Follower {
        Follower { events: self.clone(), next: first }
    }

    /// Where replies are read, for whoever runs the turn.
    pub fn inmost(&self) -> &Inmost {
        &self.0.inmost
    }

    /// Rings where replies are read.
    pub fn inmost_waker(&self) -> Waker {
        Arc::clone(&self.0).into()
    }

    /// A guard for whoever runs the turn.
    pub fn closing(&self) -> Closing {
        Closing(self.clone())
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        // A panic elsewhere in the turn leaves it whole: every change to it is one step.
        self.0.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct DraftGuard<'a>(MutexGuard<'a, Said>);

impl Deref for DraftGuard<'_> {
    type Target = Draft;

    fn deref(&self) -> &Draft {
        &self.0.draft
    }
}

impl DerefMut for DraftGuard<'_> {
    fn deref_mut(&mut self) -> &mut Draft {
        &mut self.0.draft
    }
}

/// The bytes of what is said by an event; what else happens is rare.
fn words(event: &Event) -> usize {
    match event {
        Event::Text { delta } | Event::Thinking { delta } => delta.len(),
        Event::ToolProgress(progress) => progress.text.len(),
        _ => 0,
    }
}

/// The events of a turn from some place on, as a stream of batches.
pub struct Follower {
    events: Events,
    next: usize,
}

impl Follower {
    /// Whom it follows.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// What is ready, for whoever makes the events and need not be woken for them.
    pub fn poll_ready(&mut self) -> Poll<Option<Batch>> {
        let batch = self.events.said().log.since(self.next);
        self.told(batch)
    }

    /// Waits for more, and looks at it where it stands; `None` at the end. Nothing of the turn may be asked meanwhile.
    pub async fn look(&mut self, mut look: impl FnMut(&Event)) -> Option<()> {
        poll_fn(|context| {
            let log = &mut self.events.said().log;
            let new = log.events.get(self.next..).unwrap_or_default();
            if new.is_empty() && !log.closed {
                log.wait(context.waker());
                return Poll::Pending;
            }
            new.iter().for_each(&mut look);
            let more = !new.is_empty();
            self.next += new.len();
            Poll::Ready(more.then_some(()))
        })
        .await
    }

    fn told(&mut self, batch: Option<Batch>) -> Poll<Option<Batch>> {
        let Some(batch) = batch else { return Poll::Pending };
        self.next += batch.len();
        Poll::Ready((!batch.is_empty()).then_some(batch))
    }
}

impl Stream for Follower {
    type Item = Batch;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let batch = {
            let log = &mut self.events.said().log;
            let batch = log.since(self.next);
            if batch.is_none() {
                log.wait(context.waker());
            }
            batch
        };
        self.told(batch)
    }
}

impl Said {
    /// Cuts text to what still fits; whether anything is left of the event.
    fn fit(&mut self, event: &mut Event) -> bool {
        match event {
            Event::Text { delta } => {
                let fits = cut(delta, MAX_ANSWER_BYTES.saturating_sub(self.draft.content.len()));
                if !fits {
                    self.log.is_full = true;
                    self.log.full.take().into_iter().for_each(Waker::wake);
                }
                fits || !delta.is_empty()
            }
            // The answer goes on without the rest of its reasoning.
            Event::Thinking { delta } => {
                cut(delta, MAX_THINKING_BYTES.saturating_sub(self.draft.thinking.len())) || !delta.is_empty()
            }
            _ => true,
        }
    }
}

/// Cuts a text at a character so that it has at most so many bytes; whether it was short enough.
fn cut(text: &mut String, most: usize) -> bool {
    let fits = text.len() <= most;
    if !fits {
        text.truncate(text.floor_char_boundary(most));
    }
    fits
}

impl Log {
    /// What is new from `next` on: `None` to wait for more, an empty batch at the end.
    fn since(&self, next: usize) -> Option<Batch> {
        let new = self.events.get(next..).unwrap_or_default();
        (!new.is_empty() || self.closed).then(|| new.into())
    }

    /// Has a follower woken when there is more.
    fn wait(&mut self, follower: &Waker) {
        if !self.waiting.iter().any(|waiting| waiting.will_wake(follower)) {
            self.waiting.push(follower.clone());
        }
    }

    fn wake(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
        let bytes = self.bytes;
        if let Some((_, waker)) = self.brim.take_if(|(brim, _)| bytes >= *brim) {
            waker.wake();
        }
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        let log = &mut self.0.said().log;
        log.closed = true;
        log.wake();
        // So much will not be said any more, and who waited for it is a part of the turn.
        (log.brim, log.full) = (None, None);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::{FutureExt, StreamExt};

    use super::*;

    fn text(events: &Events, delta: &str) {
        events.send(Event::Text { delta: delta.into() });
    }

    async fn all(stream: impl Stream<Item = Batch>) -> String {
        let batches: Vec<_> = stream.collect().await;
        let deltas = batches.iter().flatten().map(|event| match event {
            Event::Text { delta } => delta.as_str(),
            _ => "?",
        });
        deltas.collect()
    }

    #[tokio::test]
    async fn every_follower_gets_all_from_where_it_likes_also_after_the_end() {
        let events = Events::default();
        let closing = events.closing();
        let early = tokio::spawn(all(events.follow(0)));
        for delta in ["a", "b", "c"] {
            text(&events, delta);
            tokio::task::yield_now().await;
        }
        let second = events.follow(1);
        drop(closing);
        assert_eq!(early.await.unwrap(), "abc");
        assert_eq!(all(second).await, "bc");
        assert_eq!(all(events.follow(0)).await, "abc");
        assert_eq!(all(events.follow(9)).await, "");
    }

    #[tokio::test]
    async fn who_looks_sees_what_is_new_once_and_the_end() {
        let events = Events::default();
        let (closing, mut follower, mut seen) = (events.closing(), events.follow(1), String::new());
        text(&events, "a");
        let mut look = |follower: &mut Follower| {
            let looked = follower.look(|event| {
                let Event::Text { delta } = event else { return };
                seen.push_str(delta);
            });
            (looked.now_or_never(), seen.clone())
        };
        assert_eq!(look(&mut follower), (None, String::new()));
        text(&events, "b");
        text(&events, "c");
        assert_eq!(look(&mut follower), (Some(Some(())), "bc".to_owned()));
        assert_eq!(look(&mut follower), (None, "bc".to_owned()));
        text(&events, "d");
        drop(closing);
        assert_eq!(look(&mut follower), (Some(Some(())), "bcd".to_owned()));
        assert_eq!(look(&mut follower), (Some(None), "bcd".to_owned()));
    }

    #[tokio::test]
    async fn what_is_ready_comes_in_one_batch() {
        let events = Events::default();
        let mut follower = pin!(events.follow(0));
        text(&events, "a");
        text(&events, "b");
        assert_eq!(follower.next().await.unwrap().len(), 2);
    }

    #[tokio::test]
    async fn f096_a_follower_that_left_does_not_stop_the_turn() {
        let events = Events::default();
        drop(events.follow(0));
        text(&events, "kept");
        assert_eq!(events.draft().content, "kept");
    }

    #[tokio::test]
    async fn text_beyond_the_longest_answer_is_dropped() {
        let events = Events::default();
        let mut full = pin!(events.full());
        text(&events, &"é".repeat(MAX_ANSWER_BYTES / 2 - 1));
        text(&events, "a");
        assert_eq!(full.as_mut().now_or_never(), None);
        text(&events, "é");
        assert_eq!((full.now_or_never(), events.draft().content.len()), (Some(()), MAX_ANSWER_BYTES - 1));
        events.send(Event::Thinking { delta: "x".repeat(MAX_THINKING_BYTES + 1) });
        assert_eq!(events.draft().thinking.len(), MAX_THINKING_BYTES);
        assert_eq!(events.count(), 3);
    }

    #[test]
    fn reasoning_beyond_its_bound_does_not_end_the_answer() {
        let events = Events::default();
        for _ in 0..3 {
            events.send(Event::Thinking { delta: "é".repeat(MAX_THINKING_BYTES / 2) });
        }
        text(&events, "and the answer");
        assert_eq!((events.is_full(), events.draft().content.as_str()), (false, "and the answer"));
        assert_eq!(events.draft().thinking.len(), MAX_THINKING_BYTES);
    }

    #[tokio::test]
    async fn f097_a_client_that_does_not_read_cannot_hold_the_turn_up() {
        let events = Events::default();
        let _unread = events.follow(0);
        (0..10_000).for_each(|_| text(&events, "x"));
        assert_eq!(events.draft().content.len(), 10_000);
    }
}
