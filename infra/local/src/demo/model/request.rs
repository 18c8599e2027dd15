use domain::Language;
use serde::Deserialize;
use serde_json::Value;

use crate::demo::model::findings::{Findings, Page};
use crate::demo::model::planned_call::{DOCUMENT_TOOL, PlannedCall, TOOL};

/// Start of a call in the text of the model, which has no native tools.
const CALL: &str = "<tool_call";

/// Chat completion request, with the fields that the demo model uses.
#[derive(Debug, Deserialize)]
pub(in crate::demo) struct Request {
    #[serde(default)]
    pub(super) model: String,
    messages: Vec<Message>,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Value,
}

#[derive(Debug, PartialEq)]
pub(super) struct Situation {
    pub(super) question: String,
    pub(super) language: Language,
    /// Whether the system prompt describes a search.
    pub(super) may_search: bool,
    /// Whether documents are searched instead of the web.
    pub(super) has_documents: bool,
    /// Call of an offered tool other than the search that answers the question.
    pub(super) planned_call: Option<PlannedCall>,
    /// How often the model has called tools since the question.
    pub(super) rounds: usize,
    /// The pages that searches have found since the question.
    pub(super) pages: Vec<Page>,
    /// Results of the call in the model's last reply, if that was a call.
    pub(super) findings: Option<Findings>,
}

impl Request {
    pub(super) fn situation(&self) -> Situation {
        let (before, after) = self.since_last_reply();
        let called = before.last().is_some_and(Message::is_call) && !after.is_empty();
        let candidates = if called { before } else { &self.messages };
        let position = candidates.iter().rposition(Message::is_question);
        let question = position.map(|index| without_files(&candidates[index].text()).to_owned()).unwrap_or_default();
        let since = position.and_then(|index| self.messages.get(index + 1..)).unwrap_or_default();
        let rounds = since.iter().filter(|message| message.is_call()).count();
        let pages = Findings::pages(&join(since));
        let findings = called.then(|| Findings::read(&join(after)));
        let planned_call = PlannedCall::of(&question).filter(|planned_call| self.offers(planned_call.tool));
        let (language, has_documents) = (Language::of(&question), self.offers(DOCUMENT_TOOL));
        let may_search = has_documents || self.offers(TOOL);
        Situation { question, language, may_search, has_documents, planned_call, rounds, pages, findings }
    }

    pub(super) fn text(&self) -> String {
        join(&self.messages)
    }

    /// Whether the system prompt describes a tool.
    fn offers(&self, tool: &str) -> bool {
        self.messages.iter().any(|message| message.role == "system" && message.text().contains(tool))
    }

    /// Splits the messages after the model's last reply.
    fn since_last_reply(&self) -> (&[Message], &[Message]) {
        let last = self.messages.iter().rposition(|message| message.role == "assistant");
        self.messages.split_at(last.map_or(0, |index| index + 1))
    }
}

impl Message {
    fn text(&self) -> String {
        // A list of parts has texts in some of them.
        let parts = self.content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
        self.content.as_str().into_iter().chain(parts).collect()
    }

    fn is_call(&self) -> bool {
        self.role == "assistant" && self.text().contains(CALL)
    }

    /// Whether this is a question of the user; results of prompted calls have the role `user`, too.
    fn is_question(&self) -> bool {
        self.role == "user" && !Findings::are_in(&self.text())
    }
}

/// The last paragraph of a message with documents, which is its question.
fn without_files(text: &str) -> &str {
    text.rsplit_once("\n\n").filter(|_| text.starts_with("<file ")).map_or(text, |(_, question)| question)
}

fn join(messages: &[Message]) -> String {
    messages.iter().map(Message::text).collect::<Vec<_>>().join("\n")
}
