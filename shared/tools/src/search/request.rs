use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// Longest query that the provider takes, in characters.
const MAX_QUERY: usize = 400;

/// How far before the end of a query that is too long a word may be left out rather than broken.
const LONGEST_WORD: usize = 60;

/// How much is searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    /// A few results of a basic search.
    Quick,
    /// Ten results of an advanced search with a summary.
    #[default]
    Normal,
    /// The same with a summary that is written at length.
    Deep,
}

/// A search as the provider is asked, in the provider's own words; equal ones have equal results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SearchRequest {
    query: String,
    search_depth: &'static str,
    max_results: usize,
    include_answer: IncludeAnswer,
    include_raw_content: bool,
    include_usage: bool,
}

/// The provider takes a truth value or the name of a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum IncludeAnswer {
    Flag(bool),
    Length(&'static str),
}

impl SearchRequest {
    /// The request for `query`, whose form is made uniform and which is shortened to what the provider takes; `None`
    /// when it says nothing.
    pub(crate) fn new(query: &str, mode: Mode) -> Option<Self> {
        let query = shortened(uniform(query));
        if query.is_empty() {
            return None;
        }
        let (search_depth, max_results, include_answer) = match mode {
            Mode::Quick => ("basic", 3, IncludeAnswer::Flag(false)),
            Mode::Normal => ("advanced", 10, IncludeAnswer::Flag(true)),
            Mode::Deep => ("advanced", 10, IncludeAnswer::Length("advanced")),
        };
        Some(Self { query, search_depth, max_results, include_answer, include_raw_content: false, include_usage: true })
    }

    /// The most results that are wanted.
    pub(crate) fn max_results(&self) -> usize {
        self.max_results
    }

    /// What the provider charges when it does not say so itself.
    pub(crate) fn list_price(&self) -> u64 {
        if self.search_depth == "advanced" { 2 } else { 1 }
    }
}

/// NFC, without white space around it and with single spaces within; the case stays, as it may matter.
fn uniform(query: &str) -> String {
    let composed: String = query.nfc().collect();
    composed.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shortened(query: String) -> String {
    let Some((end, _)) = query.char_indices().nth(MAX_QUERY) else { return query };
    let cut = &query[..end];
    let words = cut.rfind(' ').filter(|&space| cut[space..].chars().count() <= LONGEST_WORD);
    cut[..words.unwrap_or(end)].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn sent(query: &str, mode: Mode) -> Value {
        serde_json::to_value(SearchRequest::new(query, mode).unwrap()).unwrap()
    }

    fn query(text: &str) -> String {
        sent(text, Mode::Normal)["query"].as_str().unwrap().to_owned()
    }

    #[test]
    fn each_mode_asks_for_its_depth_and_number_of_results() {
        let body = |depth: &str, results: usize, answer: Value| {
            json!({
                "query": "q", "search_depth": depth, "max_results": results, "include_answer": answer,
                "include_raw_content": false, "include_usage": true,
            })
        };
        assert_eq!(sent("q", Mode::Normal), body("advanced", 10, json!(true)));
        assert_eq!(sent("q", Mode::Quick), body("basic", 3, json!(false)));
        assert_eq!(sent("q", Mode::Deep), body("advanced", 10, json!("advanced")));
    }

    #[test]
    fn f073_queries_that_differ_only_in_form_are_one_and_case_counts() {
        assert_eq!(query(" caf\u{e9}\u{3000} \n au  lait\t"), "café au lait");
        assert_eq!(query("cafe\u{301} au lait"), "café au lait");
        assert_eq!(query("Go"), "Go");
    }

    #[test]
    fn f061_a_long_query_is_shortened_to_whole_words_that_the_provider_takes() {
        let words = query(&"word ".repeat(100));
        assert_eq!((words.chars().count(), words.ends_with("word")), (399, true));
        assert_eq!(query(&"汉".repeat(500)), "汉".repeat(400));
        assert_eq!(query(&"汉".repeat(400)), "汉".repeat(400));
        let late_space = format!("a {}", "汉".repeat(500));
        assert_eq!(query(&late_space).chars().count(), 400);
    }

    #[test]
    fn f061_a_blank_query_is_no_request() {
        assert_eq!(SearchRequest::new(" \u{3000}\n", Mode::Normal), None);
    }

    #[test]
    fn an_advanced_search_costs_two_credits_and_a_basic_one_costs_one() {
        let price = |mode| SearchRequest::new("q", mode).unwrap().list_price();
        assert_eq!([price(Mode::Quick), price(Mode::Normal), price(Mode::Deep)], [1, 2, 2]);
    }
}
