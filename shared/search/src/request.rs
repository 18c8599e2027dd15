use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use icu_normalizer::ComposingNormalizerBorrowed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tools::OutboundRedactor;

use crate::failure::SearchFailure;
use crate::filters::Filters;
use crate::provider_request::{ProviderReply, ProviderRequest};
use crate::results::SearchResults;
use crate::{aws_search, tavily_wire};

/// How long an empty result is fresh: the searched event may just have happened.
const EMPTY_TTL: Duration = Duration::from_mins(1);

/// Punctuation at the end of a query that does not change its meaning.
const END_PUNCTUATION: &str = " ?!.,;:~…？！。，、；：～";

/// Longest query that Tavily accepts, in characters.
const MAX_QUERY_CHARS: usize = 400;

/// Tavily's depths.
const BASIC: &str = "basic";
const ADVANCED: &str = "advanced";

/// Distance from the cut, in characters, within which a long query is cut at a space.
const BOUNDARY_WINDOW: usize = 60;

/// Maximum number of times that a query is cut.
const MAX_CUTS: usize = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    /// Three results of a basic search.
    Quick,
    /// Ten results of an advanced search with a summary.
    #[default]
    Normal,
    /// The same with a long summary.
    Deep,
}

/// A search request with Tavily's field names; equal requests have equal results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SearchRequest {
    /// As it is sent.
    pub(crate) query: String,
    /// The query within Amazon's limit.
    #[serde(skip)]
    short_query: String,
    search_depth: &'static str,
    max_results: usize,
    /// Whether there is a summary, or its length.
    include_answer: Value,
    include_raw_content: bool,
    include_usage: bool,
    #[serde(flatten)]
    filters: Filters,
}

impl SearchRequest {
    /// Creates the request for `query`: normalised, with personal data replaced in the form that is sent, and shortened
    /// to each provider's limit. `None` for an empty query.
    pub(crate) fn new(query: &str, mode: Mode, filters: Filters, redactor: &OutboundRedactor) -> Option<Self> {
        let query = prepare_query(query, MAX_QUERY_CHARS, redactor);
        if query.is_empty() {
            return None;
        }
        let short_query = prepare_query(&query, aws_search::MAX_QUERY_CHARS, redactor);
        Some(Self::with_mode([query, short_query], mode, filters))
    }

    /// Returns the deduplication key, which ignores case and the punctuation at the end.
    pub(crate) fn dedup_key(&self) -> Value {
        let trimmed = self.query.trim_end_matches(|sign: char| END_PUNCTUATION.contains(sign));
        let query = if trimmed.is_empty() { &self.query } else { trimmed }.to_lowercase();
        json!(Self { query, ..self.clone() })
    }

    fn with_mode([query, short_query]: [String; 2], mode: Mode, filters: Filters) -> Self {
        let (search_depth, max_results, include_answer): (_, _, Value) = match mode {
            Mode::Quick => (BASIC, 3, false.into()),
            Mode::Normal => (ADVANCED, 10, true.into()),
            Mode::Deep => (ADVANCED, 10, ADVANCED.into()),
        };
        let (include_raw_content, include_usage) = (false, true);
        Self {
            query,
            short_query,
            search_depth,
            max_results,
            include_answer,
            include_raw_content,
            include_usage,
            filters,
        }
    }

    /// Returns the search to make if this one finds nothing relevant: for a quick search the normal one with the same
    /// query, which may be cached already. The other modes have no deeper search.
    pub(crate) fn deeper_request(&self) -> Option<Self> {
        let queries = || [self.query.clone(), self.short_query.clone()];
        (self.search_depth == BASIC).then(|| Self::with_mode(queries(), Mode::Normal, self.filters.clone()))
    }
}

impl ProviderRequest for SearchRequest {
    type Answer = SearchResults;

    const FORMAT: &'static str = "tavily-2";
    const PATH: &'static str = "/search";
    const IS_SEARCH: bool = true;

    fn list_price(&self) -> u64 {
        if self.search_depth == ADVANCED { 2 } else { 1 }
    }

    fn parse_reply(&self, body: &[u8]) -> Result<ProviderReply<SearchResults>, SearchFailure> {
        tavily_wire::parse_search(body, self.max_results).ok_or(SearchFailure::BadResponse)
    }

    fn aws_body(&self, now: SystemTime) -> Option<Vec<u8>> {
        let query = Some(&self.short_query).filter(|query| !query.is_empty())?;
        Some(aws_search::encode(query, self.max_results, self.filters.for_aws(now)))
    }

    fn parse_aws_reply(&self, body: &[u8]) -> Result<ProviderReply<SearchResults>, SearchFailure> {
        aws_search::parse(body, self.max_results).ok_or(SearchFailure::BadResponse)
    }

    fn cheaper_form(&self) -> Option<Self> {
        (self.search_depth == ADVANCED).then(|| Self { search_depth: BASIC, ..self.clone() })
    }

    fn freshness(results: &SearchResults, ttl: Duration) -> Duration {
        if results.pages.is_empty() { ttl.min(EMPTY_TTL) } else { ttl }
    }
}

/// Prepares a query for a provider: normalised, with personal data replaced, and shortened to `max` characters.
fn prepare_query(query: &str, max: usize, redactor: &OutboundRedactor) -> String {
    redact_and_shorten(&normalise(query), max, redactor)
}

/// Normalises to NFC, without surrounding white space and with single spaces; the case stays, as it may matter.
fn normalise(query: &str) -> String {
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(query);
    composed.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Redacts a query and shortens it to `max` characters. A cut may expose personal data that was part of a longer
/// text, so the result is redacted again. The query is empty if this does not end.
fn redact_and_shorten(query: &str, max: usize, redactor: &OutboundRedactor) -> String {
    let mut redacted = redactor.redact_text(query).into_owned();
    for _ in 0..MAX_CUTS {
        redacted = shorten(redacted, max);
        match redactor.redact_text(&redacted) {
            Cow::Borrowed(_) => return redacted,
            Cow::Owned(masked) => redacted = masked,
        }
    }
    String::new()
}

fn shorten(query: String, max: usize) -> String {
    let Some((end, _)) = query.char_indices().nth(max) else { return query };
    let cut = &query[..end];
    let boundary = cut.rfind(' ').filter(|&space| cut[space..].chars().count() <= BOUNDARY_WINDOW);
    cut[..boundary.unwrap_or(end)].to_owned()
}

#[cfg(test)]
mod tests {
    use platform::settings::Settings;
    use redaction::Redactor;

    use super::*;

    fn request_json(query: &str, mode: Mode) -> Value {
        serde_json::to_value(SearchRequest::new(query, mode, Filters::default(), &OutboundRedactor::default()).unwrap())
            .unwrap()
    }

    fn query(text: &str) -> String {
        request_json(text, Mode::Normal)["query"].as_str().unwrap().to_owned()
    }

    #[test]
    fn each_mode_requests_its_depth_and_result_count() {
        let body = |depth: &str, results: usize, answer: Value| {
            json!({
                "query": "q", "search_depth": depth, "max_results": results, "include_answer": answer,
                "include_raw_content": false, "include_usage": true,
            })
        };
        assert_eq!(request_json("q", Mode::Normal), body("advanced", 10, json!(true)));
        assert_eq!(request_json("q", Mode::Quick), body("basic", 3, json!(false)));
        assert_eq!(request_json("q", Mode::Deep), body("advanced", 10, json!("advanced")));
    }

    #[test]
    fn f073_query_form_is_normalised_but_case_stays() {
        assert_eq!(query(" caf\u{e9}\u{3000} \n au  lait\t"), "café au lait");
        assert_eq!(query("cafe\u{301} au lait"), "café au lait");
        assert_eq!(query("Go"), "Go");
    }

    #[test]
    fn personal_data_is_redacted_in_normalised_query() {
        let settings = Settings::from_pairs([("MASK", "all")]);
        let redactor = OutboundRedactor::new(Redactor::from_settings(&settings).unwrap());
        let query = |text: &str| SearchRequest::new(text, Mode::Normal, Filters::default(), &redactor).unwrap().query;
        for space in
            ["\t", "      ", "\u{1680}", "\u{2028}", "\u{85}", "\r\n", "\n\n\n", " \t\n \t\n \t\n \t\n \t\n \t\n"]
        {
            assert_eq!(query(&["138", "0013", "8000 zz"].join(space)), "[phone] zz", "{space:?}");
            assert_eq!(query(&["4111", "2222", "3333", "4448 zz"].join(space)), "[card] zz", "{space:?}");
        }
        assert_eq!(query("jose\u{301}@example.com"), "[email]");
        let cut = format!("{}13800138000{}", "好".repeat(389), "b".repeat(100));
        assert_eq!(query(&cut), format!("{}[phone]", "好".repeat(389)), "a cut sets a number free");
    }

    #[test]
    fn dedup_key_ignores_case_and_final_punctuation() {
        let dedup_key = |query, mode| {
            SearchRequest::new(query, mode, Filters::default(), &OutboundRedactor::default()).unwrap().dedup_key()
        };
        for query in ["Weather in Berlin", " weather  in berlin ?", "WEATHER IN BERLIN。", "weather in berlin ！？"]
        {
            assert_eq!(dedup_key(query, Mode::Normal), dedup_key("weather in Berlin", Mode::Normal), "{query}");
        }
        for (query, mode) in [("weather berlin", Mode::Normal), ("weather in berlin", Mode::Quick)] {
            assert_ne!(dedup_key(query, mode), dedup_key("weather in berlin", Mode::Normal), "{query}");
        }
        assert_ne!(dedup_key("C++", Mode::Normal), dedup_key("C", Mode::Normal));
        assert_eq!(dedup_key("？！", Mode::Normal)["query"], "？！");
    }

    #[test]
    fn f061_long_query_is_shortened_at_a_space() {
        let shortened = query(&"word ".repeat(100));
        assert_eq!((shortened.chars().count(), shortened.ends_with("word")), (399, true));
        assert_eq!(query(&"汉".repeat(500)), "汉".repeat(400));
        assert_eq!(query(&"汉".repeat(400)), "汉".repeat(400));
        let late_space = format!("a {}", "汉".repeat(500));
        assert_eq!(query(&late_space).chars().count(), 400);
    }

    #[test]
    fn f061_blank_query_is_no_request() {
        assert_eq!(
            SearchRequest::new(" \u{3000}\n", Mode::Normal, Filters::default(), &OutboundRedactor::default()),
            None
        );
    }

    #[test]
    fn advanced_search_costs_two_credits_basic_one() {
        let price = |mode| {
            SearchRequest::new("q", mode, Filters::default(), &OutboundRedactor::default()).unwrap().list_price()
        };
        assert_eq!([price(Mode::Quick), price(Mode::Normal), price(Mode::Deep)], [1, 2, 2]);
    }

    #[test]
    fn only_quick_search_deepens_only_others_get_cheaper() {
        let request = |mode| SearchRequest::new("q", mode, Filters::default(), &OutboundRedactor::default()).unwrap();
        let deeper = [Mode::Quick, Mode::Normal, Mode::Deep].map(|mode| request(mode).deeper_request());
        assert_eq!(deeper, [Some(request(Mode::Normal)), None, None]);
        let cheaper = [Mode::Quick, Mode::Normal, Mode::Deep].map(|mode| request(mode).cheaper_form());
        let basic = |mode| Some(SearchRequest { search_depth: "basic", ..request(mode) });
        assert_eq!(cheaper, [None, basic(Mode::Normal), basic(Mode::Deep)]);
    }
}
