//! Shared searches: leaders, followers, limits and the cache.

use std::time::Duration;

use domain::Owner;
use futures_util::future::join_all;
use store::{Day, RateLimit, UsageScope};
use tools::OutboundRedactor;

use super::support::*;
use crate::failure::SearchFailure;
use crate::filters::Filters;
use crate::model_text::CitedSearch;
use crate::request::{Mode, SearchRequest};
use crate::{DailySearchLimits, SearchConfig};

fn limited(provider: &Provider, burst: u32) -> SearchConfig {
    SearchConfig { limit: RateLimit { burst, window: Duration::from_mins(10) }, ..config(provider) }
}

#[tokio::test]
async fn f070_twenty_simultaneous_searches_make_one_upstream_call() {
    let provider = Provider::gated().await;
    let search = search_with(limited(&provider, 1), &store().await);
    let owners: Vec<Owner> = (0..20).map(|number| Owner::new(format!("user {number}"))).collect();
    let searches = join_all(owners.iter().map(|owner| find_for(&search, "天气", owner, 0)));
    let opened = async {
        provider.wait_for_requests(1).await;
        provider.open();
    };
    let (found, ()) = tokio::join!(searches, opened);
    let mut seen: Vec<_> = found.into_iter().map(seen).collect();
    seen.sort_by_key(|found| found.as_ref().is_ok_and(|(_, cached, _)| *cached));
    let mut expected = vec![fetched(1)];
    expected.resize(20, kept(1));
    assert_eq!((seen, provider.count()), (expected, 1));
}

#[tokio::test]
async fn f070_processes_share_a_search_through_the_store() {
    let (provider, store) = (Provider::gated().await, store().await);
    let (one, two) = (search_with(config(&provider), &store), search_with(config(&provider), &store));
    let second = async {
        provider.wait_for_requests(1).await;
        let waiting = find(&two, "天气", 0);
        provider.open();
        waiting.await
    };
    let (first, second) = tokio::join!(find(&one, "天气", 0), second);
    assert_eq!((seen(first), seen(second), provider.count()), (fetched(1), kept(1), 1));
}

#[tokio::test]
async fn f071_next_instance_leads_after_a_crashed_lease() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    provider.script([FakeReply::Silent]);
    {
        let leader = find(&search, "天气", 0);
        let first_request = provider.wait_for_requests(1);
        tokio::select! {
            _ = leader => panic!("the leader has no answer"),
            () = first_request => {}
        }
    }
    assert_eq!(seen(find_hastily(&search, "天气", 1).await), Err(SearchFailure::Timeout), "its lease holds");
    assert_eq!(seen(find(&search, "天气", 13).await), fetched(2));
}

#[tokio::test]
async fn result_is_cached_while_fresh() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    assert_eq!(seen(find(&search, "天气", 0).await), fetched(1));
    assert_eq!(seen(find(&search, " 天气 ", 3590).await), kept(1));
    assert_eq!(seen(find(&search, "天气", 3610).await), fetched(2));
}

#[tokio::test]
async fn f068_empty_result_is_cached_for_one_minute() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    provider.script([FakeReply::Nothing]);
    assert!(find(&search, "天气", 0).await.unwrap().answer.pages.is_empty());
    let again = find(&search, "天气", 55).await.unwrap();
    assert!(again.answer.pages.is_empty() && again.cached);
    assert_eq!(seen(find(&search, "天气", 65).await), fetched(2));
}

#[tokio::test]
async fn f069_failure_is_not_cached() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    provider.script([FakeReply::Status(400)]);
    assert_eq!(seen(find(&search, "天气", 0).await), Err(SearchFailure::Rejected));
    assert_eq!(seen(find(&search, "天气", 0).await), fetched(2));
}

#[tokio::test]
async fn f065_stale_result_is_used_when_provider_fails() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    assert_eq!(seen(find(&search, "天气", 0).await), fetched(1));
    provider.script([FakeReply::Status(500), FakeReply::Status(500)]);
    assert_eq!(seen(find(&search, "天气", 3610).await), kept(1));
}

#[tokio::test]
async fn f063_stale_result_is_used_when_rate_limited() {
    let provider = Provider::start().await;
    let search = search_with(limited(&provider, 1), &store().await);
    assert_eq!(seen(find(&search, "天气", 0).await), fetched(1));
    assert_eq!(seen(find(&search, "新闻", 3605).await), fetched(2));
    assert_eq!(seen(find(&search, "天气", 3610).await), kept(1));
    assert_eq!(provider.count(), 2);
}

#[tokio::test]
async fn stale_result_is_used_after_a_timeout() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    assert_eq!(seen(find(&search, "天气", 0).await), fetched(1));
    provider.script([FakeReply::Silent]);
    let second = async {
        provider.wait_for_requests(2).await;
        find_hastily(&search, "天气", 3620).await
    };
    tokio::select! {
        second = second => assert_eq!(seen(second), kept(1)),
        _ = find(&search, "天气", 3620) => panic!("the leader has no answer"),
    }
}

#[tokio::test]
async fn follower_takes_over_from_a_failed_leader() {
    let provider = Provider::gated().await;
    let search = search(&provider).await;
    provider.script([FakeReply::Status(400)]);
    let opened = async {
        provider.wait_for_requests(1).await;
        provider.open();
    };
    let (one, two, ()) = tokio::join!(find(&search, "天气", 0), find(&search, "天气", 0), opened);
    let mut seen = [seen(one), seen(two)];
    seen.sort_by_key(Result::is_ok);
    assert_eq!(seen, [Err(SearchFailure::Rejected), fetched(2)]);
}

#[tokio::test]
async fn rate_limit_is_per_caller_without_hits() {
    let provider = Provider::start().await;
    let search = search_with(limited(&provider, 2), &store().await);
    assert_eq!(seen(find(&search, "一", 0).await), fetched(1));
    assert_eq!(seen(find(&search, "二", 10).await), fetched(2));
    assert_eq!(seen(find(&search, "一", 20).await), kept(1));
    let Err(SearchFailure::Limited { retry_after }) = find(&search, "三", 30).await else { panic!("no limit") };
    assert!((265..=270).contains(&retry_after.as_secs()), "{retry_after:?}");
    assert_eq!(seen(find_for(&search, "三", &Owner::new("bob"), 40).await), fetched(3), "the lead was given up");
}

fn daily(provider: &Provider, own: Option<u64>, total: Option<u64>) -> SearchConfig {
    SearchConfig { daily: DailySearchLimits { per_caller: own, total }, ..config(provider) }
}

#[tokio::test]
async fn f141_daily_limit_is_per_caller_and_resets() {
    let provider = Provider::start().await;
    let search = search_with(daily(&provider, Some(2), None), &store().await);
    assert_eq!(seen(find(&search, "一", 0).await), fetched(1));
    assert_eq!(seen(find(&search, "二", 0).await), fetched(2));
    assert_eq!(seen(find(&search, "一", 1).await), kept(1));
    assert_eq!(seen(find(&search, "三", 1).await), Err(SearchFailure::OutOfBudget));
    assert_eq!(seen(find_for(&search, "三", &Owner::new("bob"), 1).await), fetched(3), "the lead was given up");
    assert_eq!(seen(find(&search, "四", 24 * 3600).await), fetched(4));
}

#[tokio::test]
async fn f141_concurrent_searches_cannot_exceed_the_total_limit() {
    let (provider, store) = (Provider::start().await, store().await);
    let search = search_with(daily(&provider, Some(9), Some(3)), &store);
    let owners: Vec<Owner> = (0..8).map(|number| Owner::new(format!("user {number}"))).collect();
    let queries: Vec<String> = (0..8).map(|number| format!("第{number}问")).collect();
    let searches = owners.iter().zip(&queries).map(|(owner, query)| find_for(&search, query, owner, 0));
    let found = join_all(searches).await;
    let refused = found.iter().filter(|found| **found == Err(SearchFailure::OutOfBudget)).count();
    assert_eq!((refused, provider.count()), (5, 3));
    let day = Day::of(at(0));
    let own = join_all(owners.iter().map(|owner| store.ledger.day(UsageScope::User(owner), day))).await;
    let booked: u64 = own.into_iter().map(|spent| spent.unwrap().searches).sum();
    assert_eq!(booked, 3, "one who is refused for the others' sake keeps what is theirs");
}

#[tokio::test]
async fn f141_rejected_search_is_uncounted_but_late_one_counts() {
    let provider = Provider::start().await;
    let search = search_with(daily(&provider, Some(1), None), &store().await);
    provider.script([FakeReply::Status(400), FakeReply::Silent]);
    assert_eq!(seen(find(&search, "一", 0).await), Err(SearchFailure::Rejected));
    assert_eq!(seen(find_hastily(&search, "二", 0).await), Err(SearchFailure::Timeout));
    assert_eq!(seen(find(&search, "三", 0).await), Err(SearchFailure::OutOfBudget));
}

#[tokio::test]
async fn f088_unreservable_searches_are_rate_limited_locally() {
    let provider = Provider::start().await;
    let config =
        SearchConfig { daily: DailySearchLimits { per_caller: Some(9), total: None }, ..limited(&provider, 2) };
    let search = search_with(config, &dead_store().await);
    assert_eq!(seen(find(&search, "一", 0).await), fetched(1));
    let second = find(&search, "二", 1).await;
    assert!(matches!(second, Err(SearchFailure::Limited { .. })), "{second:?}");
}

#[tokio::test]
async fn f074_cache_key_covers_every_result_option() {
    let (provider, store) = (Provider::start().await, store().await);
    let search = search_with(config(&provider), &store);
    let other_provider = Provider::start().await;
    let other = search_with(config(&other_provider), &store);
    let keys = [
        search.cache_key(&request("天气")),
        search.cache_key(&request("天気")),
        search.cache_key(
            &SearchRequest::new("天气", Mode::Quick, Filters::default(), &OutboundRedactor::default()).unwrap(),
        ),
        search.cache_key(
            &SearchRequest::new("天气", Mode::Deep, Filters::default(), &OutboundRedactor::default()).unwrap(),
        ),
        other.cache_key(&request("天气")),
    ];
    let different: std::collections::HashSet<_> = keys.iter().collect();
    assert_eq!(different.len(), keys.len());
    assert_eq!(search.cache_key(&request("天气")), search.cache_key(&request("　天气 ")));
    assert!(keys.iter().all(|key| key.len() == 64), "{keys:?}");
}

#[tokio::test]
async fn f078_without_store_searches_use_the_local_limit() {
    let provider = Provider::start().await;
    let search = search_with(limited(&provider, 2), &dead_store().await);
    assert_eq!(seen(find(&search, "天气", 0).await), fetched(1));
    assert_eq!(seen(find(&search, "天气", 20).await), fetched(2));
    let third = find_for(&search, "天气", &Owner::new("bob"), 40).await;
    assert!(matches!(third, Err(SearchFailure::Limited { .. })), "{third:?}");
    assert_eq!(provider.count(), 2);
}

#[tokio::test]
async fn f074_searches_of_other_callers_stay_private() {
    let provider = Provider::start().await;
    let search = search(&provider).await;
    let bob = Owner::new("bob");
    let mut reported = Vec::new();
    for owner in [&ada(), &bob, &bob, &ada()] {
        let found = find_for(&search, "天气", owner, 0).await.unwrap();
        let output = found.into_output(|results, notice| CitedSearch {
            results,
            notice,
            language: domain::Language::En,
            budget: tools::ResultBudget::default(),
        });
        reported.push((output.cached, output.credits));
    }
    assert_eq!((reported, provider.count()), (vec![(false, 3), (false, 3), (true, 0), (true, 0)], 1));
}
