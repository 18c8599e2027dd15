use domain::Message;

use super::{Position, TurnState};

impl TurnState {
    /// Divides the answer that this turn continues into these messages. The text of the last one is the reply to continue;
    /// after calls and their results another reply follows.
    pub fn restore_rounds(&mut self, mut rounds: Vec<Message>) {
        let reply = rounds.pop_if(|last| matches!(last, Message::Assistant { calls, .. } if calls.is_empty()));
        let (text, thinking) = match reply {
            Some(Message::Assistant { text, thinking, .. }) => (text, thinking),
            _ => <(String, String)>::default(),
        };
        let start_of = |all: &str, end: &str| all.strip_suffix(end).map(str::len);
        // Otherwise all of it is the reply.
        let Some(content) = start_of(&self.answer.content, &text) else { return };
        let thinking = start_of(&self.answer.thinking, &thinking).unwrap_or(self.answer.thinking.len());
        self.rounds_end = Position { content, thinking, calls: 0 };
        self.transcript = rounds;
        if text.is_empty() {
            self.end_paragraph();
        }
    }

    /// The messages of the finished rounds, and where the current one begins in the text.
    pub(crate) fn finished_rounds(&self) -> (Vec<Message>, usize) {
        (self.transcript.clone(), self.rounds_end.content)
    }
}
