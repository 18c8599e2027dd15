use conversation::FinishReason;
use serde::Serialize;

use super::annotations::{Annotation, annotations};
use super::{Call, Head, Usage, word};
use crate::Document;

#[derive(Serialize)]
struct Completion<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: [Choice<'a>; 1],
    usage: Usage,
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    message: Message<'a>,
    logprobs: Option<()>,
    finish_reason: &'static str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    /// `null` if there are only calls.
    content: Option<&'a str>,
    refusal: Option<()>,
    #[serde(skip_serializing_if = "str::is_empty")]
    reasoning_content: &'a str,
    annotations: Vec<Annotation<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

/// Renders a whole answer as one `chat.completion` object in JSON.
pub fn completion(head: &Head, said: &Document) -> String {
    let Head { id, created, model } = head;
    let only_calls = said.content.is_empty() && !said.callers_calls.is_empty();
    let message = Message {
        role: "assistant",
        content: (!only_calls).then_some(&said.content),
        refusal: None,
        reasoning_content: &said.thinking,
        annotations: annotations(&said.content, &said.sources),
        tool_calls: said.callers_calls.iter().map(|call| Call::new(None, call)).collect(),
    };
    let finish_reason = word(said.finish_reason.unwrap_or(FinishReason::Stop));
    let choices = [Choice { index: 0, message, logprobs: None, finish_reason }];
    let usage = (&said.usage).into();
    let whole = Completion { id, object: "chat.completion", created: *created, model, choices, usage };
    serde_json::to_string(&whole).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use conversation::{Event, ToolCall};
    use serde_json::{Value, json};

    use super::*;

    fn message(events: &[Event]) -> Value {
        let mut said = Document::default();
        for event in events {
            said.add(event);
        }
        let head = Head { id: "chatcmpl-1".into(), created: 7, model: "m".into() };
        serde_json::from_str(&completion(&head, &said)).unwrap()
    }

    #[test]
    fn answer_with_only_calls_has_no_content() {
        let call = ToolCall { id: "a".into(), name: "f".into(), arguments: json!({}) };
        let done = Event::Done { finish_reason: FinishReason::ToolCalls };
        let calls = json!([{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
        let message = json!({
            "role": "assistant", "content": null, "refusal": null, "annotations": [], "tool_calls": calls,
        });
        let expected = json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 7, "model": "m",
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        });
        assert_eq!(self::message(&[Event::CallersCall(Box::new(call)), done]), expected);
        let silent = self::message(&[Event::Done { finish_reason: FinishReason::Deadline }]);
        assert_eq!(
            (&silent["choices"][0]["message"]["content"], &silent["choices"][0]["finish_reason"]),
            (&json!(""), &json!("length"))
        );
    }
}
