//! Requests to the provider, and its failures.

use std::time::Duration;

use secrets::Secret;
use serde_json::json;
use settings::Settings;

use super::support::*;
use crate::search::{FoundPage, SearchConfig, SearchFailure, SearchResults};

#[tokio::test]
async fn a_search_sends_the_key_in_the_header_and_the_request_in_the_body() {
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
    let page =
        FoundPage { title: "天气".into(), url: "https://example.com/".into(), content: "1".into(), score: Some(0.9) };
    assert_eq!(found.answer, SearchResults { answer: Some("A".into()), pages: vec![page] });
    assert_eq!((found.cached, found.credits), (false, 3));
}

#[tokio::test]
async fn an_endpoint_without_a_key_gets_no_authorization() {
    let provider = Provider::start().await;
    let config = SearchConfig { api_key: None, ..config(&provider) };
    find(&search_with(config, &store().await), "天气", 0).await.unwrap();
    assert!(!provider.requests()[0].0.contains_key("authorization"));
}

#[tokio::test]
async fn a_provider_that_names_no_cost_is_paid_by_its_list() {
    let provider = Provider::start().await;
    provider.script([Reply::Nothing]);
    assert_eq!(find(&search(&provider).await, "天气", 0).await.unwrap().credits, 2);
}

#[tokio::test]
async fn f063_a_provider_that_is_too_busy_is_asked_once_more() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    provider.script([Reply::TooFast(0)]);
    assert_eq!(seen(find(&search, "一", 0).await), fetched(2));
    provider.script([Reply::TooFast(0), Reply::TooFast(0)]);
    assert_eq!(seen(find(&search, "二", 0).await), Err(SearchFailure::Busy));
    assert_eq!(provider.count(), 4);
    provider.script([Reply::TooFast(60)]);
    assert_eq!(seen(find(&search, "三", 0).await), Err(SearchFailure::Busy));
    assert_eq!(provider.count(), 5, "a long wait is not waited for");
}

#[tokio::test]
async fn f065_a_broken_provider_is_asked_once_more() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    for (number, broken) in [Reply::Status(500), Reply::Status(503), Reply::Cut].into_iter().enumerate() {
        provider.script([broken.clone()]);
        let query = format!("{broken:?}");
        assert_eq!(seen(find(&search, &query, 0).await), fetched(2 * (number + 1)), "{query}");
    }
    provider.script([Reply::Status(500), Reply::Cut]);
    assert_eq!(seen(find(&search, "again", 0).await), Err(SearchFailure::Unavailable));
}

#[tokio::test]
async fn f065_a_provider_that_cannot_be_reached_is_unavailable() {
    let base_url = format!("http://{}", free_address().await);
    let config = SearchConfig { base_url, ..config(&Provider::start().await) };
    let found = find(&search_with(config, &store().await), "天气", 0).await;
    assert_eq!(seen(found), Err(SearchFailure::Unavailable));
}

#[tokio::test]
async fn f061_f062_f064_a_firm_no_is_not_asked_again() {
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
        provider.script([Reply::Status(status)]);
        assert_eq!(seen(find(&search(&provider).await, "天气", 0).await), Err(failure), "{status}");
        assert_eq!(provider.count(), 1, "{status}");
    }
}

#[tokio::test]
async fn f062_a_refused_key_is_not_sent_again_for_five_minutes() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    provider.script([Reply::Status(401)]);
    assert_eq!(seen(find(&search, "一", 0).await), Err(SearchFailure::Refused));
    assert_eq!(seen(find(&search, "二", 299).await), Err(SearchFailure::Refused));
    assert_eq!(provider.count(), 1);
    assert_eq!(seen(find(&search, "三", 302).await), fetched(2));
}

#[tokio::test]
async fn a_key_that_cannot_be_read_fails_this_search_and_turns_nothing_off() {
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
    let search = search_with(SearchConfig { api_key, ..config(&provider) }, &store().await);
    for query in ["一", "二"] {
        assert_eq!(seen(find(&search, query, 0).await), Err(SearchFailure::Unavailable));
    }
    assert_eq!(provider.count(), 0);
}

#[tokio::test]
async fn f064_a_used_up_allowance_is_left_alone_until_the_next_hour() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    provider.script([Reply::Status(432)]);
    assert_eq!(seen(find(&search, "一", 0).await), Err(SearchFailure::Exhausted));
    assert_eq!(seen(find(&search, "二", 3590).await), Err(SearchFailure::Spent));
    assert_eq!(provider.count(), 1);
    assert_eq!(seen(find(&search, "三", 3601).await), fetched(2));
}

#[tokio::test]
async fn f065_a_provider_that_stays_silent_is_left_when_the_time_is_over() {
    let provider = Provider::start().await;
    provider.script([Reply::Silent]);
    assert_eq!(seen(find_hastily(&search(&provider).await, "天气", 0).await), Err(SearchFailure::Timeout));
    assert_eq!(provider.count(), 1);
}

#[tokio::test]
async fn f066_an_endless_answer_is_read_to_its_limit_and_not_asked_for_again() {
    let provider = Provider::start().await;
    provider.script([Reply::Endless]);
    let found = tokio::time::timeout(Duration::from_secs(5), find(&search(&provider).await, "天气", 0)).await.unwrap();
    assert_eq!((seen(found), provider.count()), (Err(SearchFailure::BadResponse), 1));
}
