//! Requests to the provider, and its failures.

use std::time::Duration;

use platform::secrets::Secret;
use platform::settings::Settings;
use serde_json::json;

use super::support::*;
use crate::failure::SearchFailure;
use crate::results::{SearchHit, SearchResults};

#[tokio::test]
async fn search_sends_key_in_header_and_json_body() {
    let provider = Provider::start().await;
    let found = find(&search(&provider).await, "天气", 0).await.unwrap();
    let (headers, body) = provider.requests().remove(0);
    assert_eq!(
        (&headers["authorization"], &headers["content-type"]),
        (&"Bearer tvly-key".parse().unwrap(), &"application/json".parse().unwrap())
    );
    let expected = json!({
        "query": "天气", "search_depth": "advanced", "max_results": 10, "include_answer": true,
        "include_raw_content": false, "include_usage": true,
    });
    assert_eq!(body, expected);
    let page = SearchHit { score: Some(0.9), ..SearchHit::new("天气", "https://example.com/", "1").unwrap() };
    assert_eq!(found.answer, SearchResults { answer: Some("A".into()), pages: vec![page] });
    assert_eq!((found.cached, found.credits), (false, 3));
}

#[tokio::test]
async fn keyless_endpoint_gets_no_authorization() {
    let provider = Provider::start().await;
    let config = config_of([tavily(provider.url.clone(), None)]);
    find(&search_with(config, &store().await), "天气", 0).await.unwrap();
    assert!(!provider.requests()[0].0.contains_key("authorization"));
}

#[tokio::test]
async fn reply_without_cost_uses_list_price() {
    let provider = Provider::start().await;
    provider.script([FakeReply::Nothing]);
    assert_eq!(find(&search(&provider).await, "天气", 0).await.unwrap().credits, 2);
}

#[tokio::test]
async fn f063_busy_provider_is_retried_once() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    provider.script([FakeReply::TooFast(0)]);
    assert_eq!(seen(find(&search, "一", 0).await), fetched(2));
    provider.script([FakeReply::TooFast(0), FakeReply::TooFast(0)]);
    assert_eq!(seen(find(&search, "二", 0).await), Err(SearchFailure::Busy));
    assert_eq!(provider.count(), 4);
    provider.script([FakeReply::TooFast(60)]);
    assert_eq!(seen(find(&search, "三", 0).await), Err(SearchFailure::Busy));
    assert_eq!(provider.count(), 5, "a long wait is not waited for");
}

#[tokio::test]
async fn f065_broken_provider_is_retried_once() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    for (number, broken) in [FakeReply::Status(500), FakeReply::Status(503), FakeReply::Cut].into_iter().enumerate() {
        provider.script([broken.clone()]);
        let query = format!("{broken:?}");
        assert_eq!(seen(find(&search, &query, 0).await), fetched(2 * (number + 1)), "{query}");
    }
    provider.script([FakeReply::Status(500), FakeReply::Cut]);
    assert_eq!(seen(find(&search, "again", 0).await), Err(SearchFailure::Unavailable));
}

#[tokio::test]
async fn f065_unreachable_provider_is_unavailable() {
    let base_url = format!("http://{}", free_address().await);
    let config = config_of([tavily(base_url, None)]);
    let found = find(&search_with(config, &store().await), "天气", 0).await;
    assert_eq!(seen(found), Err(SearchFailure::Unavailable));
}

#[tokio::test]
async fn f061_f062_f064_definite_rejection_is_not_retried() {
    let firm = [
        (400, SearchFailure::Rejected),
        (401, SearchFailure::Refused),
        (403, SearchFailure::Refused),
        (432, SearchFailure::Exhausted),
        (433, SearchFailure::Exhausted),
        (302, SearchFailure::BadResponse),
    ];
    for (status, failure) in firm {
        let provider = Provider::start().await;
        provider.script([FakeReply::Status(status)]);
        assert_eq!(seen(find(&search(&provider).await, "天气", 0).await), Err(failure), "{status}");
        assert_eq!(provider.count(), 1, "{status}");
    }
}

#[tokio::test]
async fn f062_rejected_key_is_not_sent_for_five_minutes() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    provider.script([FakeReply::Status(401)]);
    assert_eq!(seen(find(&search, "一", 0).await), Err(SearchFailure::Refused));
    assert_eq!(seen(find(&search, "二", 299).await), Err(SearchFailure::Refused));
    assert_eq!(provider.count(), 1);
    assert_eq!(seen(find(&search, "三", 302).await), fetched(2));
}

#[tokio::test]
async fn unreadable_key_fails_only_this_search() {
    let nobody = format!("http://{}", free_address().await);
    let settings = Settings::from_pairs([
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
        ("AWS_ENDPOINT_URL_SSM", &nobody),
        ("TAVILY_API_KEY_PARAMETER", "/chat/tavily"),
    ]);
    let api_key = Secret::from_settings(&settings, "TAVILY_API_KEY").unwrap();
    let provider = Provider::start().await;
    let search = search_with(config_of([tavily(provider.url.clone(), api_key)]), &store().await);
    for query in ["一", "二"] {
        assert_eq!(seen(find(&search, query, 0).await), Err(SearchFailure::Unavailable));
    }
    assert_eq!(provider.count(), 0);
}

#[tokio::test]
async fn f064_exhausted_plan_pauses_until_the_next_hour() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    provider.script([FakeReply::Status(432)]);
    assert_eq!(seen(find(&search, "一", 0).await), Err(SearchFailure::Exhausted));
    assert_eq!(seen(find(&search, "二", 3590).await), Err(SearchFailure::Spent));
    assert_eq!(provider.count(), 1);
    assert_eq!(seen(find(&search, "三", 3601).await), fetched(2));
}

#[tokio::test]
async fn f065_silent_provider_times_out() {
    let provider = Provider::start().await;
    provider.script([FakeReply::Silent]);
    assert_eq!(seen(find_hastily(&search(&provider).await, "天气", 0).await), Err(SearchFailure::Timeout));
    assert_eq!(provider.count(), 1);
}

#[tokio::test]
async fn f066_endless_reply_is_limited_and_not_retried() {
    let provider = Provider::start().await;
    provider.script([FakeReply::Endless]);
    let found = tokio::time::timeout(Duration::from_secs(5), find(&search(&provider).await, "天气", 0)).await.unwrap();
    assert_eq!((seen(found), provider.count()), (Err(SearchFailure::BadResponse), 1));
}
