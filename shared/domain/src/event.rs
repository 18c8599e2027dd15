use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::one_line::one_line;
use crate::{Failure, ToolCall, ToolFailure};

/// One event of a turn, in the order in which a client receives it.
///
/// `Started` comes first; `Done` or `Failed` comes last and exactly once. Protocols turn each event into their own
/// frames.
/// Text deltas dominate, so larger payloads are boxed.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The turn is stored and the model is about to be called.
    Started(Box<TurnStart>),
    /// Another model writes the rest of the answer, because the previous one failed.
    ModelSwitched {
        /// The model's name, as in the list of models.
        model: String,
    },
    /// A delta of the answer.
    Text {
        /// Never contains a tool call or a part of one.
        delta: String,
    },
    /// A delta of the model's reasoning.
    Thinking {
        /// Without the reasoning tags.
        delta: String,
    },
    /// The end of the text so far was reasoning: the model began its reply in it and only closed it.
    TextReclassified {
        /// How many characters (Unicode code points) at the end of the text are reasoning.
        characters: usize,
    },
    /// A complete call, before it runs.
    ToolCall(Box<ToolCall>),
    /// A progress delta of a running call, between its call and its result; the model never reads it.
    ToolProgress(Box<ToolProgress>),
    /// A finished call, in order of completion.
    ToolResult(Box<ToolOutcome>),
    /// A page of an earlier turn that the text after it cites. Results of this turn name their own pages.
    EarlierSource(Box<Source>),
    /// A call of a tool that the client runs. The turn ends with it, and its result arrives with another request.
    ClientToolCall(Box<ToolCall>),
    /// A generated title for a new conversation.
    Title(String),
    /// The usage of the turn; emitted once, before the end.
    Usage(Box<Usage>),
    /// The turn ended without a complete answer.
    Failed(Box<Failure>),
    /// The turn ended with an answer.
    Done {
        /// Why the answer ended.
        finish_reason: FinishReason,
    },
}

/// Events that are delivered together, in order; usually a single delta.
pub type EventBatch = SmallVec<[Event; 1]>;

impl Event {
    /// Whether this event is the last one of its turn.
    pub fn is_end(&self) -> bool {
        match self {
            Self::Done { .. } | Self::Failed(_) => true,
            Self::Started(_)
            | Self::ModelSwitched { .. }
            | Self::Text { .. }
            | Self::Thinking { .. }
            | Self::TextReclassified { .. }
            | Self::ToolCall(_)
            | Self::ToolProgress(_)
            | Self::ToolResult(_)
            | Self::EarlierSource(_)
            | Self::ClientToolCall(_)
            | Self::Title(_)
            | Self::Usage(_) => false,
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
    #[serde(default, skip_serializing_if = "is_zero")]
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
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
                conversation_id: "C".into(),
                message_id: "M".into(),
                model: "volcano".into(),
            })),
            Event::ModelSwitched { model: "backup".into() },
            Event::Text { delta: "一\n\u{2028}\0\"\\🍵".into() },
            Event::Thinking { delta: String::new() },
            Event::TextReclassified { characters: 2 },
            Event::ToolCall(Box::new(ToolCall {
                id: "c1".into(),
                name: "search_web".into(),
                arguments: json!({ "z": 0.25, "a": [1e300, -5, u64::MAX, null, { "": true }] }),
            })),
            Event::ToolProgress(Box::new(ToolProgress {
                id: "c1".into(),
                name: "report".into(),
                text: "第一章".into(),
            })),
            Event::ToolResult(Box::new(report.clone())),
            Event::ToolResult(Box::new(ToolOutcome { ok: false, error: Some(failure), sources: Vec::new(), ..report })),
            Event::EarlierSource(Box::new(Source {
                index: 7,
                title: "茶".into(),
                url: "https://example.com/7".into(),
                excerpt: String::new(),
            })),
            Event::Title("茶".into()),
            Event::Usage(Box::new(usage)),
            Event::Usage(Box::new(Usage { cost_micros: Some(7), ..usage })),
            Event::Failed(Box::new(Failure::new(ErrorCode::RateLimited, "慢").with_retry_after(7))),
            Event::Failed(Box::new(ErrorCode::Interrupted.into())),
            Event::Done { finish_reason: FinishReason::ToolLimit },
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
