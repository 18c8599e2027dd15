//! The wire of OpenAI's chat completions, as far as the demo model speaks it.

use std::time::{Duration, SystemTime};

use axum::Json;
use axum::response::Sse;
use axum::response::sse::Event;
use futures_util::stream::{self, Stream, StreamExt};
use serde::Serialize;
use serde_json::{Value, json};

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
    deltas: Vec<Delta>,
    finish_reason: &'static str,
    usage: Usage,
}

/// A token, or a part of a call.
#[derive(Clone, Debug, Default, Serialize)]
struct Delta {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call>,
}

#[derive(Clone, Debug, Serialize)]
struct Call {
    index: usize,
    #[serde(flatten)]
    head: Option<CallHead>,
    function: Function,
}

#[derive(Clone, Debug, Serialize)]
struct CallHead {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Function {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'static str>,
    arguments: String,
}

/// Token counts of this model.
#[derive(Clone, Copy, Debug, Serialize)]
struct Usage {
    #[serde(rename = "prompt_tokens")]
    prompt: usize,
    #[serde(rename = "completion_tokens")]
    completion: usize,
    #[serde(rename = "total_tokens")]
    total: usize,
}

impl Completion {
    /// Splits a reply into tokens and counts them.
    pub(super) fn new(request: &Request, reply: Reply) -> Self {
        let prompt = tokens(&request.text()).len();
        let native = matches!(reply.call, Some((Tools::Native, _)));
        // The prompt contains the calls of earlier rounds, so ids derived from its length differ from theirs.
        let deltas = if native { native_deltas(reply, &format!("call_demo_{prompt}")) } else { text_deltas(reply) };
        let completion = deltas.len();
        Self {
            model: request.model.clone(),
            deltas,
            finish_reason: if native { "tool_calls" } else { "stop" },
            usage: Usage { prompt, completion, total: prompt + completion },
        }
    }

    /// The reply as a stream of small chunks; the last one has the usage.
    pub(super) fn into_sse(self) -> Sse<impl Stream<Item = Result<Event, axum::Error>>> {
        let created = now();
        let chunk = |choices: Value, usage: Option<Usage>| {
            json!({"id": ID, "object": "chat.completion.chunk", "created": created, "model": self.model,
                "choices": choices, "usage": usage})
        };
        let choice =
            |delta: &Delta, finish: Option<&str>| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        let opening = Delta { role: Some("assistant"), content: Some(String::new()), ..Delta::default() };
        let mut chunks = vec![chunk(choice(&opening, None), None)];
        chunks.extend(self.deltas.iter().map(|delta| chunk(choice(delta, None), None)));
        chunks.push(chunk(choice(&Delta::default(), Some(self.finish_reason)), None));
        chunks.push(chunk(json!([]), Some(self.usage)));
        let events = chunks.into_iter().map(|chunk| Event::default().json_data(chunk));
        let events = events.chain([Ok(Event::default().data("[DONE]"))]);
        Sse::new(stream::iter(events).then(|event| async {
            tokio::time::sleep(TOKEN_PAUSE).await;
            event
        }))
    }

    /// The reply as one document.
    pub(super) fn into_document(self) -> Json<Value> {
        let text =
            |part: fn(&Delta) -> Option<&String>| self.deltas.iter().filter_map(part).cloned().collect::<String>();
        let mut message = json!({"role": "assistant", "content": text(|delta| delta.content.as_ref())});
        let reasoning = text(|delta| delta.reasoning_content.as_ref());
        if !reasoning.is_empty() {
            message["reasoning_content"] = reasoning.into();
        }
        if let Some(call) = whole_call(&self.deltas) {
            message["tool_calls"] = json!([call]);
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": self.finish_reason});
        Json(json!({"id": ID, "object": "chat.completion", "created": now(), "model": self.model,
            "choices": [choice], "usage": self.usage}))
    }
}

/// Encodes everything as text, for a client that parses reasoning and calls from it.
fn text_deltas(reply: Reply) -> Vec<Delta> {
    let Reply { thinking, text, call } = reply;
    let thinking = if thinking.is_empty() { thinking } else { format!("<think>{thinking}</think>") };
    let call = call.map(|(_, planned_call)| call_text(planned_call)).unwrap_or_default();
    tokens(&format!("{thinking}{text}{call}")).into_iter().map(content).collect()
}

fn call_text(PlannedCall { tool, argument, value }: PlannedCall) -> String {
    // Escape `<` in JSON, so that no scanner finds a tag in the query.
    let value = Value::from(value).to_string().replace('<', "\\u003c");
    format!(r#"<tool_call>{{"tool": "{tool}", "{argument}": {value}}}</tool_call>"#)
}

/// Encodes reasoning and the call in separate fields.
fn native_deltas(reply: Reply, id: &str) -> Vec<Delta> {
    let Reply { thinking, text, call } = reply;
    let reasoning = |token| Delta { reasoning_content: Some(token), ..Delta::default() };
    let name = call.as_ref().map(|(_, planned_call)| planned_call.tool);
    let arguments = call
        .map(|(_, planned_call)| json!({planned_call.argument: planned_call.value}).to_string())
        .unwrap_or_default();
    let head = CallHead { id: id.to_owned(), kind: "function" };
    let opening = call_delta(Some(head), Function { name, arguments: String::new() });
    let thinking = tokens(&thinking).into_iter().map(reasoning);
    let arguments =
        tokens(&arguments).into_iter().map(|arguments| call_delta(None, Function { name: None, arguments }));
    thinking.chain(tokens(&text).into_iter().map(content)).chain([opening]).chain(arguments).collect()
}

fn content(token: String) -> Delta {
    Delta { content: Some(token), ..Delta::default() }
}

fn call_delta(head: Option<CallHead>, function: Function) -> Delta {
    Delta { tool_calls: vec![Call { index: 0, head, function }], ..Delta::default() }
}

fn whole_call(deltas: &[Delta]) -> Option<Value> {
    let calls = || deltas.iter().flat_map(|delta| &delta.tool_calls);
    let head = calls().find_map(|call| call.head.as_ref())?;
    let name = calls().find_map(|call| call.function.name)?;
    let arguments: String = calls().map(|call| call.function.arguments.as_str()).collect();
    Some(json!({"id": head.id, "type": head.kind, "function": {"name": name, "arguments": arguments}}))
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
