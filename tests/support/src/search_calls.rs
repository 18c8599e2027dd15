use serde_json::json;

use crate::{Completion, Reply};

/// A search call in the text format that the prompt teaches.
pub fn search_call(query: &str) -> String {
    format!("<tool_call>{{\"tool\": \"search_web\", \"query\": \"{query}\"}}</tool_call>")
}

/// A reply with one complete native search and the finish reason `tool_calls`.
pub fn search_reply(id: &str, query: &str) -> Reply {
    searches_reply([(id, query)])
}

/// A reply with several native searches.
pub fn searches_reply<'a>(calls: impl IntoIterator<Item = (&'a str, &'a str)>) -> Reply {
    let add = |stream: Completion, (index, (id, query)): (u32, (&str, &str))| {
        stream.call(index, id, "search_web", &json!({ "query": query }).to_string())
    };
    (0..).zip(calls).fold(Completion::new(), add).finish("tool_calls").usage(10, 5).done().reply()
}
