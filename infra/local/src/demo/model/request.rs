use serde::Deserialize;

use crate::demo::language::Language;
use crate::demo::model::findings::Findings;
use crate::demo::model::planned_call::PlannedCall;

/// Name of the search tool.
pub(super) const TOOL: &str = "search_web";

/// Start of a call in the text of a model without native tools.
const CALL: &str = "<tool_call";

/// Chat completion request, with the fields that the demo model uses.
#[derive(Debug, Deserialize)]
pub(in crate::demo) struct Request {
    #[serde(default)]
    pub(super) model: String,
    messages: Vec<Message>,
    #[serde(default)]
    pub(super) stream: bool,
    #[serde(default)]
    tools: Vec<Tool>,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Content,
    #[serde(default)]
    tool_calls: Vec<serde::de::IgnoredAny>,
}

/// Text, or a list of parts, some of them text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
    Nothing(()),
}

#[derive(Debug, Deserialize)]
struct Part {
    #[serde(default)]
    text: String,
}

#[derive(Debug, Deserialize)]
struct Tool {
    function: Function,
}

#[derive(Debug, Deserialize)]
struct Function {
    name: String,
}

/// Format in which the model may call tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tools {
    Off,
    /// In the text, as the system prompt describes.
    Text,
    Native,
}

/// Interpretation of a request.
#[derive(Debug, PartialEq)]
pub(super) struct Situation {
    pub(super) question: String,
    pub(super) language: Language,
    pub(super) tools: Tools,
    /// Call of an offered tool other than the search that answers the question.
    pub(super) planned_call: Option<PlannedCall>,
    /// Results of the call in the model's last reply, if that was a call.
    pub(super) findings: Option<Findings>,
}

impl Request {
    /// Interprets the conversation so far.
    pub(super) fn situation(&self) -> Situation {
        let (before, after) = self.since_last_reply();
        let called = before.last().is_some_and(Message::is_call) && !after.is_empty();
        let candidates = if called { before } else { &self.messages };
        let question =
            candidates.iter().rev().find(|message| message.is_question()).map(Message::text).unwrap_or_default();
        let findings = called.then(|| Findings::read(&join(after)));
        let planned_call = PlannedCall::of(&question).filter(|planned_call| self.offers(planned_call.tool));
        Situation { language: Language::of(&question), question, tools: self.tools(), planned_call, findings }
    }

    /// The text of all messages.
    pub(super) fn text(&self) -> String {
        join(&self.messages)
    }

    fn offers(&self, tool: &str) -> bool {
        self.tools.iter().any(|offered| offered.function.name == tool) || self.teaches(tool)
    }

    /// Whether the system prompt describes a tool.
    fn teaches(&self, tool: &str) -> bool {
        self.messages.iter().any(|message| message.role == "system" && message.text().contains(tool))
    }

    fn tools(&self) -> Tools {
        if self.tools.iter().any(|tool| tool.function.name == TOOL) {
            Tools::Native
        } else if self.teaches(TOOL) {
            Tools::Text
        } else {
            Tools::Off
        }
    }

    /// Splits the messages after the model's last reply.
    fn since_last_reply(&self) -> (&[Message], &[Message]) {
        let last = self.messages.iter().rposition(|message| message.role == "assistant");
        self.messages.split_at(last.map_or(0, |index| index + 1))
    }
}

impl Message {
    fn text(&self) -> String {
        match &self.content {
            Content::Text(text) => text.clone(),
            Content::Parts(parts) => parts.iter().map(|part| part.text.as_str()).collect(),
            Content::Nothing(()) => String::new(),
        }
    }

    fn is_call(&self) -> bool {
        !self.tool_calls.is_empty() || self.text().contains(CALL)
    }

    /// Whether this is a question of the user; results of prompted calls have the role `user`, too.
    fn is_question(&self) -> bool {
        self.role == "user" && !Findings::are_in(&self.text())
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Nothing(())
    }
}

fn join(messages: &[Message]) -> String {
    messages.iter().map(Message::text).collect::<Vec<_>>().join("\n")
}
