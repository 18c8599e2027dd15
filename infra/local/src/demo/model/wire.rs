//! The wire of OpenAI's chat completions, as far as the demo model speaks it.

use std::time::{Duration, SystemTime};

use axum::Json;
use axum::response::Sse;
use axum::response::sse::Event;
use futures_util::stream::{self, Stream, StreamExt};
use serde_json::{Map, Value, json};

use crate::demo::model::planned_call::PlannedCall;
use crate::demo::model::reply::Reply;
use crate::demo::model::request::{Request, Tools};

/// Pause between two tokens, long enough to see the answer grow.
const TOKEN_PAUSE: Duration = Duration::from_millis(15);

/// Weight of a token: an ASCII character weighs one, any other two.
const TOKEN_WEIGHT: usize = 4;

const ID: &str = "chatcmpl-demo";

/// A reply in OpenAI's format.
pub(super) struct Completion {
    model: String,
    /// Tokens, or parts of a call.
    deltas: Vec<Value>,
    finish_reason: &'static str,
    usage: Value,
}

impl Completion {
    /// Splits a reply into tokens and counts them.
    pub(super) fn new(request: &Request, reply: Reply) -> Self {
        let prompt = tokens(&request.text()).len();
        let (deltas, finish_reason) = match reply.call {
            // The prompt contains the calls of earlier rounds, so ids derived from its length differ from theirs.
            Some((Tools::Native, call)) => {
                (native_deltas(&reply.thinking, &reply.text, call, &format!("call_demo_{prompt}")), "tool_calls")
            }
            _ => (text_deltas(reply), "stop"),
        };
        let completion = deltas.len();
        Self {
            model: request.model.clone(),
            deltas,
            finish_reason,
            usage: json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}),
        }
    }

    /// The reply as a stream of small chunks; the last one has the usage.
    pub(super) fn into_sse(self) -> Sse<impl Stream<Item = Result<Event, axum::Error>>> {
        let Self { model, deltas, finish_reason, usage } = self;
        let created = now();
        let chunk = |choices: Value, usage: Value| {
            json!({"id": ID, "object": "chat.completion.chunk", "created": created, "model": model,
                "choices": choices, "usage": usage})
        };
        let choice = |delta: Value, finish: Option<&str>| {
            chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish}]), Value::Null)
        };
        let mut chunks = vec![choice(json!({"role": "assistant", "content": ""}), None)];
        chunks.extend(deltas.into_iter().map(|delta| choice(delta, None)));
        chunks.push(choice(json!({}), Some(finish_reason)));
        chunks.push(chunk(json!([]), usage));
        let events = chunks.into_iter().map(|chunk| Event::default().json_data(chunk));
        let events = events.chain([Ok(Event::default().data("[DONE]"))]);
        Sse::new(stream::iter(events).then(|event| async {
            tokio::time::sleep(TOKEN_PAUSE).await;
            event
        }))
    }

    /// The reply as one document.
    pub(super) fn into_document(self) -> Json<Value> {
        let text = |path: &str| {
            self.deltas.iter().filter_map(|delta| delta.pointer(path)?.as_str()).collect::<Vec<_>>().concat()
        };
        let mut message = json!({"role": "assistant", "content": text("/content")});
        let reasoning = text("/reasoning_content");
        if !reasoning.is_empty() {
            message["reasoning_content"] = reasoning.into();
        }
        if let Some(call) = self.deltas.iter().find_map(|delta| delta.pointer("/tool_calls/0")) {
            let (name, arguments) = (&call["function"]["name"], text("/tool_calls/0/function/arguments"));
            let function = json!({"name": name, "arguments": arguments});
            message["tool_calls"] = json!([{"id": call["id"], "type": call["type"], "function": function}]);
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": self.finish_reason});
        Json(json!({"id": ID, "object": "chat.completion", "created": now(), "model": self.model,
            "choices": [choice], "usage": self.usage}))
    }
}

/// Encodes everything as text, for a client that parses reasoning and calls from it.
fn text_deltas(reply: Reply) -> Vec<Value> {
    let Reply { thinking, text, call } = reply;
    let thinking = if thinking.is_empty() { thinking } else { format!("<think>{thinking}</think>") };
    let call = call.map(|(_, planned_call)| call_text(planned_call)).unwrap_or_default();
    deltas("content", &format!("{thinking}{text}{call}")).collect()
}

fn call_text(PlannedCall { tool, argument, value }: PlannedCall) -> String {
    // Escape `<` in JSON, so that no scanner finds a tag in the query.
    let value = Value::from(value).to_string().replace('<', "\\u003c");
    format!(r#"<tool_call>{{"tool": "{tool}", "{argument}": {value}}}</tool_call>"#)
}

/// Encodes reasoning and the call in separate fields.
fn native_deltas(thinking: &str, text: &str, call: PlannedCall, id: &str) -> Vec<Value> {
    let PlannedCall { tool, argument, value } = call;
    let opening = json!([{"index": 0, "id": id, "type": "function", "function": {"name": tool, "arguments": ""}}]);
    let arguments = json!({ argument: value }).to_string();
    let parts = tokens(&arguments).into_iter().map(|part| json!([{"index": 0, "function": {"arguments": part}}]));
    let calls = std::iter::once(opening).chain(parts).map(|calls| json!({"tool_calls": calls}));
    deltas("reasoning_content", thinking).chain(deltas("content", text)).chain(calls).collect()
}

/// The tokens of a text as values of a field.
fn deltas(field: &'static str, text: &str) -> impl Iterator<Item = Value> {
    tokens(text).into_iter().map(move |token| Map::from_iter([(field.to_owned(), token.into())]).into())
}

/// Splits a text into pieces of two to four characters.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let (mut token, mut weight) = (String::new(), 0);
    for c in text.chars() {
        token.push(c);
        weight += if c.is_ascii() { 1 } else { 2 };
        if weight >= TOKEN_WEIGHT {
            tokens.push(std::mem::take(&mut token));
            weight = 0;
        }
    }
    if !token.is_empty() {
        tokens.push(token);
    }
    tokens
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}
