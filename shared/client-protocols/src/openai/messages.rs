use std::collections::HashMap;

use domain::{Attachment, Failure, HistoryTurn, Message, StrictObject, ToolCall, ToolMessage};
use serde_json::Value;

use crate::attachments::UserContent;

/// Maximum number of messages in a request, and of calls in a message.
const MAX_ROWS: usize = 10_000;

/// A conversation, split as a turn needs it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ParsedConversation {
    pub(super) system: Option<String>,
    pub(super) history: Vec<HistoryTurn>,
    pub(super) text: String,
    pub(super) attachments: Vec<Attachment>,
    pub(super) trailing_messages: Vec<Message>,
}

/// Parses `messages`. Roles may come in any order, but calls need their results, and the last message is from the user
/// or a tool.
pub(super) fn parse_messages(fields: &mut StrictObject) -> Result<ParsedConversation, Failure> {
    let rows = fields.take_objects("messages", MAX_ROWS)?.unwrap_or_default();
    let mut reader = ConversationBuilder::default();
    for row in rows {
        reader.add_row(row)?;
    }
    reader.finish().map_err(|accepted| fields.field_error("messages", accepted))
}

#[derive(Default)]
struct ConversationBuilder {
    system: Vec<String>,
    messages: Vec<Message>,
    /// The results for the calls of the last message.
    results: PendingResults,
}

impl ConversationBuilder {
    fn add_row(&mut self, mut row: StrictObject) -> Result<(), Failure> {
        let role = row.take_string("role")?.unwrap_or_default();
        if role != "tool" && !self.results.are_complete() {
            return Err(row.field_error("role", "`tool` until all calls before it have their results"));
        }
        match role.as_str() {
            "system" | "developer" => {
                self.system.extend(take_content(&mut row)?.filter(|text| !text.trim().is_empty()));
            }
            "user" => {
                let content = take_user_content(&mut row)?;
                let (text, attachments) =
                    content.ok_or_else(|| row.field_error("content", "given: a string or parts"))?;
                self.messages.push(Message::User { text, attachments });
            }
            "assistant" => self.add_assistant(row)?,
            "tool" => self.add_result(row)?,
            _ => return Err(row.field_error("role", "system, developer, user, assistant or tool")),
        }
        Ok(())
    }

    fn add_assistant(&mut self, mut row: StrictObject) -> Result<(), Failure> {
        let refusal = row.take_string("refusal")?.unwrap_or_default();
        let text = take_content(&mut row)?.filter(|text| !text.is_empty()).unwrap_or(refusal);
        let thinking = row.take_string("reasoning_content")?.unwrap_or_default();
        let rows = row.take_objects("tool_calls", MAX_ROWS)?.unwrap_or_default();
        let calls = rows.into_iter().map(parse_call).collect::<Result<Vec<_>, _>>()?;
        self.results = PendingResults::for_calls(&calls);
        self.messages.push(Message::Assistant { text, thinking, calls, provider_data: None });
        Ok(())
    }

    fn add_result(&mut self, mut row: StrictObject) -> Result<(), Failure> {
        let id = row.take_string("tool_call_id")?.unwrap_or_default();
        let content = take_content(&mut row)?.unwrap_or_default();
        let accepted = "the id of a call before it, once";
        self.results.add(id, content).ok_or_else(|| row.field_error("tool_call_id", accepted))?;
        if self.results.are_complete() {
            self.messages.extend(self.results.take_results());
        }
        Ok(())
    }

    fn finish(self) -> Result<ParsedConversation, &'static str> {
        if !self.results.are_complete() {
            return Err("complete: the last calls have no results");
        }
        if matches!(self.messages.last(), Some(Message::Assistant { .. })) {
            return Err("ended by the user or by results of tools");
        }
        let system = Some(self.system.join("\n\n")).filter(|text| !text.is_empty());
        Ok(ParsedConversation { system, ..split_conversation(self.messages)? })
    }
}

/// Splits messages at the last one of the user.
pub(super) fn split_conversation(mut messages: Vec<Message>) -> Result<ParsedConversation, &'static str> {
    let last = messages.iter().rposition(|message| matches!(message, Message::User { .. }));
    let Some(last) = last else { return Err("an array of objects with a message of the user among them") };
    let trailing_messages = messages.split_off(last + 1);
    let Some(Message::User { text, attachments }) = messages.pop() else { return Err("an array of objects") };
    if text.trim().is_empty() && attachments.is_empty() {
        return Err("without a last message of the user that is blank");
    }
    Ok(ParsedConversation { system: None, history: group_turns(messages), text, attachments, trailing_messages })
}

/// Groups messages into turns: each user message starts one; blank ones without files are dropped.
fn group_turns(messages: Vec<Message>) -> Vec<HistoryTurn> {
    let mut turns: Vec<HistoryTurn> = Vec::new();
    for message in messages {
        let starts_turn = matches!(message, Message::User { .. });
        let is_blank = |text: &str, attachments: &[Attachment]| text.trim().is_empty() && attachments.is_empty();
        if matches!(&message, Message::User { text, attachments } if is_blank(text, attachments)) {
            continue;
        }
        match turns.last_mut() {
            Some(turn) if !starts_turn => turn.messages.push(message),
            _ => turns.push(HistoryTurn { seq: turns.len() as u64 + 1, messages: vec![message] }),
        }
    }
    turns
}

fn parse_call(mut row: StrictObject) -> Result<ToolCall, Failure> {
    let id = row.take_string("id")?.ok_or_else(|| row.field_error("id", "given: a string"))?;
    let mut function = row.take_nested("function")?.ok_or_else(|| row.field_error("function", "given: an object"))?;
    let name = function.take_string("name")?.ok_or_else(|| function.field_error("name", "given: a string"))?;
    let arguments = parse_arguments(function.take_string("arguments")?.unwrap_or_default());
    Ok(ToolCall { id, name, arguments })
}

/// The arguments of a call; those that are not JSON are kept as text.
pub(super) fn parse_arguments(text: String) -> Value {
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// The text and the files of a user message: a string, or parts.
fn take_user_content(row: &mut StrictObject) -> Result<Option<(String, Vec<Attachment>)>, Failure> {
    if row.is_string("content") {
        return Ok(row.take_string("content")?.map(|text| (text, Vec::new())));
    }
    let Some(parts) = row.take_objects("content", MAX_ROWS)? else { return Ok(None) };
    let mut content = UserContent::default();
    for mut part in parts {
        match part.take_string("type")?.as_deref() {
            Some("text") => content.add_text(&mut part, "text")?,
            Some("image_url") if part.is_string("image_url") => content.add_image(&mut part, "image_url")?,
            Some("image_url") => content.add_image(&mut required_object(&mut part, "image_url")?, "url")?,
            Some("file") => content.add_file(&mut required_object(&mut part, "file")?, &["file_data"])?,
            _ => return Err(part.field_error("type", "text, image_url or file: nothing else can be read here")),
        }
    }
    Ok(Some(content.into_parts()))
}

fn required_object(part: &mut StrictObject, name: &str) -> Result<StrictObject, Failure> {
    part.take_nested(name)?.ok_or_else(|| part.field_error(name, "given: an object"))
}

/// The text of a message without files: a string, or joined text parts.
fn take_content(row: &mut StrictObject) -> Result<Option<String>, Failure> {
    let accepted = "a string, or an array of parts of type text: nothing else can be read here";
    match row.take_value("content") {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Array(parts)) => {
            let texts: Option<Vec<String>> = parts.iter().map(part_text).collect();
            texts.map(|texts| Some(texts.join("\n"))).ok_or_else(|| row.field_error("content", accepted))
        }
        Some(_) => Err(row.field_error("content", accepted)),
    }
}

fn part_text(part: &Value) -> Option<String> {
    let name = match part["type"].as_str()? {
        "text" => "text",
        "refusal" => "refusal",
        _ => return None,
    };
    part[name].as_str().map(str::to_owned)
}

/// The calls of one message and the results received for them, each found by its id in constant time.
#[derive(Default)]
pub(super) struct PendingResults {
    names: Vec<String>,
    /// The positions of calls without a result, by id; the next one is at the end.
    open_positions: HashMap<String, Vec<usize>>,
    results: Vec<Option<Message>>,
    missing_count: usize,
}

impl PendingResults {
    /// Expects one result for each of these calls.
    pub(super) fn for_calls(calls: &[ToolCall]) -> Self {
        let mut open_positions: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, call) in calls.iter().enumerate().rev() {
            open_positions.entry(call.id.clone()).or_default().push(at);
        }
        let names = calls.iter().map(|call| call.name.clone()).collect();
        Self { names, open_positions, results: vec![None; calls.len()], missing_count: calls.len() }
    }

    pub(super) fn are_complete(&self) -> bool {
        self.missing_count == 0
    }

    /// Adds the result of a call; `None` if no call with this id is open.
    pub(super) fn add(&mut self, id: String, content: String) -> Option<()> {
        let at = self.open_positions.get_mut(&id)?.pop()?;
        let name = std::mem::take(self.names.get_mut(at)?);
        *self.results.get_mut(at)? = Some(Message::Tool(ToolMessage { call_id: id, name, ok: true, content }));
        self.missing_count -= 1;
        Some(())
    }

    /// Takes the results in the order of their calls, independent of arrival order.
    pub(super) fn take_results(&mut self) -> impl Iterator<Item = Message> {
        std::mem::take(self).results.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests;
