//! The log of a turn's events. It lives as long as the turn, is append-only, and any number of subscribers read it, each at
//! its own pace and from any position, so that no subscriber can delay the turn. Its size is bounded: text beyond
//! [`MAX_ANSWER_BYTES`] is dropped and the turn ends there; reasoning beyond [`MAX_THINKING_BYTES`] is dropped.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use domain::{AnswerDelta, Event, EventBatch, MAX_ANSWER_BYTES, MAX_THINKING_BYTES, Note, ToolEvent, TurnAccumulator};
use futures_util::stream::{Stream, unfold};
use llm::AttemptLog;
use redaction::StreamRedactor;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tools::SourceNumbers;
use work::lock;

use crate::answer_filter::AnswerFilter;
use crate::citation_filter::FilteredAnswer;
use crate::{TurnRecorder, TurnState};

/// The events of a turn, with the state that they add up to; clones share one log.
#[derive(Clone, Default)]
pub struct EventLog(Arc<Shared>);

#[derive(Default)]
struct Shared {
    recording: OnceLock<Arc<dyn TurnRecorder>>,
    state: Mutex<LogState>,
    /// Notified when subscribers have something to read.
    readable: Notify,
    /// Notified when the log has as many bytes as [`EventLog::wait_for_bytes`] waits for.
    enough_bytes: Notify,
    /// Cancelled once text was dropped because the answer is as long as one may be.
    full: CancellationToken,
}

#[derive(Default)]
struct LogState {
    events: Vec<Event>,
    is_closed: bool,
    /// The bytes of all deltas so far.
    bytes: usize,
    /// How many bytes a task waits for, if one does.
    awaited_bytes: Option<usize>,
    filter: AnswerFilter,
    turn_state: TurnState,
}

/// A log holds an event for each delta: no other event makes them larger.
const _: () = assert!(size_of::<Event>() <= size_of::<String>() + size_of::<usize>());

/// Ends the subscribers' streams when dropped, however the turn ended.
pub struct CloseGuard(EventLog);

impl EventLog {
    /// The log of a turn that continues an answer with this text and reasoning, which are in its state and no event.
    pub fn continuing(content: &str, thinking: &str) -> Self {
        let log = Self::default();
        let mut state = log.turn_state();
        (state.answer.content, state.answer.thinking) = (content.to_owned(), thinking.to_owned());
        drop(state);
        log
    }

    /// Appends the event and wakes all subscribers.
    ///
    /// Text and reasoning beyond what is stored of an answer are dropped; with text, the turn ends with `length`.
    pub fn send(&self, event: Event) {
        self.append(event);
        self.notify();
    }

    /// Appends the event and leaves the subscribers asleep: [`Self::notify`] must follow.
    ///
    /// Text and reasoning are filtered; what cannot be decided yet is held back.
    pub(crate) fn append(&self, event: Event) {
        let mut state = lock(&self.0.state);
        match event {
            Event::Delta(AnswerDelta::Text(delta)) => {
                let filtered = state.filter.push_text(delta);
                self.append_answer(&mut state, filtered);
            }
            Event::Delta(AnswerDelta::Thinking(delta)) => {
                let filtered = state.filter.push_thinking(delta);
                self.append_answer(&mut state, filtered);
            }
            Event::Tool(ToolEvent::Call(_) | ToolEvent::ClientCall(_)) => {
                let held = state.filter.finish();
                self.append_answer(&mut state, held);
                self.append_filtered(&mut state, event);
            }
            event => self.append_filtered(&mut state, event),
        }
    }

    /// Appends the text that is held back at the end of a reply: [`Self::notify`] must follow.
    pub(crate) fn append_held(&self) {
        let mut state = lock(&self.0.state);
        let held = state.filter.finish();
        self.append_answer(&mut state, held);
    }

    /// Appends a part of an answer that no model wrote, as it is, and wakes all subscribers.
    pub(crate) fn send_result(&self, text: String) {
        self.append_answer(&mut lock(&self.0.state), FilteredAnswer { text, ..FilteredAnswer::default() });
        self.notify();
    }

    /// Drops the text that is held back of a reply that did not end.
    pub(crate) fn discard_held(&self) {
        lock(&self.0.state).filter.discard();
    }

    /// Filters the answer that follows by these sources, and masks personal data in it if there is a redactor.
    pub(crate) fn filter_answer(&self, sources: SourceNumbers, redactor: Option<StreamRedactor>) {
        lock(&self.0.state).filter = AnswerFilter::new(sources, redactor);
    }

    fn append_answer(&self, state: &mut LogState, filtered: FilteredAnswer) {
        if !filtered.thinking.is_empty() {
            self.append_filtered(state, Event::Delta(AnswerDelta::Thinking(filtered.thinking)));
        }
        for source in filtered.cited {
            if !state.turn_state.answer.sources.iter().any(|known| known.url == source.url) {
                self.append_filtered(state, Event::Note(Note::EarlierSource(Box::new(source))));
            }
        }
        if filtered.text.is_empty() {
            return;
        }
        let line_breaks = state.turn_state.line_breaks_before(&filtered.text);
        if !line_breaks.is_empty() {
            self.append_filtered(state, Event::Delta(AnswerDelta::Text(line_breaks.to_owned())));
            state.turn_state.skip_line_breaks();
        }
        self.append_filtered(state, Event::Delta(AnswerDelta::Text(filtered.text)));
    }

    fn append_filtered(&self, state: &mut LogState, mut event: Event) {
        if !self.truncate_to_limits(&state.turn_state.answer, &mut event) {
            return;
        }
        if let Some(recording) = self.0.recording.get() {
            recording.on_event(&event);
        }
        state.turn_state.apply(&event);
        state.bytes += delta_bytes(&event);
        state.events.push(event);
        let bytes = state.bytes;
        if state.awaited_bytes.take_if(|awaited| bytes >= *awaited).is_some() {
            self.0.enough_bytes.notify_one();
        }
    }

    pub(crate) fn notify(&self) {
        self.0.readable.notify_waiters();
    }

    /// Has all events recorded, including those so far.
    pub(crate) fn record(&self, recording: &Arc<dyn TurnRecorder>) {
        lock(&self.0.state).events.iter().for_each(|event| recording.on_event(event));
        let _first = self.0.recording.set(Arc::clone(recording));
    }

    /// The number of events so far.
    pub fn count(&self) -> usize {
        lock(&self.0.state).events.len()
    }

    /// The bytes of all deltas so far.
    pub fn bytes(&self) -> usize {
        lock(&self.0.state).bytes
    }

    /// Waits until the deltas have so many bytes; one task may wait at a time.
    pub async fn wait_for_bytes(&self, bytes: usize) {
        loop {
            {
                let mut state = lock(&self.0.state);
                if state.bytes >= bytes {
                    return;
                }
                state.awaited_bytes = Some(bytes);
            }
            self.0.enough_bytes.notified().await;
        }
    }

    /// Whether text was dropped because the answer is as long as one may be.
    pub(crate) fn is_full(&self) -> bool {
        self.0.full.is_cancelled()
    }

    pub(crate) async fn wait_until_full(&self) {
        self.0.full.cancelled().await;
    }

    /// Whether the last event is one that ends a turn.
    pub fn has_ended(&self) -> bool {
        lock(&self.0.state).events.last().is_some_and(Event::is_end)
    }

    /// The state of the turn; the guard must be dropped before anything is awaited.
    pub fn turn_state(&self) -> impl DerefMut<Target = TurnState> {
        TurnStateGuard(lock(&self.0.state))
    }

    pub(crate) fn attempts(&self) -> AttemptLog {
        self.turn_state().attempts.clone()
    }

    /// A subscriber to all events from the `first` on (counted from 0).
    pub fn subscribe(&self, first: usize) -> Subscriber {
        Subscriber { log: self.clone(), next: first }
    }

    /// A guard for the task that runs the turn.
    pub fn close_guard(&self) -> CloseGuard {
        CloseGuard(self.clone())
    }

    /// Truncates text and reasoning to what still fits; whether anything is left of the event.
    fn truncate_to_limits(&self, answer: &TurnAccumulator, event: &mut Event) -> bool {
        let (delta, max_bytes, is_text) = match event {
            Event::Delta(AnswerDelta::Text(delta)) => {
                (delta, MAX_ANSWER_BYTES.saturating_sub(answer.content.len()), true)
            }
            Event::Delta(AnswerDelta::Thinking(delta)) => {
                (delta, MAX_THINKING_BYTES.saturating_sub(answer.thinking.len()), false)
            }
            Event::Started(_)
            | Event::Delta(AnswerDelta::Reclassified(_))
            | Event::Tool(_)
            | Event::Note(_)
            | Event::End(_) => return true,
        };
        let fits = delta.len() <= max_bytes;
        delta.truncate(delta.floor_char_boundary(max_bytes));
        // The answer continues without the rest of its reasoning.
        if !fits && is_text {
            self.0.full.cancel();
        }
        fits || !delta.is_empty()
    }
}

struct TurnStateGuard<'a>(MutexGuard<'a, LogState>);

impl Deref for TurnStateGuard<'_> {
    type Target = TurnState;

    fn deref(&self) -> &TurnState {
        &self.0.turn_state
    }
}

impl DerefMut for TurnStateGuard<'_> {
    fn deref_mut(&mut self) -> &mut TurnState {
        &mut self.0.turn_state
    }
}

/// The bytes of an event's delta; 0 for the other, infrequent events.
fn delta_bytes(event: &Event) -> usize {
    match event {
        Event::Delta(AnswerDelta::Text(delta) | AnswerDelta::Thinking(delta)) => delta.len(),
        Event::Tool(ToolEvent::Progress(progress)) => progress.text.len(),
        Event::Started(_)
        | Event::Delta(AnswerDelta::Reclassified(_))
        | Event::Tool(ToolEvent::Call(_) | ToolEvent::Result(_) | ToolEvent::ClientCall(_))
        | Event::Note(_)
        | Event::End(_) => 0,
    }
}

/// Reads a log from one position on. It may be dropped at any time.
pub struct Subscriber {
    log: EventLog,
    next: usize,
}

impl Subscriber {
    /// All events that are ready, as soon as there is one; `None` at the end. Dropping the future loses no event.
    pub async fn next(&mut self) -> Option<EventBatch> {
        self.read(|events| EventBatch::from(events)).await
    }

    /// Passes each new event to `visit` as soon as there is one, under the log's lock; `None` at the end.
    pub async fn for_each_new(&mut self, mut visit: impl FnMut(&Event)) -> Option<()> {
        self.read(|events| events.iter().for_each(&mut visit)).await
    }

    /// Batches of as many events as are ready; the stream ends with the turn.
    pub fn into_stream(self) -> impl Stream<Item = EventBatch> + Send {
        unfold(self, |mut subscriber| async move { Some((subscriber.next().await?, subscriber)) })
    }

    async fn read<T>(&mut self, mut take: impl FnMut(&[Event]) -> T) -> Option<T> {
        loop {
            // Registered before the log is read, so that no notification is lost in between.
            let readable = self.log.0.readable.notified();
            {
                let state = lock(&self.log.0.state);
                let new = state.events.get(self.next..).unwrap_or_default();
                if !new.is_empty() {
                    self.next += new.len();
                    return Some(take(new));
                }
                if state.is_closed {
                    return None;
                }
            }
            readable.await;
        }
    }
}

impl Drop for CloseGuard {
    fn drop(&mut self) {
        lock(&self.0.0.state).is_closed = true;
        self.0.notify();
    }
}

#[cfg(test)]
mod tests;
