//! Requests that carry a text or a list of a given size into the product.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::probe::{Probe, UpstreamResponses};

/// Message of turns whose input comes from the upstream servers; the number makes searches distinct.
pub(crate) const QUESTION: &str = "go-{{id}}! https://example.com/{{id}}";

/// A turn with this message.
pub(crate) fn message(text: &str) -> Probe {
    Probe::post("/api/chat", json!({ "message": text }).to_string())
}

/// A turn with [`QUESTION`] and an agent that has every tool.
pub(crate) fn turn(plan: UpstreamResponses) -> Probe {
    Probe::post("/api/chat", json!({ "message": QUESTION, "agentId": "{{agent}}" }).to_string()).plan(plan)
}

/// A request of OpenAI's wire with these messages.
pub(crate) fn completion(messages: &Value) -> Probe {
    Probe::post("/v1/chat/completions", json!({ "model": "openai", "messages": messages }).to_string())
}

/// A message of the user.
pub(crate) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

/// A request of the AI SDK with these messages.
pub(crate) fn ui_request(messages: &Value) -> Probe {
    Probe::post("/api/ui/chat", json!({ "id": "ui-{{id}}", "messages": messages }).to_string())
}

/// A part of a UI message.
pub(crate) fn part(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// A model response with these deltas and its end.
pub(crate) fn stream(deltas: impl IntoIterator<Item = Value>) -> Bytes {
    let mut events = String::new();
    for delta in deltas {
        let chunk = json!({ "id": "c", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
        events.extend(["data: ", &chunk.to_string(), "\n\n"]);
    }
    events.push_str("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    events.into()
}

/// A model response with one call.
pub(crate) fn call(name: &str, arguments: &Value) -> Bytes {
    let mut call = json!({ "tool": name });
    for (key, value) in arguments.as_object().into_iter().flatten() {
        call[key] = value.clone();
    }
    stream([json!({ "content": format!("<tool_call>{call}</tool_call>") })])
}

/// A turn that reads a page of this text.
pub(crate) fn page_turn(text: &str) -> Probe {
    let row = json!({ "url": "https://example.com/{{id}}", "raw_content": text, "images": [] });
    let search = json!({ "results": [row], "failed_results": [], "usage": { "credits": 1 } });
    let model = call("read_url", &json!({ "url": "https://example.com/{{id}}" }));
    turn(UpstreamResponses { model, search: search.to_string().into(), ..UpstreamResponses::default() })
}

/// A turn whose search returns these rows.
pub(crate) fn search_turn(rows: &[Value]) -> Probe {
    let search = json!({ "query": "q", "answer": "a", "images": [], "results": rows, "usage": { "credits": 2 } });
    let model = call("search_web", &json!({ "query": "q{{id}}" }));
    turn(UpstreamResponses { model, search: search.to_string().into(), ..UpstreamResponses::default() })
}

/// A row of a search result.
pub(crate) fn row(url: &str, title: &str, content: &str) -> Value {
    json!({ "title": title, "url": url, "content": content, "score": 0.9, "raw_content": null })
}

/// A turn whose custom tool gets this response from its host.
pub(crate) fn tool(answer: impl Into<Bytes>) -> Probe {
    let model = call("host", &json!({ "id": "{{id}}" }));
    turn(UpstreamResponses { model, tool: answer.into(), ..UpstreamResponses::default() })
}

/// An update of a tool that no agent uses, with these additional fields.
pub(crate) fn definition(more: &Value) -> Probe {
    let mut tool = json!({
        "name": "probe", "description": "A host.", "endpoint": { "urlTemplate": "https://example.com/{id}" },
        "parameters": { "type": "object", "required": ["id"], "properties": { "id": { "type": "string" } } },
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        tool[key] = value.clone();
    }
    Probe { method: "PUT", ..Probe::post("/api/admin/tools/{{tool}}", tool.to_string()) }
}
