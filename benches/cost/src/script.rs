//! Scripted responses of the model and the search.

use serde_json::{Value, json};
use support::{Completion, FakeTavily, Gate, Reply};

use crate::kinds::ScriptedReply;

/// The user message.
pub(crate) const QUESTION: &str = "这个周末杭州的天气怎么样，适合去西湖边走走吗？";

/// Number of different terms in the text of pages.
const TERMS: u32 = 1000;

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
        let row = json!({ "url": url, "raw_content": text(0, PAGE_CHARS), "images": [] });
        let answer = json!({ "results": [row], "failed_results": [], "usage": { "credits": 1 } });
        return Reply::json(200, &answer);
    }
    let query = body["query"].as_str().unwrap_or_default();
    let page = |n: u32| {
        let (title, url) = (format!("{query}：第{n}页"), format!("https://example.com/{n}"));
        json!({ "title": title, "url": url, "content": text(n, SEARCH_RESULT_CHARS), "score": 0.9, "raw_content": null })
    };
    let pages: Vec<_> =
        (1..=body["max_results"].as_u64().unwrap_or_default()).filter_map(|n| n.try_into().ok()).map(page).collect();
    FakeTavily::search_reply_with(query, &pages.into(), &json!(text(0, SEARCH_RESULT_CHARS / 3)))
}

/// A text of terms of two characters and commas. DEFLATE leaves 45 % of twenty kilobytes of it, as of the Chinese
/// text in `docs`; a text that repeats would be stored in nearly nothing.
fn text(seed: u32, characters: usize) -> String {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    let term = |state: u32| {
        let term = (state >> 8) % TERMS;
        [7919, 104_729].into_iter().filter_map(move |factor| char::from_u32(0x4E00 + term * factor % 2500))
    };
    let terms = std::iter::successors(next(&seed), next).enumerate();
    let text = terms.flat_map(|(index, state)| (index % 6 == 5).then_some('，').into_iter().chain(term(state)));
    text.take(characters).collect()
}
