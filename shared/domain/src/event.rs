use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::one_line::one_line;
use crate::{Failure, ToolCall, ToolFailure};

/// One event of a turn, in the order in which a client receives it.
///
/// `Started` comes first, `End` last and exactly once. Protocols turn each event into their own frames.
/// Deltas dominate, so larger payloads are boxed.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The turn is stored and the model is about to be called.
    Started(Box<TurnStart>),
    /// The answer changed.
    Delta(AnswerDelta),
    /// A call was made, or continued.
    Tool(ToolEvent),
    /// Something about the answer, other than its text and calls.
    Note(Note),
    /// The turn ended: why its answer ended, or why there is no complete one.
    End(Result<FinishReason, Box<Failure>>),
}

/// A change of the answer's text or the model's reasoning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerDelta {
    /// More text; never a tool call or a part of one.
    Text(String),
    /// More reasoning, without its tags.
    Thinking(String),
    /// That many characters (Unicode code points) at the end of the text so far were reasoning: the model began its reply in
    /// it and only closed it.
    Reclassified(usize),
}

/// An event of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolEvent {
    /// A complete call, before it runs.
    Call(Box<ToolCall>),
    /// A progress delta of a running call, between its call and its result; the model never reads it.
    Progress(Box<ToolProgress>),
    /// A finished call, in order of completion.
    Result(Box<ToolOutcome>),
    /// A call of a tool that the client runs. The turn ends with it, and its result arrives with another request.
    ClientCall(Box<ToolCall>),
}

/// A report of a turn about its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The model of this name writes the rest of the answer, because the previous one failed.
    ModelSwitched(Box<str>),
    /// A page of an earlier turn that the text after it cites. Results of this turn name their own pages.
    EarlierSource(Box<Source>),
    /// A generated title for a new conversation.
    Title(Box<str>),
    /// The usage of the turn; once, before the end.
    Usage(Box<Usage>),
}

/// Events that are delivered together, in order; usually a single delta.
pub type EventBatch = SmallVec<[Event; 1]>;

impl Event {
    /// Whether this event is the last one of its turn.
    pub fn is_end(&self) -> bool {
        match self {
            Self::End(_) => true,
            Self::Started(_) | Self::Delta(_) | Self::Tool(_) | Self::Note(_) => false,
        }
    }
}

/// The ids of a turn and the model that starts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStart {
    /// The conversation, new or continued.
    pub conversation_id: String,
    /// The assistant message that this turn writes.
    pub message_id: String,
    /// The name of the model, as in the list of models.
    pub model: String,
    /// Whether the message has text already, which this turn continues.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continues: bool,
}

/// A progress delta of a running call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolProgress {
    /// The `id` of the call.
    pub id: String,
    /// The name in the call.
    pub name: String,
    /// The new text.
    pub text: String,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model finished.
    Stop,
    /// The model's output limit was reached.
    Length,
    /// The provider's content filter cut the answer.
    ContentFilter,
    /// The user stopped it.
    Stopped,
    /// The deadline passed; the answer was written from the results available by then.
    Deadline,
    /// The last allowed round was used; the answer was written without tools.
    ToolLimit,
    /// The model called client tools and needs their results to continue.
    ToolCalls,
}

/// A page that a tool result cites.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The number of the page in its conversation, starting at 1; models read and cite it.
    pub index: usize,
    /// The page's title.
    pub title: String,
    /// `http` or `https`.
    pub url: String,
    /// The beginning of what was found on the page, on one line; at most 200 characters, empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub excerpt: String,
}

/// Longest excerpt of a page, in characters.
const MAX_EXCERPT_CHARS: usize = 200;

impl Source {
    /// Sets the excerpt to the beginning of a text.
    #[must_use]
    pub fn with_excerpt(self, text: &str) -> Self {
        Self { excerpt: one_line(text, MAX_EXCERPT_CHARS), ..self }
    }

    /// Merges the pages of several results: each URL once, with its number.
    pub fn join(all: &mut Vec<Source>, more: &[Source]) {
        for source in more {
            if !all.iter().any(|known| known.url == source.url) {
                all.push(source.clone());
            }
        }
    }
}

/// The outcome of a finished call, as the user sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutcome {
    /// The `id` of the call.
    pub id: String,
    /// The name in the call.
    pub name: String,
    /// Whether the call succeeded.
    pub ok: bool,
    /// Whether the result came from a cache or from an identical call of this turn.
    pub cached: bool,
    /// From the start of the call to its result, in milliseconds.
    pub duration_ms: u64,
    /// A short label for a status line, such as `10 results`.
    pub summary: String,
    /// Pages to cite; empty for tools that have none.
    pub sources: Vec<Source>,
    /// Set exactly when `ok` is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolFailure>,
}

/// The usage of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens sent to models, over all rounds.
    pub input_tokens: u64,
    /// How many of them were read from the caches of providers; absent in JSON if none were.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub cached_tokens: u64,
    /// Tokens written by models, over all rounds.
    pub output_tokens: u64,
    /// Credits that the search provider charged.
    pub search_credits: u64,
    /// Whether any token count is this service's estimate.
    pub estimated: bool,
    /// The cost at the configured prices, in millionths of their currency; `None` when no model that was used has a
    /// price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl Usage {
    /// Adds the usage of one more reply.
    pub fn join(&mut self, more: Usage) {
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(more.cached_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
        self.search_credits = self.search_credits.saturating_add(more.search_credits);
        self.estimated |= more.estimated;
        self.cost_micros = match (self.cost_micros, more.cost_micros) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
    }
}

/// The numbered pages of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberedSources {
    /// The pages that are remembered, oldest first.
    pub sources: Vec<Source>,
    /// The highest number that was given to a page; 0 if none was.
    pub last: usize,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ErrorCode;

    fn sample_events() -> Vec<Event> {
        let failure = ToolFailure { code: "timeout".into(), message: "慢".into() };
        let report = ToolOutcome {
            id: "c1".into(),
            name: "search_web".into(),
            ok: true,
            cached: true,
            duration_ms: 12,
            summary: "1 result".into(),
            sources: vec![Source {
                index: 1,
                title: "茶\n\"".into(),
                url: "https://example.com".into(),
                excerpt: String::new(),
            }],
            error: None,
        };
        let usage = Usage {
            input_tokens: u64::MAX,
            cached_tokens: 1,
            output_tokens: 2,
            search_credits: 3,
            estimated: true,
            cost_micros: None,
        };
        vec![
            Event::Started(Box::new(TurnStart {
                continues: false,
                conversation_id: "C".into(),
                message_id: "M".into(),
                model: "volcano".into(),
            })),
            Event::Note(Note::ModelSwitched("backup".into())),
            Event::Delta(AnswerDelta::Text("一\n\u{2028}\0\"\\🍵".into())),
            Event::Delta(AnswerDelta::Thinking(String::new())),
            Event::Delta(AnswerDelta::Reclassified(2)),
            Event::Tool(ToolEvent::Call(Box::new(ToolCall {
                id: "c1".into(),
                name: "search_web".into(),
                arguments: json!({ "z": 0.25, "a": [1e300, -5, u64::MAX, null, { "": true }] }),
            }))),
            Event::Tool(ToolEvent::Progress(Box::new(ToolProgress {
                id: "c1".into(),
                name: "report".into(),
                text: "第一章".into(),
            }))),
            Event::Tool(ToolEvent::Result(Box::new(report.clone()))),
            Event::Tool(ToolEvent::Result(Box::new(ToolOutcome {
                ok: false,
                error: Some(failure),
                sources: Vec::new(),
                ..report
            }))),
            Event::Note(Note::EarlierSource(Box::new(Source {
                index: 7,
                title: "茶".into(),
                url: "https://example.com/7".into(),
                excerpt: String::new(),
            }))),
            Event::Note(Note::Title("茶".into())),
            Event::Note(Note::Usage(Box::new(usage))),
            Event::Note(Note::Usage(Box::new(Usage { cost_micros: Some(7), ..usage }))),
            Event::End(Err(Box::new(Failure::new(ErrorCode::RateLimited, "慢").with_retry_after(7)))),
            Event::End(Err(Box::new(ErrorCode::Interrupted.into()))),
            Event::End(Ok(FinishReason::ToolLimit)),
        ]
    }

    #[test]
    fn excerpts_are_one_bounded_line() {
        let source = || Source { index: 1, title: "t".into(), url: "https://a.example".into(), excerpt: String::new() };
        for (text, expected) in [
            ("", String::new()),
            (" one\n\ttwo ", "one two".to_owned()),
            (&"好".repeat(200), "好".repeat(200)),
            (&"好".repeat(100_000), format!("{}…", "好".repeat(199))),
            (&"a ".repeat(1000), format!("{}…", "a ".repeat(100).trim_end())),
        ] {
            assert_eq!(source().with_excerpt(text).excerpt, expected);
        }
    }

    #[test]
    fn only_done_and_failed_end_a_turn() {
        let ends: Vec<bool> = sample_events().iter().map(Event::is_end).collect();
        assert_eq!(ends.iter().position(|end| *end), Some(ends.len() - 3));
    }
}
