use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use conversation::{Event, Message, Source, ToolCall, ToolReport, ToolResult, Usage};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

/// What has been said and done in a turn so far; whatever ends the turn, this is what is kept of it.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// All text that was shown.
    pub content: String,
    /// All reasoning.
    pub thinking: String,
    /// The calls in the order in which they were made.
    pub calls: Vec<CallRecord>,
    /// The pages of all results, each once.
    pub sources: Vec<Source>,
    /// What was consumed.
    pub usage: Usage,
    /// The finished rounds, as a later prompt needs them.
    transcript: Vec<Message>,
    /// How much of `content` and `thinking` the finished rounds hold.
    closed: (usize, usize),
}

/// A call and, once it has finished, how it went.
#[derive(Clone, Debug)]
pub struct CallRecord {
    /// As the model made it.
    pub call: ToolCall,
    /// `None` while it runs.
    pub report: Option<ToolReport>,
}

impl Draft {
    fn note(&mut self, event: &Event) {
        match event {
            Event::Text { delta } => self.content.push_str(delta),
            Event::Thinking { delta } => self.thinking.push_str(delta),
            Event::ToolCall(call) => self.calls.push(CallRecord { call: call.clone(), report: None }),
            Event::ToolResult(report) => {
                Source::join(&mut self.sources, &report.sources);
                if let Some(record) = self.calls.iter_mut().find(|record| record.call.id == report.id) {
                    record.report = Some(report.clone());
                }
            }
            _ => {}
        }
    }

    /// Closes a round: what was said since the last one, the calls it made, and their results.
    pub(crate) fn close_round(&mut self, calls: Vec<ToolCall>, results: Vec<ToolResult>) {
        let (text, thinking) = self.open_round();
        if text.is_empty() && thinking.is_empty() && calls.is_empty() {
            return;
        }
        self.closed = (self.content.len(), self.thinking.len());
        self.transcript.push(Message::Assistant { text, thinking, calls });
        self.transcript.extend(results.into_iter().map(Message::Tool));
    }

    /// What the model wrote and read in this turn, the unfinished round's words included.
    pub fn transcript(mut self) -> Vec<Message> {
        self.close_round(Vec::new(), Vec::new());
        self.transcript
    }

    /// The text and the reasoning of the round that is open.
    pub(crate) fn open_round(&self) -> (String, String) {
        (self.content[self.closed.0..].to_owned(), self.thinking[self.closed.1..].to_owned())
    }
}

/// Where a turn's events go: into the draft, and to the client for as long as there is one.
#[derive(Clone)]
pub struct Events {
    draft: Arc<Mutex<Draft>>,
    client: mpsc::Sender<Event>,
    deadline: Instant,
}

impl Events {
    /// A client that reads too slowly holds the turn up, but never past `deadline`.
    pub fn new(client: mpsc::Sender<Event>, deadline: Instant) -> Self {
        Self { draft: Arc::default(), client, deadline }
    }

    /// Notes the event and passes it on; a client that has left changes nothing.
    pub async fn send(&self, event: Event) {
        self.draft().note(&event);
        let _gone = timeout_at(self.deadline, self.client.send(event)).await;
    }

    /// The draft; to be let go before anything is awaited.
    pub fn draft(&self) -> MutexGuard<'_, Draft> {
        // A panic elsewhere in the turn leaves the draft whole: every change to it is one step.
        self.draft.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(draft: &mut Draft, delta: &str) {
        draft.note(&Event::Text { delta: delta.into() });
    }

    #[test]
    fn the_transcript_holds_each_round_once_and_the_open_one_last() {
        let mut draft = Draft::default();
        let call = ToolCall { id: "call_1".into(), name: "f".into(), arguments: serde_json::json!({}) };
        let result = ToolResult { call_id: "call_1".into(), name: "f".into(), ok: true, content: "r".into() };
        text(&mut draft, "one");
        draft.close_round(vec![call.clone()], vec![result.clone()]);
        text(&mut draft, "two");
        let assistant = |text: &str, calls| Message::Assistant { text: text.into(), thinking: String::new(), calls };
        assert_eq!(
            draft.transcript(),
            [assistant("one", vec![call]), Message::Tool(result), assistant("two", Vec::new())]
        );
    }

    #[test]
    fn a_round_without_words_or_calls_leaves_no_message() {
        assert!(Draft::default().transcript().is_empty());
    }

    #[tokio::test]
    async fn f096_a_client_that_left_does_not_stop_the_draft() {
        let (client, events) = mpsc::channel(1);
        drop(events);
        let events = Events::new(client, Instant::now() + std::time::Duration::from_secs(60));
        events.send(Event::Text { delta: "kept".into() }).await;
        assert_eq!(events.draft().content, "kept");
    }

    #[tokio::test(start_paused = true)]
    async fn f097_a_client_that_does_not_read_holds_the_turn_only_to_its_deadline() {
        let (client, _unread) = mpsc::channel(1);
        let events = Events::new(client, Instant::now() + std::time::Duration::from_secs(60));
        for delta in ["a", "b", "c"] {
            events.send(Event::Text { delta: delta.into() }).await;
        }
        assert_eq!(events.draft().content, "abc");
    }
}
