use domain::{Event, Message, ModelAttribution, Source, Summary, ToolCall, ToolMessage, ToolOutcome, Usage};
use llm::AttemptLog;
use tokio::time::Instant;
use tools::ToolRun;

use crate::estimate;
use crate::usage::PendingReply;

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
    /// When the first words were said.
    pub first_words: Option<Instant>,
    /// How many replies of models began.
    pub replies: u32,
    /// The attempts at calls of models.
    pub attempts: AttemptLog,
    /// What the finished replies consumed.
    pub(crate) usage: Usage,
    /// What a call cost that was run ahead, or may cost, while no call of the model's has taken it.
    pub(crate) ahead: u64,
    /// The prompt that is being answered.
    pub(crate) asked: Option<PendingReply>,
    /// Where its reply begins in `content`, `thinking` and `calls`.
    begun: (usize, usize, usize),
    /// What stands for the oldest turns of the conversation from now on, if it was made in this turn.
    pub summary: Option<Summary>,
    /// Who wrote it.
    writers: ModelAttribution,
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
    /// When it was made.
    pub made: Instant,
    /// `None` while it runs.
    pub report: Option<ToolOutcome>,
    /// The length of what the model reads of it, in bytes.
    pub bytes: usize,
    /// What it cost at the search provider.
    pub credits: u64,
}

impl Draft {
    pub(crate) fn apply(&mut self, event: &Event) {
        self.writers.record(event);
        match event {
            Event::Text { delta } => {
                self.first_words.get_or_insert_with(Instant::now);
                self.content.push_str(delta);
            }
            Event::Thinking { delta } => self.thinking.push_str(delta),
            Event::ToolCall(call) => {
                let (call, made) = (ToolCall::clone(call), Instant::now());
                self.calls.push(CallRecord { call, made, report: None, bytes: 0, credits: 0 });
            }
            Event::ToolResult(report) => {
                Source::join(&mut self.sources, &report.sources);
                if let Some(record) = self.calls.iter_mut().find(|record| record.call.id == report.id) {
                    record.report = Some(ToolOutcome::clone(report));
                }
            }
            _ => {}
        }
    }

    /// Takes note of what a call brought and cost.
    pub(crate) fn weigh(&mut self, ran: &ToolRun) {
        self.usage.search_credits += ran.credits;
        if ran.prefetched {
            self.ahead = 0;
        }
        if let Some(record) = self.calls.iter_mut().find(|record| record.call.id == ran.result.call_id) {
            (record.bytes, record.credits) = (ran.result.content.len(), ran.credits);
        }
    }

    /// Closes a round: what was said since the last one, the calls it made, and their results.
    pub(crate) fn close_round(&mut self, calls: Vec<ToolCall>, results: Vec<ToolMessage>) {
        let (text, thinking) = self.open_round();
        if text.is_empty() && thinking.is_empty() && calls.is_empty() {
            return;
        }
        self.closed = (self.content.len(), self.thinking.len());
        // Line breaks between two rounds are for the one who reads both as one answer.
        let text = text.trim_start_matches('\n').to_owned();
        self.transcript.push(Message::Assistant { text, thinking, calls });
        self.transcript.extend(results.into_iter().map(Message::Tool));
    }

    /// What puts the next words below those that were said, with a blank line between.
    pub(crate) fn gap(&self) -> &'static str {
        match self.content.trim_end_matches([' ', '\t']) {
            said if said.trim().is_empty() || said.ends_with("\n\n") => "",
            said if said.ends_with('\n') => "\n",
            _ => "\n\n",
        }
    }

    /// What the model wrote and read in this turn, the unfinished round's words included.
    pub fn transcript(mut self) -> Vec<Message> {
        self.close_round(Vec::new(), Vec::new());
        self.transcript
    }

    /// The models that wrote, in their order, unless it was the one that was asked alone.
    pub fn models(&self) -> &[String] {
        self.writers.after_failover()
    }

    /// What was consumed; of a reply that was cut off, an estimate of what came.
    pub fn usage(&self) -> Usage {
        let mut usage = self.taken();
        usage.search_credits += self.ahead;
        usage
    }

    /// The same without what nobody has taken yet.
    pub(crate) fn taken(&self) -> Usage {
        let mut usage = self.usage;
        let (text, thinking) = self.reply();
        let calls: Vec<ToolCall> = self.calls.iter().skip(self.begun.2).map(|record| record.call.clone()).collect();
        let came = !text.is_empty() || !thinking.is_empty() || !calls.is_empty();
        if let Some(asked) = self.asked.filter(|_| came) {
            usage.join(asked.usage(estimate::reply(asked.family, &text, &thinking, &calls), None));
        }
        usage
    }

    /// Notes that a prompt is being answered.
    pub(crate) fn ask(&mut self, asked: PendingReply) {
        self.asked = Some(asked);
        self.replies += 1;
        self.begun = (self.content.len(), self.thinking.len(), self.calls.len());
    }

    /// The text and the reasoning of the reply to the last prompt; a round has several when a model fails in it.
    pub(crate) fn reply(&self) -> (String, String) {
        (self.content[self.begun.0..].to_owned(), self.thinking[self.begun.1..].to_owned())
    }

    /// The text and the reasoning of the round that is open.
    pub(crate) fn open_round(&self) -> (String, String) {
        (self.content[self.closed.0..].to_owned(), self.thinking[self.closed.1..].to_owned())
    }
}

#[cfg(test)]
mod tests {
    use llm::Price;

    use super::*;
    use crate::estimate::TextSize;
    use crate::tokens::Family;

    fn text(draft: &mut Draft, delta: &str) {
        draft.apply(&Event::Text { delta: delta.into() });
    }

    #[test]
    fn the_transcript_holds_each_round_once_and_the_open_one_last() {
        let mut draft = Draft::default();
        let call = ToolCall { id: "call_1".into(), name: "f".into(), arguments: serde_json::json!({}) };
        let result = ToolMessage { call_id: "call_1".into(), name: "f".into(), ok: true, content: "r".into() };
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
    fn a_reply_that_was_cut_off_counts_by_estimate() {
        let prompt = TextSize { characters: 100, bytes: 300, tokens: 100 };
        let price = Price { input: 1_000_000, cached_input: 0, output: 5_000_000 };
        let asked = PendingReply { prompt, price: Some(price), family: Family::DeepSeek };
        let mut draft = Draft { asked: Some(asked), ..Draft::default() };
        assert_eq!(draft.usage(), Usage::default());
        text(&mut draft, "今天");
        let cost_micros = Some(110);
        let cut = Usage { input_tokens: 100, output_tokens: 2, search_credits: 0, estimated: true, cost_micros };
        assert_eq!(draft.usage(), cut);
    }

    #[test]
    fn what_stands_by_itself_has_a_blank_line_before_it() {
        let gaps = ["", " \n", "好的。", "好的。\n", "好的。 \n\n", "a\n\n "]
            .map(|content| Draft { content: content.to_owned(), ..Draft::default() }.gap());
        assert_eq!(gaps, ["", "", "\n\n", "\n", "", ""]);
    }

    #[test]
    fn what_was_run_ahead_counts_until_a_call_takes_it() {
        let mut draft = Draft { ahead: 2, ..Draft::default() };
        draft.usage = draft.taken();
        assert_eq!(draft.usage().search_credits, 2);
        let report = ToolOutcome {
            id: "call_1".into(),
            name: "f".into(),
            ok: true,
            cached: false,
            duration_ms: 0,
            summary: String::new(),
            sources: Vec::new(),
            error: None,
        };
        let result = ToolMessage { call_id: "call_1".into(), name: "f".into(), ok: true, content: "r".into() };
        draft.weigh(&ToolRun { report, result, answer: None, credits: 2, prefetched: true });
        assert_eq!(draft.usage().search_credits, 2);
    }

    #[test]
    fn a_round_without_words_or_calls_leaves_no_message() {
        assert!(Draft::default().transcript().is_empty());
    }
}
