use domain::TurnAccumulator;
use serde_json::json;

use super::annotations::{annotate, link_definitions};
use super::{CompletionMeta, call_object, finish_reason_name, token_usage};
use crate::TurnDocument;

/// Renders a whole answer as one `chat.completion` object in JSON.
pub fn render_completion(head: &CompletionMeta, document: &TurnDocument) -> String {
    let CompletionMeta { id, created, model, citation_links } = head;
    let TurnAccumulator { content, thinking, client_tool_calls, sources, usage, .. } = &document.turn;
    let links = if *citation_links { link_definitions(&document.turn) } else { String::new() };
    let only_calls = content.is_empty() && !client_tool_calls.is_empty();
    let content_and_links = (!only_calls).then(|| format!("{content}{links}"));
    let mut message = json!({ "role": "assistant", "content": content_and_links, "refusal": null });
    if !thinking.is_empty() {
        message["reasoning_content"] = thinking.as_str().into();
    }
    message["annotations"] = annotate(content, sources).into();
    if !client_tool_calls.is_empty() {
        message["tool_calls"] = client_tool_calls.iter().map(|call| call_object(None, call)).collect();
    }
    let finish_reason = finish_reason_name(document.finish_reason);
    let choice = json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason });
    let usage = token_usage(&usage.unwrap_or_default());
    json!({
        "id": id, "object": "chat.completion", "created": created, "model": model, "choices": [choice], "usage": usage,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use domain::{Event, FinishReason, ToolCall, ToolEvent};
    use serde_json::Value;

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
