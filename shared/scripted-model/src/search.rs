//! The demo search: `POST /search` and `POST /extract` of Tavily's API, over the built-in pages.

use std::cmp::Reverse;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use domain::Language;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{NO_MATCH, PAGES, Page, SITE, page_at, spaced, without_phrase};

/// Delay of a response, long enough to see that a search runs.
const RESPONSE_DELAY: Duration = Duration::from_millis(250);

/// Maximum number of results.
const MAX_RESULTS: usize = 5;

/// Search request, with the fields that the demo uses.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    query: String,
    #[serde(default)]
    search_depth: String,
    max_results: Option<usize>,
}

/// Handles a search; the same query always has the same results.
pub(super) async fn search(request: Result<Json<Request>, JsonRejection>) -> Response {
    match request {
        Ok(Json(request)) if !request.query.trim().is_empty() => {
            tokio::time::sleep(RESPONSE_DELAY).await;
            Json(build_response(&request)).into_response()
        }
        _ => refusal("The demo search takes a query."),
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Extraction {
    urls: Vec<String>,
}

/// Returns built-in pages; all other URLs fail.
pub(super) async fn extract(request: Result<Json<Extraction>, JsonRejection>) -> Response {
    match request {
        Ok(Json(request)) => {
            tokio::time::sleep(RESPONSE_DELAY).await;
            Json(build_extract_response(&request.urls)).into_response()
        }
        Err(_) => refusal("The demo search takes addresses."),
    }
}

fn refusal(error: &str) -> Response {
    (StatusCode::BAD_REQUEST, Json(json!({ "detail": { "error": error } }))).into_response()
}

fn build_extract_response(urls: &[String]) -> Value {
    let (mut pages, mut failures) = (Vec::new(), Vec::new());
    for url in urls {
        match url.strip_prefix(SITE).and_then(page_at) {
            Some((_, text)) => pages.push(json!({"url": url, "raw_content": text.markdown()})),
            None => failures.push(json!({"url": url, "error": "The demo search knows its own pages only."})),
        }
    }
    json!({"results": pages, "failed_results": failures, "response_time": RESPONSE_DELAY.as_secs_f64(),
        "usage": {"credits": pages.len().div_ceil(5)}, "request_id": "demo"})
}

fn build_response(request: &Request) -> Value {
    let Request { query, search_depth, max_results } = request;
    let language = Language::of(query);
    let row = |(rank, page)| row(page, rank, language);
    json!({
        "query": query,
        "answer": null,
        "images": [],
        "results": (0..).zip(best(query, max_results.unwrap_or(MAX_RESULTS))).map(row).collect::<Vec<_>>(),
        "response_time": RESPONSE_DELAY.as_secs_f64(),
        "usage": { "credits": if search_depth == "advanced" { 2 } else { 1 } },
        "request_id": "demo",
    })
}

/// Returns the best matching pages; equal matches keep the order of the list.
pub(super) fn best(query: &str, wanted: usize) -> Vec<&'static Page> {
    let query = spaced(query);
    let matches =
        |page: &Page| page.keywords.iter().filter(|keyword| without_phrase(&query, keyword).is_some()).count();
    let mut pages: Vec<&Page> = PAGES.iter().filter(|page| matches(page) > 0).collect();
    pages.sort_by_key(|page| Reverse(matches(page)));
    if pages.is_empty() {
        pages.extend(PAGES.iter().find(|page| page.slug == NO_MATCH));
    }
    pages.truncate(MAX_RESULTS.min(wanted));
    pages
}

fn row(page: &Page, rank: u32, language: Language) -> Value {
    let text = page.texts.of(language);
    let score = f64::from(95 - 8 * rank) / 100.0;
    let url = format!("{SITE}{}/{}", language.code(), page.slug);
    json!({ "title": text.title, "url": url, "content": text.content.join("\n"), "score": score, "raw_content": null })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_built_in_pages_can_be_read() {
        let known = "https://lambda-chat.example/en/limits".to_owned();
        let text = &PAGES.iter().find(|page| page.slug == "limits").unwrap().texts.en;
        let answer = build_extract_response(&[known.clone(), "https://example.com/other".to_owned()]);
        let page = json!({"url": known, "raw_content": format!("# {}\n\n{}\n", text.title, text.content.join("\n"))});
        assert_eq!(answer["results"], json!([page]));
        assert_eq!(answer["failed_results"][0]["url"], "https://example.com/other");
        assert_eq!(answer["usage"]["credits"], 1);
    }

    fn search_for(body: Value) -> Value {
        build_response(&serde_json::from_value(body).unwrap())
    }

    fn urls(query: &str) -> Vec<String> {
        let found = search_for(json!({"query": query, "max_results": 10}));
        found["results"].as_array().unwrap().iter().map(|row| row["url"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn response_has_tavily_format() {
        let body = json!({"query": "产品介绍", "search_depth": "advanced", "max_results": 1, "include_answer": true});
        let page = &PAGES[0].texts.zh;
        let expected = json!({
            "query": "产品介绍",
            "answer": null,
            "images": [],
            "results": [{
                "title": page.title,
                "url": "https://lambda-chat.example/zh/overview",
                "content": page.content.join("\n"), "score": 0.95, "raw_content": null,
            }],
            "response_time": 0.25, "usage": {"credits": 2}, "request_id": "demo",
        });
        assert_eq!(search_for(body), expected);
    }

    #[test]
    fn results_use_language_of_query() {
        let found = search_for(json!({"query": "quantum computers", "include_answer": "advanced"}));
        assert_eq!(found["results"][0]["title"], "Configure real web search");
        assert_eq!(found["usage"]["credits"], 1);
    }

    #[test]
    fn best_matching_pages_come_first() {
        assert_eq!(urls("怎么配置豆包模型")[0], "https://lambda-chat.example/zh/models");
        assert_eq!(urls("rate limit and cache")[0], "https://lambda-chat.example/en/limits");
        assert_eq!(urls("cost of answers on AWS")[..2], ["cost", "limits"].map(|slug| format!("{SITE}en/{slug}")));
    }

    #[test]
    fn query_without_match_gets_the_page_on_searches() {
        for query in ["zzz", "generate a modelling plan"] {
            assert_eq!(urls(query), [format!("{SITE}en/search")], "keywords are whole terms");
        }
        assert_eq!(urls("model search limit conversation api tools files").len(), 5);
        let one = search_for(json!({"query": "models and limits", "max_results": 1}));
        assert_eq!((one["results"].as_array().unwrap().len(), &one["answer"]), (1, &Value::Null));
    }

    #[test]
    fn pages_have_both_languages_and_unique_urls() {
        let mut slugs: Vec<&str> = PAGES.iter().map(|page| &*page.slug).collect();
        slugs.sort_unstable();
        slugs.dedup();
        assert_eq!(slugs.len(), PAGES.len());
        for page in &*PAGES {
            assert_eq!(Language::of(&page.texts.zh.title), Language::Zh, "{}", page.slug);
            assert_eq!(Language::of(&page.texts.en.content.join(" ")), Language::En, "{}", page.slug);
        }
    }
}
