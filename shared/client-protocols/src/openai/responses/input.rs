use std::collections::HashMap;

use domain::{Attachment, Failure, Message, StrictObject, ToolCall, ToolMessage};
use serde_json::Value;

use super::ResponseId;
use crate::attachments::UserContent;
use crate::openai::messages::parse_arguments;

/// Maximum number of items in a request.
const MAX_ITEMS: usize = 10_000;

/// Maximum number of stored responses to which a request may refer: each is read.
const MAX_REFERENCES: usize = 100;

/// An item of a request's input.
#[derive(Clone, Debug, PartialEq)]
pub enum InputItem {
    /// A message, calls of the client's tools, or the result of one.
    Message(Message),
    /// Everything that this stored response has answered.
    Answer(ResponseId),
}

impl InputItem {
    pub(super) fn message(&self) -> Option<&Message> {
        if let Self::Message(message) = self { Some(message) } else { None }
    }
}

/// Parses `input`, a text or items; also returns the texts of `system` and `developer` messages. Items of unknown types, and
/// reasoning, are ignored.
pub(super) fn parse_input(fields: &mut StrictObject) -> Result<(Vec<InputItem>, Vec<String>), Failure> {
    let text = match fields.take_value("input") {
        Some(Value::String(text)) if !text.trim().is_empty() => text,
        Some(items @ Value::Array(_)) => {
            let items = StrictObject::of("input", items).take_objects("input", MAX_ITEMS)?.unwrap_or_default();
            let mut input = Input::default();
            for item in items {
                input.add(item)?;
            }
            return Ok((input.items, input.system));
        }
        _ => return Err(fields.field_error("input", "a text that is not blank, or an array of items")),
    };
    Ok((vec![InputItem::Message(Message::user(text))], Vec::new()))
}

#[derive(Default)]
struct Input {
    items: Vec<InputItem>,
    system: Vec<String>,
    references: Vec<ResponseId>,
}

impl Input {
    fn add(&mut self, mut item: StrictObject) -> Result<(), Failure> {
        let kind = item.take_string("type")?;
        match kind.as_deref() {
            None | Some("message") => self.add_message(item)?,
            Some("function_call") => self.add_call(item)?,
            Some("function_call_output") => {
                let call_id = required(&mut item, "call_id")?;
                let content = take_text(&mut item, "output")?;
                // The call has the name.
                let result = ToolMessage { call_id, name: String::new(), ok: true, content };
                self.items.push(InputItem::Message(Message::Tool(result)));
            }
            Some("item_reference") => {
                let id = required(&mut item, "id")?;
                let accepted = "the id of an item of a stored response";
                let answer = ResponseId::of_item(&id).ok_or_else(|| item.field_error("id", accepted))?;
                // Its other items are in the same answer.
                if !self.references.contains(&answer) {
                    if self.references.len() == MAX_REFERENCES {
                        return Err(item.field_error("id", &format!("one of at most {MAX_REFERENCES} responses")));
                    }
                    self.references.push(answer.clone());
                    self.items.push(InputItem::Answer(answer));
                }
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn add_message(&mut self, mut item: StrictObject) -> Result<(), Failure> {
        let role = required(&mut item, "role")?;
        if role == "user" {
            let (text, attachments) = take_user_content(&mut item)?;
            self.items.push(InputItem::Message(Message::User { text, attachments }));
            return Ok(());
        }
        let text = take_text(&mut item, "content")?;
        match role.as_str() {
            "system" | "developer" => self.system.extend(Some(text).filter(|text| !text.trim().is_empty())),
            "assistant" => self.items.push(InputItem::Message(assistant(text, Vec::new()))),
            _ => return Err(item.field_error("role", "system, developer, user or assistant")),
        }
        Ok(())
    }

    fn add_call(&mut self, mut item: StrictObject) -> Result<(), Failure> {
        let (id, name) = (required(&mut item, "call_id")?, required(&mut item, "name")?);
        let arguments = parse_arguments(item.take_string("arguments")?.unwrap_or_default());
        let call = ToolCall { id, name, arguments };
        match self.items.last_mut() {
            Some(InputItem::Message(Message::Assistant { calls, .. })) => calls.push(call),
            _ => self.items.push(InputItem::Message(assistant(String::new(), vec![call]))),
        }
        Ok(())
    }
}

fn assistant(text: String, calls: Vec<ToolCall>) -> Message {
    Message::Assistant { text, thinking: String::new(), calls, provider_data: None }
}

fn required(item: &mut StrictObject, name: &str) -> Result<String, Failure> {
    item.take_string(name)?.ok_or_else(|| item.field_error(name, "given: a string"))
}

/// The text and the files of a user message: a string, or parts.
fn take_user_content(item: &mut StrictObject) -> Result<(String, Vec<Attachment>), Failure> {
    if item.is_string("content") {
        return Ok((required(item, "content")?, Vec::new()));
    }
    let parts = item.take_objects("content", MAX_ITEMS)?;
    let mut content = UserContent::default();
    for mut part in parts.ok_or_else(|| item.field_error("content", "given: a string or parts"))? {
        match part.take_string("type")?.as_deref() {
            Some("input_text" | "output_text" | "text") => content.add_text(&mut part, "text")?,
            Some("input_image") => content.add_image(&mut part, "image_url")?,
            Some("input_file") => content.add_file(&mut part, &["file_data", "file_url"])?,
            _ => return Err(part.field_error("type", "input_text, input_image or input_file")),
        }
    }
    Ok(content.into_parts())
}

/// A string, or parts with a text each.
fn take_text(item: &mut StrictObject, name: &str) -> Result<String, Failure> {
    let accepted = "a string, or an array of parts of type input_text or output_text: nothing else can be read here";
    let part = |part: &Value| match part["type"].as_str()? {
        "input_text" | "output_text" | "text" | "summary_text" => part["text"].as_str().map(str::to_owned),
        "refusal" => part["refusal"].as_str().map(str::to_owned),
        _ => None,
    };
    let text = match item.take_value(name) {
        Some(Value::String(text)) => Some(text),
        Some(Value::Array(parts)) => parts.iter().map(part).collect::<Option<Vec<_>>>().map(|texts| texts.join("\n")),
        _ => None,
    };
    text.ok_or_else(|| item.field_error(name, accepted))
}

/// Checks that each call has its result before the next message, and each result its call; `before` are the calls with which
/// the earlier conversation ends. Names results after their calls.
///
/// # Errors
/// `invalid_request`.
pub fn check_calls(before: &[ToolCall], messages: &mut [Message]) -> Result<(), Failure> {
    let invalid = |message: &str| Err(StrictObject::default().field_error("input", message));
    let names = |calls: &[ToolCall]| calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
    // The names of the calls that have no result yet, by their ids.
    let mut open: HashMap<String, String> = names(before);
    for message in messages {
        match message {
            Message::Tool(result) => {
                let Some(name) = open.remove(&result.call_id) else {
                    return invalid("without an output that has no call before it");
                };
                result.name = name;
            }
            _ if !open.is_empty() => return invalid("complete: a function call has no output"),
            Message::Assistant { calls, .. } => open = names(calls),
            Message::User { .. } => {}
        }
    }
    if open.is_empty() { Ok(()) } else { invalid("complete: a function call has no output") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pictures_and_files_are_attachments_of_their_message() {
        let parts = json!([
            {"type": "input_text", "text": "a"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"},
            {"type": "input_file", "file_url": "https://a.example/b.csv"},
            {"type": "input_text", "text": "b"},
        ]);
        let at = |name: &str, media_type: &str, address| Attachment::at(name.into(), media_type.into(), address);
        let attachments = vec![
            at("", "image/png", "data:image/png;base64,AAAA"),
            at("a.pdf", "application/pdf", "data:application/pdf;base64,JVBE"),
            at("", "", "https://a.example/b.csv"),
        ];
        let expected = InputItem::Message(Message::User { text: "a\nb".to_owned(), attachments });
        let input = StrictObject::of("input", json!([{"role": "user", "content": parts}]));
        assert_eq!(parse_input(&mut { input }), Ok((vec![expected], Vec::new())));
    }
}
