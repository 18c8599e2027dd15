//! Scripted responses of the model and the search.

use serde_json::{Value, json};
use support::{Completion, FakeTavily, Gate, Reply};

use crate::kinds::ScriptedReply;

/// The user message.
pub(crate) const QUESTION: &str = "这个周末杭州的天气怎么样，适合去西湖边走走吗？";

/// Text of a page, repeated.
const CONTENT: &str = "周末杭州以多云为主，气温十七到二十三度，早晚有雾，";

/// Number of characters of a page in a search result.
const SEARCH_RESULT_CHARS: usize = 600;

/// Number of characters of a page that is read.
const PAGE_CHARS: usize = 6000;

/// Deltas of two characters each.
const DELTAS: [&str; 6] = ["今天", "我们", "可以", "看到", "西湖", "边上"];

/// Builds a reply. The provider reports no usage, so the product estimates the tokens from the text.
pub(crate) fn reply(scripted: ScriptedReply, gate: &Gate) -> Reply {
    let pieces = |count: usize| DELTAS.into_iter().cycle().take(count);
    let stream = Completion::new();
    let stream = match scripted {
        ScriptedReply::Pieces(count) => pieces(count).fold(stream, Completion::text),
        ScriptedReply::SlowPieces(count) => {
            let stream = pieces(count / 2).fold(stream, Completion::text).wait(gate);
            pieces(count - count / 2).fold(stream, Completion::text)
        }
        ScriptedReply::Call(call) => stream.text(&format!("<tool_call>{call}</tool_call>")),
    };
    stream.finish("stop").done().reply()
}

/// Builds the search provider's response: the requested number of results, or the requested page.
pub(crate) fn search_response(body: &Value) -> Reply {
    if let Some(url) = body["urls"].get(0) {
        let row = json!({ "url": url, "raw_content": text(PAGE_CHARS), "images": [] });
        let answer = json!({ "results": [row], "failed_results": [], "usage": { "credits": 1 } });
        return Reply::json(200, &answer);
    }
    let query = body["query"].as_str().unwrap_or_default();
    let page = |n: u64| {
        let (title, url) = (format!("{query}：第{n}页"), format!("https://example.com/{n}"));
        json!({ "title": title, "url": url, "content": text(SEARCH_RESULT_CHARS), "score": 0.9, "raw_content": null })
    };
    let pages: Vec<_> = (1..=body["max_results"].as_u64().unwrap_or_default()).map(page).collect();
    FakeTavily::search_reply_with(query, &pages.into(), &json!(text(SEARCH_RESULT_CHARS / 3)))
}

fn text(characters: usize) -> String {
    CONTENT.chars().cycle().take(characters).collect()
}
