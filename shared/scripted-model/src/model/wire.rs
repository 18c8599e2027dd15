//! The wire of OpenAI's chat completions, as far as the demo model speaks it.

use std::time::{Duration, SystemTime};

use axum::response::Sse;
use axum::response::sse::Event;
use futures_util::stream::{self, Stream, StreamExt};
use serde_json::{Value, json};

use crate::model::planned_call::PlannedCall;
use crate::model::reply::Reply;
use crate::model::request::Request;

/// Pause between two tokens, long enough to see the answer grow.
const TOKEN_PAUSE: Duration = Duration::from_millis(15);

/// Length of a token.
const TOKEN_CHARS: usize = 3;

const ID: &str = "chatcmpl-demo";

pub(super) struct Completion {
    model: String,
    pub(super) tokens: Vec<String>,
    usage: Value,
}

impl Completion {
    /// Splits a reply into tokens and counts them.
    pub(super) fn new(request: &Request, reply: Reply) -> Self {
        let prompt = tokens(&request.text()).len();
        let tokens = tokens(&text(reply));
        let completion = tokens.len();
        Self {
            model: request.model.clone(),
            tokens,
            usage: json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}),
        }
    }

    /// The reply as a stream of small chunks; the last one has the usage.
    pub(super) fn into_sse(self) -> Sse<impl Stream<Item = Result<Event, axum::Error>>> {
        let Self { model, tokens, usage } = self;
        let created = now();
        let chunk = |choices: Value, usage: Value| {
            json!({"id": ID, "object": "chat.completion.chunk", "created": created, "model": model,
                "choices": choices, "usage": usage})
        };
        let choice = |delta: Value, finish: Option<&str>| {
            chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish}]), Value::Null)
        };
        let mut chunks = vec![choice(json!({"role": "assistant", "content": ""}), None)];
        chunks.extend(tokens.into_iter().map(|token| choice(json!({"content": token}), None)));
        chunks.push(choice(json!({}), Some("stop")));
        chunks.push(chunk(json!([]), usage));
        let events = chunks.into_iter().map(|chunk| Event::default().json_data(chunk));
        let events = events.chain([Ok(Event::default().data("[DONE]"))]);
        Sse::new(stream::iter(events).then(|event| async {
            tokio::time::sleep(TOKEN_PAUSE).await;
            event
        }))
    }
}

/// Encodes everything as text, for a client that parses reasoning and calls from it.
fn text(Reply { thinking, text, calls }: Reply) -> String {
    let thinking = if thinking.is_empty() { thinking } else { format!("<think>{thinking}</think>") };
    let calls: Vec<String> = calls.into_iter().map(call_text).collect();
    format!("{thinking}{text}{}", calls.join("\n"))
}

fn call_text(PlannedCall { tool, argument, value }: PlannedCall) -> String {
    if value.is_empty() {
        return format!(r#"<tool_call>{{"tool": "{tool}"}}</tool_call>"#);
    }
    // Escape `<` in JSON, so that no scanner finds a tag in the query.
    let value = Value::from(value).to_string().replace('<', "\\u003c");
    format!(r#"<tool_call>{{"tool": "{tool}", "{argument}": {value}}}</tool_call>"#)
}

fn tokens(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(TOKEN_CHARS).map(|token| token.iter().collect()).collect()
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}
