//! Searches of Amazon's web search: requests, replies and failures.

use domain::Language;
use serde_json::{Value, json};
use tools::OutboundRedactor;

use super::support::*;
use crate::clock::{Clock, MAX_DURATION};
use crate::failure::SearchFailure;
use crate::filters::{Filters, TimeRange, Topic};
use crate::outcome::SearchOutcome;
use crate::page::PageRequest;
use crate::request::{Mode, SearchRequest};
use crate::results::SearchResults;
use crate::search::Search;
use crate::{CreditBudget, SearchConfig};

async fn aws_search(provider: &Provider) -> Search {
    search_with(config_of([aws(provider)]), &store().await)
}

/// The body of the request that a search sends.
async fn sent(query: &str, mode: Mode, filters: Filters) -> Value {
    let provider = Provider::start().await;
    let request = SearchRequest::new(query, mode, filters, &OutboundRedactor::default()).unwrap();
    let clock = Clock::new(at(0), tokio::time::Instant::now() + MAX_DURATION);
    aws_search(&provider).await.find(&request, &ada(), &clock).await.unwrap();
    provider.requests().remove(0).1
}

async fn sent_query(query: &str) -> String {
    sent(query, Mode::Normal, Filters::default()).await["searchQuery"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn aws_search_is_signed_and_costs_one_credit() {
    let provider = Provider::start().await;
    let SearchOutcome { answer, cached, credits, .. } = find(&aws_search(&provider).await, "天气", 0).await.unwrap();
    let (headers, body) = provider.requests().remove(0);
    assert_eq!(body, json!({"searchQuery": "天气", "maxResults": 10}));
    let scope = "AWS4-HMAC-SHA256 Credential=AKIA/20270115/eu-west-1/bedrock-agentcore/aws4_request, \
        SignedHeaders=content-type;host;x-amz-date, Signature=";
    let authorization = headers["authorization"].to_str().unwrap();
    assert!(authorization.starts_with(scope), "{authorization}");
    assert_eq!(
        (&headers["content-type"], &headers["x-amz-date"]),
        (&"application/json".parse().unwrap(), &"20270115T080000Z".parse().unwrap())
    );
    let SearchResults { answer: summary, pages } = answer;
    assert_eq!((summary, pages.len(), cached, credits), (None, 1, false, 1), "a page without an address is skipped");
    let page = &pages[0];
    assert_eq!(
        (page.title.as_str(), page.url.as_str(), page.content.as_str()),
        ("天气", "https://example.com/", "aws 1")
    );
    assert_eq!((page.date.as_deref(), page.score), (Some("2026-11-24"), None));
}

#[tokio::test]
async fn f061_aws_query_is_cut_at_two_hundred_characters() {
    assert_eq!(sent_query(&"汉".repeat(201)).await, "汉".repeat(200));
    assert_eq!(sent_query(&"汉".repeat(200)).await, "汉".repeat(200));
    let text = sent_query(&"weather ".repeat(30)).await;
    assert_eq!((text.len(), text.ends_with(" weather")), (199, true));
}

#[test]
fn cut_for_aws_exposes_no_personal_data() {
    let settings = platform::settings::Settings::from_pairs([("MASK", "all")]);
    let redactor = OutboundRedactor::new(redaction::Redactor::from_settings(&settings).unwrap());
    let query = format!("{}13800138000{}", "好".repeat(189), "b".repeat(100));
    let request = SearchRequest::new(&query, Mode::Normal, Filters::default(), &redactor).unwrap();
    let body: Value =
        serde_json::from_slice(&crate::provider_request::ProviderRequest::aws_body(&request, at(0)).unwrap()).unwrap();
    assert_eq!(body["searchQuery"], format!("{}[phone]", "好".repeat(189)));
}

#[tokio::test]
async fn filters_of_the_tool_become_those_of_aws() {
    let names = |name: &str| vec![name.to_owned()];
    let redactor = OutboundRedactor::default();
    let filters =
        Filters::new(Some(Topic::News), Some(TimeRange::Week), &names("B.example"), &names("c.example"), &redactor);
    let expected = json!({"searchQuery": "q", "maxResults": 3, "filters": {
        "domainFilter": {"include": ["b.example"], "exclude": ["c.example"]},
        "publishedDateFilter": {"publishedAfter": "2027-01-08T08:00:00Z"},
    }});
    assert_eq!(sent("q", Mode::Quick, filters.unwrap()).await, expected);
}

#[tokio::test]
async fn f061_f062_f063_f065_aws_failures_have_their_kinds() {
    let cases = [
        (400, SearchFailure::Rejected, 1),
        (403, SearchFailure::Refused, 1),
        (404, SearchFailure::BadResponse, 1),
        (429, SearchFailure::Busy, 2),
        (500, SearchFailure::Unavailable, 2),
        (503, SearchFailure::Unavailable, 2),
    ];
    for (status, failure, requests) in cases {
        let provider = Provider::start().await;
        provider.script(vec![FakeReply::Status(status); 2]);
        assert_eq!(seen(find(&aws_search(&provider).await, "天气", 0).await), Err(failure), "{status}");
        assert_eq!(provider.count(), requests, "{status}");
        assert!(!failure.reason(Language::En).contains("upstream words"));
    }
    let provider = Provider::start().await;
    provider.script([FakeReply::Unavailable(60)]);
    assert_eq!(seen(find(&aws_search(&provider).await, "天气", 0).await), Err(SearchFailure::Unavailable));
    assert_eq!(provider.count(), 1, "a long wait is not waited for");
    provider.script([FakeReply::Nothing, FakeReply::Page("")]);
    let found = find(&aws_search(&provider).await, "天气", 0).await.unwrap();
    assert_eq!((found.answer, found.credits), (SearchResults::default(), 1));
}

#[tokio::test]
async fn f067_reply_without_results_is_rejected() {
    for body in ["", "[]", "{}", r#"{"results":null}"#, r#"{"results":{}}"#] {
        assert_eq!(crate::aws_search::parse(body.as_bytes(), 10), None, "{body}");
    }
    let rows = r#"{"results":[null,7,{"url":"https://a.example/"},{"url":"javascript:x","text":"t"},
        {"title":7,"url":"https://a.example/","text":"t","publishedAt":7}]}"#;
    let reply = crate::aws_search::parse(rows.as_bytes(), 10).unwrap();
    let titles: Vec<_> = reply.answer.pages.into_iter().map(|page| (page.title, page.date)).collect();
    assert_eq!(titles, [("https://a.example/".to_owned(), None)]);
}

#[tokio::test]
async fn f141_aws_searches_stay_within_the_credit_budget() {
    let provider = Provider::start().await;
    let budget = CreditBudget { month: None, day: Some(2) };
    let search = search_with(SearchConfig { budget, ..config_of([aws(&provider)]) }, &store().await);
    for query in ["一", "二"] {
        let found = find(&search, query, 0).await.unwrap();
        assert_eq!((found.credits, found.notice), (1, None));
    }
    assert_eq!(seen(find(&search, "三", 0).await), Err(SearchFailure::Spent));
    assert_eq!(provider.count(), 2);
}

#[tokio::test]
async fn aws_reads_no_pages() {
    let provider = Provider::start().await;
    let page = PageRequest::new("https://a.example/".to_owned());
    let clock = Clock::new(at(0), tokio::time::Instant::now() + MAX_DURATION);
    let read = aws_search(&provider).await.find(&page, &ada(), &clock).await;
    assert_eq!((read, provider.count()), (Err(SearchFailure::Unavailable), 0));
}
