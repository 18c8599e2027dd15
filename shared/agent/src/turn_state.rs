mod continued;

use domain::{
    AnswerDelta, CallPosition, CallState, Event, Language, Message, Note, ProviderData, Summary, ToolCall, ToolEvent,
    ToolMessage, ToolOutcome, TurnAccumulator, Usage,
};
use llm::AttemptLog;
use tokio::time::Instant;
use tools::ToolRun;

use crate::thinking_clock::ThinkingClock;
use crate::usage::PendingReply;
use crate::{earlier_results, estimate};

/// The state of a turn: what its events add up to, and what it cost. However the turn ends, this much is kept.
#[derive(Clone, Debug, Default)]
pub struct TurnState {
    /// The sum of the events.
    pub answer: TurnAccumulator,
    /// For each call of `answer`, what its events do not hold.
    call_costs: Vec<CallCost>,
    thinking: ThinkingClock,
    /// When the first text was emitted.
    pub first_text_at: Option<Instant>,
    /// The number of model replies that began.
    pub replies: u32,
    /// The attempts at model calls.
    pub attempts: AttemptLog,
    /// The usage of the finished replies.
    pub(crate) usage: Usage,
    /// That of each reply in a round, with the number of attempts so far, of which the last one is its own.
    pub reply_usages: Vec<(usize, Usage)>,
    /// What a prefetched call cost, or may cost, while no call of the model has used it.
    pub(crate) prefetch_credits: u64,
    /// The prompt whose reply is being read.
    pub(crate) pending: Option<PendingReply>,
    reply_start: Position,
    /// The summary that replaces the oldest turns of the conversation from now on, if this turn made one.
    pub summary: Option<Summary>,
    /// The finished rounds, as a later prompt needs them.
    transcript: Vec<Message>,
    rounds_end: Position,
    /// Where the next text begins a paragraph, in `content` in bytes: after a round, or a reply that was rejected.
    paragraph_start: usize,
    pub(crate) language: Language,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Position {
    /// In `content`, in bytes.
    content: usize,
    /// In `thinking`, in bytes.
    thinking: usize,
    /// The number of calls before it.
    calls: usize,
}

/// What the events of a call do not hold.
#[derive(Clone, Copy, Debug)]
struct CallCost {
    called_at: Instant,
    bytes: usize,
    credits: u64,
}

impl TurnState {
    pub(crate) fn apply(&mut self, event: &Event) {
        self.answer.apply(event);
        match event {
            Event::Delta(AnswerDelta::Thinking(_)) => self.thinking.start(),
            Event::Delta(AnswerDelta::Text(_)) => {
                self.thinking.stop();
                self.first_text_at.get_or_insert_with(Instant::now);
            }
            Event::Tool(ToolEvent::Call(_)) => {
                self.thinking.stop();
                self.call_costs.push(CallCost { called_at: Instant::now(), bytes: 0, credits: 0 });
                if let Some(made) = self.answer.calls.last_mut() {
                    made.position.thinking_ms = Some(self.thinking.elapsed_ms());
                }
            }
            Event::Tool(ToolEvent::ClientCall(_)) | Event::Note(Note::Usage(_)) | Event::End(_) => self.thinking.stop(),
            Event::Started(_)
            | Event::Delta(AnswerDelta::Reclassified(_))
            | Event::Tool(ToolEvent::Progress(_) | ToolEvent::Result(_))
            | Event::Note(Note::ModelSwitched(_) | Note::EarlierSource(_) | Note::Title(_)) => {}
        }
    }

    /// The time that models spent on reasoning, in milliseconds; `None` without reasoning.
    pub fn thinking_ms(&self) -> Option<u64> {
        (!self.answer.thinking.is_empty()).then(|| self.thinking.elapsed_ms())
    }

    /// The calls in the order in which the model made them.
    pub fn calls(&self) -> impl Iterator<Item = CallRecord<'_>> {
        self.answer.calls.iter().zip(&self.call_costs).map(|(CallState { call, outcome, position }, cost)| {
            let CallCost { called_at, bytes, credits } = *cost;
            CallRecord { call, outcome: outcome.as_ref(), position: *position, called_at, bytes, credits }
        })
    }

    /// Records the size and the cost of a finished call.
    pub(crate) fn record_cost(&mut self, ran: &ToolRun) {
        self.usage.search_credits += ran.credits;
        if ran.prefetched {
            self.prefetch_credits = 0;
        }
        let position = self.answer.calls.iter().position(|known| known.call.id == ran.result.call_id);
        if let Some(cost) = position.and_then(|position| self.call_costs.get_mut(position)) {
            (cost.bytes, cost.credits) = (ran.result.content.len(), ran.credits);
        }
    }

    /// Ends a round: adds its text, its calls and their results to the transcript.
    pub(crate) fn close_round(
        &mut self,
        calls: Vec<ToolCall>,
        results: Vec<ToolMessage>,
        provider_data: Option<Box<ProviderData>>,
    ) {
        let (text, thinking) = self.current_round();
        if text.is_empty() && thinking.is_empty() && calls.is_empty() {
            return;
        }
        self.rounds_end = self.end();
        self.end_paragraph();
        // As in the prompts of this turn, which leave out line breaks between two rounds.
        let text = text.trim_start_matches('\n').to_owned();
        self.transcript.push(Message::Assistant { text, thinking, calls, provider_data });
        self.transcript.extend(results.into_iter().map(Message::Tool));
    }

    /// Ends a paragraph: other text than that so far is not glued to it.
    pub(crate) fn end_paragraph(&mut self) {
        self.paragraph_start = self.answer.content.len();
    }

    /// The line breaks that complete a blank line before this text, if it is the first one after another round's.
    pub(crate) fn line_breaks_before(&self, text: &str) -> &'static str {
        let (before, since) = self.answer.content.split_at(self.paragraph_start);
        if before.trim().is_empty() || !since.trim().is_empty() || text.trim().is_empty() {
            return "";
        }
        let is_white = |character: &char| character.is_whitespace();
        let around = self.answer.content.chars().rev().take_while(is_white).chain(text.chars().take_while(is_white));
        match around.filter(|character| *character == '\n').count() {
            0 => "\n\n",
            1 => "\n",
            _ => "",
        }
    }

    /// Excludes line breaks that serve only clients, which read all rounds as one answer, from the round and its reply.
    pub(crate) fn skip_line_breaks(&mut self) {
        if self.rounds_end.content == self.paragraph_start {
            self.rounds_end.content = self.answer.content.len();
        }
        self.reply_start.content = self.answer.content.len();
        self.end_paragraph();
    }

    /// What the model wrote in this turn, including the unfinished round, and what later turns need of what it read.
    pub fn transcript(mut self) -> Vec<Message> {
        self.close_round(Vec::new(), Vec::new(), None);
        earlier_results::cut_results(&mut self.transcript, self.language);
        self.transcript
    }

    /// The models that wrote something, in order; empty if only the first model did, or none.
    pub fn models(&self) -> &[String] {
        self.answer.attribution.after_failover()
    }

    /// The usage so far; that of an interrupted reply is an estimate of the received part.
    pub fn usage(&self) -> Usage {
        let mut usage = self.usage_without_prefetch();
        usage.search_credits += self.prefetch_credits;
        usage
    }

    /// The usage without a prefetched call that no call of the model has used.
    pub(crate) fn usage_without_prefetch(&self) -> Usage {
        let mut usage = self.usage;
        if let Some(pending) = self.pending.filter(|_| self.has_reply()) {
            let (text, thinking) = self.reply();
            let calls = self.answer.calls.iter().skip(self.reply_start.calls).map(|known| &known.call);
            usage.join(pending.usage(estimate::reply(pending.family, &text, &thinking, calls), None));
        }
        usage
    }

    /// Records that a prompt was sent; its reply starts here.
    pub(crate) fn start_reply(&mut self, pending: PendingReply) {
        self.pending = Some(pending);
        self.replies += 1;
        self.reply_start = self.end();
    }

    /// Whether anything of the reply to the last prompt was emitted.
    pub(crate) fn has_reply(&self) -> bool {
        self.end() != self.reply_start
    }

    /// The text and the reasoning of the reply to the last prompt; a round has several replies when a model fails in it.
    pub(crate) fn reply(&self) -> (String, String) {
        self.text_since(self.reply_start)
    }

    pub(crate) fn current_round(&self) -> (String, String) {
        self.text_since(self.rounds_end)
    }

    /// Drops the reasoning of that reply, which is its answer.
    pub(crate) fn discard_reply_thinking(&mut self) {
        self.answer.thinking.truncate(self.reply_start.thinking);
    }

    fn text_since(&self, start: Position) -> (String, String) {
        let TurnAccumulator { content, thinking, .. } = &self.answer;
        (content[start.content..].to_owned(), thinking[start.thinking..].to_owned())
    }

    fn end(&self) -> Position {
        let TurnAccumulator { content, thinking, calls, .. } = &self.answer;
        Position { content: content.len(), thinking: thinking.len(), calls: calls.len() }
    }
}

/// A call and, once it has finished, its outcome and cost.
#[derive(Clone, Copy, Debug)]
pub struct CallRecord<'a> {
    /// As the model made it.
    pub call: &'a ToolCall,
    /// `None` while it runs.
    pub outcome: Option<&'a ToolOutcome>,
    /// What the turn had written before it.
    pub position: CallPosition,
    /// When the model made it.
    pub called_at: Instant,
    /// The length of the result that the model reads, in bytes.
    pub bytes: usize,
    /// Credits that the search provider charged for it.
    pub credits: u64,
}

#[cfg(test)]
mod tests {
    use llm::Price;

    use super::*;
    use crate::estimate::TextSize;
    use crate::tokens::Family;

    fn text(state: &mut TurnState, delta: &str) {
        state.apply(&Event::Delta(AnswerDelta::Text(delta.into())));
    }

    #[test]
    fn transcript_holds_each_round_once_in_order() {
        let mut state = TurnState::default();
        let call = ToolCall { id: "call_1".into(), name: "f".into(), arguments: serde_json::json!({}) };
        let result = ToolMessage { call_id: "call_1".into(), name: "f".into(), ok: true, content: "r".into() };
        text(&mut state, "one");
        state.close_round(vec![call.clone()], vec![result.clone()], None);
        text(&mut state, "two");
        let assistant = |text: &str, calls| Message::Assistant {
            text: text.into(),
            thinking: String::new(),
            calls,
            provider_data: None,
        };
        assert_eq!(
            state.transcript(),
            [assistant("one", vec![call]), Message::Tool(result), assistant("two", Vec::new())]
        );
    }

    #[test]
    fn interrupted_reply_counts_by_estimate() {
        let prompt = TextSize { characters: 100, bytes: 300, tokens: 100 };
        let price = Price { input: 1_000_000, cached_input: 0, cache_write: 1_000_000, output: 5_000_000 };
        let pending = PendingReply { prompt, price: Some(price), family: Family::DeepSeek };
        let mut state = TurnState { pending: Some(pending), ..TurnState::default() };
        assert_eq!(state.usage(), Usage::default());
        text(&mut state, "今天");
        let cost_micros = Some(110);
        let cut = Usage {
            input_tokens: 100,
            cached_tokens: 0,
            output_tokens: 2,
            search_credits: 0,
            estimated: true,
            cost_micros,
        };
        assert_eq!(state.usage(), cut);
    }

    #[test]
    fn line_breaks_complete_a_blank_line() {
        let between = |before: &str, after: &str| {
            let mut state = TurnState::default();
            text(&mut state, before);
            state.end_paragraph();
            state.line_breaks_before(after)
        };
        for (before, after, expected) in [
            ("", "a", ""),
            (" \n", "a", ""),
            ("好的。", "a", "\n\n"),
            ("好的。\n", "a", "\n"),
            ("好的。", " \na", "\n"),
            ("好的。\n", "\na", ""),
            ("好的。 \n\n", "a", ""),
            ("好的。", "\n\na", ""),
            ("a\n\n ", "a", ""),
            ("好的。", " \n", ""),
        ] {
            assert_eq!(between(before, after), expected, "{before:?} {after:?}");
        }
        let mut state = TurnState::default();
        text(&mut state, "a");
        assert_eq!(state.line_breaks_before("b"), "", "of one reply");
    }

    #[test]
    fn prefetch_counts_until_a_call_uses_it() {
        let mut state = TurnState { prefetch_credits: 2, ..TurnState::default() };
        state.usage = state.usage_without_prefetch();
        assert_eq!(state.usage().search_credits, 2);
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
        state.record_cost(&ToolRun { report, result, answer: None, credits: 2, prefetched: true });
        assert_eq!(state.usage().search_credits, 2);
    }

    #[test]
    fn empty_round_leaves_no_message() {
        assert!(TurnState::default().transcript().is_empty());
    }
}
