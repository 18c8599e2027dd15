//! What the marks for Anthropic's cache save: a conversation of ten turns, three of them with a search, against an endpoint
//! that caches as Anthropic documents it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use support::{FakeEndpoint, Reply, Request, TestApp};

/// The minimum length of a cached beginning, in tokens, for Sonnet.
const MIN_TOKENS: usize = 1024;

/// How many blocks before a mark are compared with the cache.
const LOOKBACK: usize = 20;

/// Prices relative to that of plain input: read from the cache, and written to it.
const READ_PRICE: f64 = 0.1;
const WRITE_PRICE: f64 = 1.25;

/// The cache of the endpoint, and the input of all requests so far, in tokens.
#[derive(Default)]
struct Cache {
    beginnings: HashSet<String>,
    plain: usize,
    read: usize,
    written: usize,
}

impl Cache {
    /// Counts a request; returns its usage.
    fn count(&mut self, body: &Value) -> Value {
        let blocks = blocks(body);
        let beginning = |end: usize| blocks[..end].iter().map(|(text, _)| text.as_str()).collect::<String>();
        let is_long = |end: &usize| tokens(&beginning(*end)) >= MIN_TOKENS;
        let marks: Vec<usize> = (1..=blocks.len()).filter(|end| blocks[end - 1].1).filter(is_long).collect();
        let compared = marks.iter().flat_map(|mark| mark.saturating_sub(LOOKBACK)..=*mark);
        let hit = compared.filter(|end| self.beginnings.contains(&beginning(*end))).max().unwrap_or_default();
        let read = tokens(&beginning(hit));
        let written = marks.last().map_or(0, |mark| tokens(&beginning(*mark)).saturating_sub(read));
        let all = tokens(&beginning(blocks.len()));
        self.beginnings.extend(marks.iter().map(|mark| beginning(*mark)));
        self.plain += all - read - written;
        self.read += read;
        self.written += written;
        json!({
            "input_tokens": all - read - written, "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written, "output_tokens": 5,
        })
    }

    /// The price without and with the cache, in tokens of plain input.
    #[expect(clippy::cast_precision_loss, reason = "counts of thousands")]
    fn prices(&self) -> (f64, f64) {
        let [plain, read, written] = [self.plain, self.read, self.written].map(|tokens| tokens as f64);
        (plain + read + written, plain + read * READ_PRICE + written * WRITE_PRICE)
    }
}

fn tokens(text: &str) -> usize {
    text.len() / 4
}

/// The blocks of a prompt in the order of the cache, and whether each is marked.
fn blocks(body: &Value) -> Vec<(String, bool)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let messages = list(&body["messages"]).into_iter().flat_map(|message| list(&message["content"]));
    let blocks = list(&body["tools"]).into_iter().chain(list(&body["system"])).chain(messages);
    let split = |mut block: Value| {
        let mark = block.as_object_mut().unwrap().remove("cache_control");
        (block.to_string(), mark.is_some())
    };
    blocks.map(split).collect()
}

fn respond(request: &Request, cache: &Mutex<Cache>) -> Reply {
    let body = request.json();
    let usage = cache.lock().unwrap().count(&body);
    let last =
        body["messages"].as_array().unwrap().last().unwrap()["content"].as_array().unwrap().last().unwrap().clone();
    let searches = last["text"].as_str().is_some_and(|text| text.starts_with("search"));
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "search_web", "input": { "query": last["text"] } });
    let answer = json!({ "type": "text", "text": "An answer of some sentences. ".repeat(20) });
    let (block, reason) = if searches { (call, "tool_use") } else { (answer, "end_turn") };
    FakeEndpoint::events([
        json!({ "type": "message_start", "message": { "usage": usage } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": reason } }),
        json!({ "type": "message_stop" }),
    ])
}

#[tokio::test]
async fn cache_halves_the_input_price_of_conversations() {
    let (endpoint, cache) = (FakeEndpoint::start().await, Arc::new(Mutex::new(Cache::default())));
    let counting = Arc::clone(&cache);
    endpoint.respond_with(move |request| respond(request, &counting));
    let models = json!([{
        "name": "claude", "wire": "anthropic", "baseUrl": endpoint.url(), "model": "claude-sonnet-4-5",
        "apiKeyVar": "X_KEY",
    }]);
    let options = r#"{"claude":{"price":{"input":3,"cachedInput":0.3,"cacheWrite":3.75,"output":15}}}"#;
    let settings =
        [("MODELS", &*models.to_string()), ("MODEL_OPTIONS", options), ("X_KEY", "k"), ("DEFAULT_MODEL", "claude")];
    let app = TestApp::start_with(&settings).await;
    let (mut conversation, mut cached) = (None, 0);
    for turn in 1..=10 {
        let question = if turn % 3 == 0 { format!("search {turn}") } else { format!("question {turn}") };
        let mut message = json!({ "message": question });
        if let Some(id) = &conversation {
            message["conversationId"] = Value::from(String::clone(id));
        }
        let transcript = app.chat(&message).await;
        assert_eq!(transcript.finish_reason(), "stop");
        cached += transcript.events_of("usage")[0]["cachedTokens"].as_u64().unwrap_or_default();
        conversation = Some(transcript.conversation_id());
    }
    let cache = cache.lock().unwrap();
    let (before, after) = cache.prices();
    eprintln!(
        "input price in tokens of plain input: {before:.0} without marks, {after:.0} with them ({:.0} %)",
        after / before * 100.0
    );
    assert_eq!(endpoint.requests().len(), 13);
    assert_eq!(usize::try_from(cached).unwrap(), cache.read, "`usage` has what was read from the cache");
    assert!(after < before / 2.0, "{before} {after}");
}
