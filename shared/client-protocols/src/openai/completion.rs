use domain::TurnAccumulator;
use serde::Serialize;

use super::annotations::{Annotation, annotate};
use super::citation_links::definitions;
use super::{CallObject, CompletionMeta, TokenUsage, finish_reason_name};
use crate::TurnDocument;

#[derive(Serialize)]
struct Completion<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: [CompletionChoice<'a>; 1],
    usage: TokenUsage,
}

#[derive(Serialize)]
struct CompletionChoice<'a> {
    index: u32,
    message: CompletionMessage<'a>,
    logprobs: Option<()>,
    finish_reason: &'static str,
}

#[derive(Serialize)]
struct CompletionMessage<'a> {
    role: &'static str,
    /// `null` if there are only calls.
    content: Option<String>,
    refusal: Option<()>,
    #[serde(skip_serializing_if = "str::is_empty")]
    reasoning_content: &'a str,
    annotations: Vec<Annotation<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CallObject<'a>>,
}

/// Renders a whole answer as one `chat.completion` object in JSON.
pub fn render_completion(head: &CompletionMeta, document: &TurnDocument) -> String {
    let CompletionMeta { id, created, model, citation_links } = head;
    let TurnAccumulator { content, thinking, client_tool_calls, sources, usage, .. } = &document.turn;
    let links = if *citation_links { definitions(&document.turn) } else { String::new() };
    let only_calls = content.is_empty() && !client_tool_calls.is_empty();
    let message = CompletionMessage {
        role: "assistant",
        content: (!only_calls).then(|| format!("{content}{links}")),
        refusal: None,
        reasoning_content: thinking,
        annotations: annotate(content, sources),
        tool_calls: client_tool_calls.iter().map(|call| CallObject::new(None, call)).collect(),
    };
    let finish_reason = finish_reason_name(document.finish_reason);
    let choices = [CompletionChoice { index: 0, message, logprobs: None, finish_reason }];
    let usage = (&usage.unwrap_or_default()).into();
    let completion = Completion { id, object: "chat.completion", created: *created, model, choices, usage };
    serde_json::to_string(&completion).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use domain::{Event, FinishReason, ToolCall, ToolEvent};
    use serde_json::{Value, json};

    use super::*;

    fn message(events: &[Event]) -> Value {
        let mut turn = TurnAccumulator::default();
        for event in events {
            turn.apply(event);
        }
        let document = TurnDocument::new(turn).unwrap();
        let head = CompletionMeta { id: "chatcmpl-1".into(), created: 7, model: "m".into(), citation_links: false };
        serde_json::from_str(&render_completion(&head, &document)).unwrap()
    }

    #[test]
    fn answer_with_only_calls_has_no_content() {
        let call = ToolCall { id: "a".into(), name: "f".into(), arguments: json!({}) };
        let done = Event::End(Ok(FinishReason::ToolCalls));
        let calls = json!([{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
        let message = json!({
            "role": "assistant", "content": null, "refusal": null, "annotations": [], "tool_calls": calls,
        });
        let expected = json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 7, "model": "m",
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        });
        assert_eq!(self::message(&[Event::Tool(ToolEvent::ClientCall(Box::new(call))), done]), expected);
        let empty = self::message(&[Event::End(Ok(FinishReason::Deadline))]);
        assert_eq!(
            (&empty["choices"][0]["message"]["content"], &empty["choices"][0]["finish_reason"]),
            (&json!(""), &json!("length"))
        );
    }
}
