use domain::Language;
use serde::Deserialize;
use serde_json::Value;

use crate::CONVERSATION;
use crate::model::findings::{Findings, Page};
use crate::model::planned_call::{DOCUMENT_TOOL, PlannedCall, TOOL};

/// Start of a call in the text of the model, which has no native tools.
const CALL: &str = "<tool_call";

/// Start of a document in a message, before its name, and of the name of a picture.
const FILE: &str = "<file name=\"";
const PICTURE: &str = "[image ";

/// Chat completion request, with the fields that the demo model uses.
#[derive(Debug, Deserialize)]
pub(crate) struct Request {
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
    pub(super) files: AttachedFiles,
    /// Whether the conversation has an earlier answer; only the first one has the note on real models.
    pub(super) is_noted: bool,
    /// The text of an answer that is to be continued.
    pub(super) interrupted: String,
}

/// What is attached to the question.
#[derive(Debug, Default, PartialEq)]
pub(super) struct AttachedFiles {
    /// Lines of documents, each after its place, such as `plan.md:12`, or `report.pdf:2` for a page.
    pub(super) lines: Vec<(String, String)>,
    pub(super) has_pictures: bool,
}

impl Request {
    pub(super) fn situation(&self) -> Situation {
        let (before, after) = self.since_last_reply();
        let called = before.last().is_some_and(Message::is_call) && !after.is_empty();
        let candidates = if called { before } else { &self.messages };
        let position = candidates.iter().rposition(Message::is_question);
        let question_message = position.map(|index| &candidates[index]);
        let text = question_message.map(Message::text).unwrap_or_default();
        let files = AttachedFiles {
            lines: attached_lines(&text),
            has_pictures: question_message.is_some_and(Message::has_pictures),
        };
        let question = without_files(&text).to_owned();
        let since = position.and_then(|index| self.messages.get(index + 1..)).unwrap_or_default();
        let rounds = since.iter().filter(|message| message.is_call()).count();
        let pages = Findings::pages(&join(since));
        let findings = called.then(|| Findings::read(&join(after)));
        let planned_call = PlannedCall::of(&question).filter(|planned_call| self.offers(planned_call.tool));
        // One letter is no language: 3 x 4.
        let has_letters = question.chars().filter(|c| c.is_alphabetic()).nth(1).is_some();
        let language = if has_letters { Language::of(&question) } else { Language::of(&self.text_of_users()) };
        let has_documents = self.offers(DOCUMENT_TOOL);
        let may_search = has_documents || self.offers(TOOL);
        let continued = since.iter().position(Message::is_continuation).and_then(|index| index.checked_sub(1));
        let interrupted = continued.map(|index| since[index].text()).unwrap_or_default();
        let earlier = position.map(|index| &self.messages[..index]).unwrap_or_default();
        let is_noted = earlier.iter().any(|one| one.role == "assistant" && !one.is_call());
        Situation {
            question,
            language,
            may_search,
            has_documents,
            planned_call,
            rounds,
            pages,
            findings,
            files,
            is_noted,
            interrupted,
        }
    }

    pub(super) fn text(&self) -> String {
        join(&self.messages)
    }

    fn text_of_users(&self) -> String {
        self.messages.iter().filter(|message| message.is_question()).map(|message| message.text() + "\n").collect()
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

    /// Whether it has a picture, or the name of one that the model does not take.
    fn has_pictures(&self) -> bool {
        let mut parts = self.content.as_array().into_iter().flatten();
        parts.any(|part| part["type"] == "image_url") || self.text().lines().any(|line| line.starts_with(PICTURE))
    }

    fn is_call(&self) -> bool {
        self.role == "assistant" && self.text().contains(CALL)
    }

    /// Whether this is a question of the user; results of prompted calls have the role `user`, too.
    fn is_question(&self) -> bool {
        self.role == "user" && !Findings::are_in(&self.text()) && !self.is_continuation()
    }

    fn is_continuation(&self) -> bool {
        let text = self.text();
        self.role == "user" && CONVERSATION.continuation_prompts.iter().any(|prompt| text.starts_with(prompt))
    }
}

/// The last paragraph of a message with files, which is its question.
fn without_files(text: &str) -> &str {
    let has_files = text.starts_with(FILE) || text.starts_with(PICTURE);
    text.rsplit_once("\n\n").filter(|_| has_files).map_or(text, |(_, question)| question)
}

/// The lines of a message's documents: `12: text`, or those below the number of their page, `[2]`.
fn attached_lines(text: &str) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for file in text.split(FILE).skip(1) {
        let Some((name, rest)) = file.split_once("\">\n") else { continue };
        let mut page = None;
        for line in rest.split("\n</file>").next().unwrap_or_default().lines() {
            let number = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
            page = number.filter(|number| number.parse::<u32>().is_ok()).or(page);
            let numbered = page.filter(|_| number.is_none()).map(|page| (page, line)).or_else(|| line.split_once(": "));
            if let Some((number, text)) = numbered.filter(|(_, text)| !text.trim().is_empty()) {
                lines.push((format!("{name}:{number}"), text.to_owned()));
            }
        }
    }
    lines
}

fn join(messages: &[Message]) -> String {
    messages.iter().map(Message::text).collect::<Vec<_>>().join("\n")
}
