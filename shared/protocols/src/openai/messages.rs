use conversation::{Failure, Message, PastTurn, ToolCall};
use serde_json::Value;

use super::results::Results;
use crate::Fields;

/// Maximum number of messages in a request, and of calls in a message.
const MOST: usize = 10_000;

/// A conversation, split as a turn needs it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Talk {
    pub(super) system: Option<String>,
    pub(super) history: Vec<PastTurn>,
    pub(super) text: String,
    pub(super) since: Vec<Message>,
}

/// Parses `messages`. Roles may come in any order, but calls need their results, and the last message is from the user
/// or a tool.
pub(super) fn read(fields: &mut Fields) -> Result<Talk, Failure> {
    let rows = fields.objects("messages", MOST)?.unwrap_or_default();
    let mut reader = Reader::default();
    for row in rows {
        reader.take(row)?;
    }
    reader.finish().map_err(|accepted| fields.wrong("messages", accepted))
}

#[derive(Default)]
struct Reader {
    system: Vec<String>,
    said: Vec<Message>,
    /// The results for the calls of the last message.
    results: Results,
}

impl Reader {
    fn take(&mut self, mut row: Fields) -> Result<(), Failure> {
        let role = row.text("role")?.unwrap_or_default();
        if role != "tool" && !self.results.are_complete() {
            return Err(row.wrong("role", "`tool` until all calls before it have their results"));
        }
        match role.as_str() {
            "system" | "developer" => self.system.extend(content(&mut row)?.filter(|text| !text.trim().is_empty())),
            "user" => {
                let text = content(&mut row)?.ok_or_else(|| row.wrong("content", "given: a string or parts"))?;
                self.said.push(Message::User { text });
            }
            "assistant" => self.assistant(row)?,
            "tool" => self.result(row)?,
            _ => return Err(row.wrong("role", "system, developer, user, assistant or tool")),
        }
        Ok(())
    }

    fn assistant(&mut self, mut row: Fields) -> Result<(), Failure> {
        let refusal = row.text("refusal")?.unwrap_or_default();
        let text = content(&mut row)?.filter(|text| !text.is_empty()).unwrap_or(refusal);
        let thinking = row.text("reasoning_content")?.unwrap_or_default();
        let rows = row.objects("tool_calls", MOST)?.unwrap_or_default();
        let calls = rows.into_iter().map(call).collect::<Result<Vec<_>, _>>()?;
        self.results = Results::of(&calls);
        self.said.push(Message::Assistant { text, thinking, calls });
        Ok(())
    }

    fn result(&mut self, mut row: Fields) -> Result<(), Failure> {
        let id = row.text("tool_call_id")?.unwrap_or_default();
        let content = content(&mut row)?.unwrap_or_default();
        let accepted = "the id of a call before it, once";
        self.results.add(id, content).ok_or_else(|| row.wrong("tool_call_id", accepted))?;
        if self.results.are_complete() {
            self.said.extend(self.results.take());
        }
        Ok(())
    }

    /// Splits the messages at the last user message.
    fn finish(mut self) -> Result<Talk, &'static str> {
        if !self.results.are_complete() {
            return Err("complete: the last calls have no results");
        }
        if matches!(self.said.last(), Some(Message::Assistant { .. })) {
            return Err("ended by the user or by results of tools");
        }
        let last = self.said.iter().rposition(|message| matches!(message, Message::User { .. }));
        let Some(last) = last else { return Err("an array of objects with a message of the user among them") };
        let since = self.said.split_off(last + 1);
        let Some(Message::User { text }) = self.said.pop() else { return Err("an array of objects") };
        if text.trim().is_empty() {
            return Err("without a last message of the user that is blank");
        }
        let system = Some(self.system.join("\n\n")).filter(|text| !text.is_empty());
        Ok(Talk { system, history: turns(self.said), text, since })
    }
}

/// Groups messages into turns: each user message starts one; blank user messages are dropped.
fn turns(said: Vec<Message>) -> Vec<PastTurn> {
    let mut turns: Vec<PastTurn> = Vec::new();
    for message in said {
        let asks = matches!(message, Message::User { .. });
        if matches!(&message, Message::User { text } if text.trim().is_empty()) {
            continue;
        }
        match turns.last_mut() {
            Some(turn) if !asks => turn.messages.push(message),
            _ => turns.push(PastTurn { place: turns.len() as u64 + 1, messages: vec![message] }),
        }
    }
    turns
}

fn call(mut row: Fields) -> Result<ToolCall, Failure> {
    let id = row.text("id")?.ok_or_else(|| row.wrong("id", "given: a string"))?;
    let mut function = row.inner("function")?.ok_or_else(|| row.wrong("function", "given: an object"))?;
    let name = function.text("name")?.ok_or_else(|| function.wrong("name", "given: a string"))?;
    let text = function.text("arguments")?.unwrap_or_default();
    // Arguments that are not JSON are kept as text.
    let arguments = if text.trim().is_empty() {
        Value::Object(serde_json::Map::new())
    } else {
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    };
    Ok(ToolCall { id, name, arguments })
}

/// The text of a message: a string, or joined text parts.
fn content(row: &mut Fields) -> Result<Option<String>, Failure> {
    let accepted = "a string, or an array of parts of type text: nothing else can be read here";
    match row.take("content") {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Array(parts)) => {
            let texts: Option<Vec<String>> = parts.iter().map(part).collect();
            texts.map(|texts| Some(texts.join("\n"))).ok_or_else(|| row.wrong("content", accepted))
        }
        Some(_) => Err(row.wrong("content", accepted)),
    }
}

fn part(part: &Value) -> Option<String> {
    let name = match part["type"].as_str()? {
        "text" => "text",
        "refusal" => "refusal",
        _ => return None,
    };
    part[name].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use conversation::ToolResult;
    use serde_json::json;

    use super::*;

    fn talk(messages: &Value) -> Result<Talk, Failure> {
        read(&mut Fields::parse(json!({ "messages": messages }).to_string().as_bytes()).unwrap())
    }

    fn said(text: &str, calls: Vec<ToolCall>) -> Message {
        Message::Assistant { text: text.into(), thinking: String::new(), calls }
    }

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    #[test]
    fn conversation_is_split_at_last_user_message() {
        let calls = json!([
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}},
            {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{broken"}},
        ]);
        let messages = json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "一"}, {"type": "text", "text": "二"}]},
            {"role": "assistant", "content": "答"},
            {"role": "user", "content": " "},
            {"role": "developer", "content": [{"type": "text", "text": "In Chinese."}]},
            {"role": "user", "content": "三"},
            {"role": "assistant", "content": null, "tool_calls": calls, "reasoning_content": "hm"},
            {"role": "tool", "tool_call_id": "b", "content": "rb"},
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "ra"}]},
        ]);
        let call = |id: &str, name: &str, arguments| ToolCall { id: id.into(), name: name.into(), arguments };
        let result = |id: &str, name: &str, content: &str| {
            Message::Tool(ToolResult { call_id: id.into(), name: name.into(), ok: true, content: content.into() })
        };
        let calls = vec![call("a", "f", json!({"x": 1})), call("b", "g", json!("{broken"))];
        let called = Message::Assistant { text: String::new(), thinking: "hm".into(), calls };
        let expected = Talk {
            system: Some("Be brief.\n\nIn Chinese.".into()),
            history: vec![PastTurn { place: 1, messages: vec![user("一\n二"), said("答", Vec::new())] }],
            text: "三".into(),
            since: vec![called, result("a", "f", "ra"), result("b", "g", "rb")],
        };
        assert_eq!(talk(&messages), Ok(expected));
    }

    #[test]
    fn unanswerable_messages_are_rejected_by_path() {
        let call = json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
        let called = json!({"role": "assistant", "tool_calls": [call]});
        let user = json!({"role": "user", "content": "hi"});
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "r"});
        let image = json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]});
        for (messages, param) in [
            (json!([]), "messages"),
            (json!([{"role": "system", "content": "x"}]), "messages"),
            (json!([{"role": "user", "content": ""}]), "messages"),
            (json!([user, {"role": "assistant", "content": "and"}]), "messages"),
            (json!([user, called]), "messages"),
            (json!([user, called, user]), "messages[2].role"),
            (json!([user, called, result, result]), "messages[3].tool_call_id"),
            (json!([image]), "messages[0].content"),
            (json!([{"role": "robot", "content": "x"}]), "messages[0].role"),
            (json!([{"role": "user"}]), "messages[0].content"),
        ] {
            assert_eq!(talk(&messages).unwrap_err().param.as_deref(), Some(param), "{messages}");
        }
    }
}
