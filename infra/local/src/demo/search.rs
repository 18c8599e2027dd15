//! The demo search: `POST /search` and `POST /extract` of Tavily's API, over the built-in pages.

use std::cmp::Reverse;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::demo::language::Language;
use crate::demo::pages::{PAGES, Page, Text};

/// Delay of a response, long enough to see that a search runs.
const RESPONSE_DELAY: Duration = Duration::from_millis(250);

/// Number of results of a query that matches no page, and the maximum of any query.
const MIN_RESULTS: usize = 3;
const MAX_RESULTS: usize = 5;

/// Base URL of the pages.
const SITE: &str = "https://example.com/lambda-chat/";

/// Length limit of a quoted query, in characters.
const MAX_QUOTE_CHARS: usize = 60;

/// Search request, with the fields that the demo uses.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    query: String,
    #[serde(default)]
    search_depth: Depth,
    #[serde(default = "default_max_results")]
    max_results: usize,
    #[serde(default)]
    include_answer: Value,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Depth {
    #[default]
    Basic,
    Advanced,
    #[serde(other)]
    Faster,
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

/// Request to read pages.
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
    let read = |url: &String| match text_at(url) {
        Some(text) => Ok(json!({"url": url, "raw_content": format!("# {}\n\n{}", text.title, text.content)})),
        None => Err(json!({"url": url, "error": "The demo search knows its own pages only."})),
    };
    let (pages, failures): (Vec<_>, Vec<_>) = urls.iter().map(read).partition(Result::is_ok);
    let pages: Vec<Value> = pages.into_iter().filter_map(Result::ok).collect();
    let failures: Vec<Value> = failures.into_iter().filter_map(Result::err).collect();
    json!({"results": pages, "failed_results": failures, "response_time": RESPONSE_DELAY.as_secs_f64(),
        "usage": {"credits": pages.len().div_ceil(5)}, "request_id": "demo"})
}

/// Finds the page at a URL of a search result.
fn text_at(url: &str) -> Option<&'static Text> {
    let (folder, slug) = url.strip_prefix(SITE)?.split_once('/')?;
    let page = PAGES.iter().find(|page| page.slug == slug)?;
    [Language::Chinese, Language::English]
        .into_iter()
        .find(|language| self::folder(*language) == folder)
        .map(|language| page.text(language))
}

fn folder(language: Language) -> &'static str {
    language.choose("zh", "en")
}

fn default_max_results() -> usize {
    MAX_RESULTS
}

fn build_response(request: &Request) -> Value {
    let Request { query, search_depth, max_results, include_answer } = request;
    let (language, quoted) = (Language::of(query), quote(query));
    let wants_answer = !matches!(include_answer, Value::Null | Value::Bool(false));
    let row = |(rank, page)| row(page, &quoted, rank, language);
    json!({
        "query": query,
        "answer": wants_answer.then(|| answer(&quoted, language)),
        "images": [],
        "results": (0..).zip(best(query, *max_results)).map(row).collect::<Vec<_>>(),
        "response_time": RESPONSE_DELAY.as_secs_f64(),
        "usage": { "credits": if *search_depth == Depth::Advanced { 2 } else { 1 } },
        "request_id": "demo",
    })
}

/// Returns the best matching pages; equal matches keep the order of the list.
fn best(query: &str, wanted: usize) -> Vec<&'static Page> {
    let query = query.to_lowercase();
    let fitting = PAGES.iter().filter(|page| page.matches(&query) > 0).count();
    let mut pages: Vec<&Page> = PAGES.iter().collect();
    pages.sort_by_key(|page| Reverse(page.matches(&query)));
    pages.truncate(fitting.clamp(MIN_RESULTS, MAX_RESULTS).min(wanted));
    pages
}

fn row(page: &Page, query: &str, rank: u32, language: Language) -> Value {
    let Text { title, content } = page.text(language);
    let title =
        language.choose(format!("{title}（演示结果：{query}）"), format!("{title} (demo result for “{query}”)"));
    let score = f64::from(95 - 8 * rank) / 100.0;
    let url = format!("{SITE}{}/{}", folder(language), page.slug);
    json!({ "title": title, "url": url, "content": content, "score": score, "raw_content": null })
}

fn answer(query: &str, language: Language) -> String {
    language.choose(
        format!(
            "这是演示搜索：它没有真正搜索“{query}”，只认识关于 Lambda Chat 的几页说明。设置 TAVILY_API_KEY 并重新启动，就会搜索真正的网页。"
        ),
        format!(
            "This is the demo search: it did not search the web for “{query}” and knows only a few pages about Lambda \
             Chat. Set TAVILY_API_KEY and start again to search the web."
        ),
    )
}

fn quote(query: &str) -> String {
    let query = query.split_whitespace().collect::<Vec<_>>().join(" ");
    if query.chars().count() <= MAX_QUOTE_CHARS {
        return query;
    }
    query.chars().take(MAX_QUOTE_CHARS).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_built_in_pages_can_be_read() {
        let known = "https://example.com/lambda-chat/en/limits".to_owned();
        let text = &PAGES.iter().find(|page| page.slug == "limits").unwrap().english;
        let answer = build_extract_response(&[known.clone(), "https://example.com/other".to_owned()]);
        let page = json!({"url": known, "raw_content": format!("# {}\n\n{}", text.title, text.content)});
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
    fn response_has_tavily_format_and_names_demo() {
        let body = json!({"query": "量子计算机", "search_depth": "advanced", "max_results": 1, "include_answer": true});
        let page = &PAGES[0].chinese;
        let expected = json!({
            "query": "量子计算机",
            "answer": "这是演示搜索：它没有真正搜索“量子计算机”，只认识关于 Lambda Chat 的几页说明。设置 TAVILY_API_KEY 并重新启动，就会搜索真正的网页。",
            "images": [],
            "results": [{
                "title": format!("{}（演示结果：量子计算机）", page.title),
                "url": "https://example.com/lambda-chat/zh/overview",
                "content": page.content, "score": 0.95, "raw_content": null,
            }],
            "response_time": 0.25, "usage": {"credits": 2}, "request_id": "demo",
        });
        assert_eq!(search_for(body), expected);
    }

    #[test]
    fn results_use_language_of_query() {
        let found = search_for(json!({"query": "quantum computers", "include_answer": "advanced"}));
        assert_eq!(found["results"][0]["title"], "What Lambda Chat is (demo result for “quantum computers”)");
        assert!(found["answer"].as_str().unwrap().starts_with("This is the demo search"));
        assert_eq!(found["usage"]["credits"], 1);
    }

    #[test]
    fn best_matching_pages_come_first() {
        assert_eq!(urls("怎么配置豆包模型")[0], "https://example.com/lambda-chat/zh/models");
        assert_eq!(urls("rate limit and cache")[0], "https://example.com/lambda-chat/en/limits");
    }

    #[test]
    fn result_count_is_three_to_five_or_requested() {
        assert_eq!(urls("zzz").len(), 3);
        assert_eq!(urls("model search limit conversation api tool prompt").len(), 5);
        let one = search_for(json!({"query": "zzz", "max_results": 1}));
        assert_eq!((one["results"].as_array().unwrap().len(), &one["answer"]), (1, &Value::Null));
    }

    #[test]
    fn pages_have_both_languages_and_unique_urls() {
        let mut slugs: Vec<&str> = PAGES.iter().map(|page| page.slug).collect();
        slugs.sort_unstable();
        slugs.dedup();
        assert_eq!(slugs.len(), PAGES.len());
        for page in PAGES {
            assert_eq!(Language::of(page.chinese.title), Language::Chinese, "{}", page.slug);
            assert_eq!(Language::of(page.english.content), Language::English, "{}", page.slug);
        }
    }
}
