//! Failover between two providers.

use domain::Owner;
use serde_json::Value;
use store::Day;
use tokio::time::Instant;

use super::support::*;
use crate::clock::{Clock, MAX_DURATION};
use crate::config::ProviderConfig;
use crate::failure::SearchFailure;
use crate::outcome::SearchNotice;
use crate::page::PageRequest;
use crate::search::Search;
use crate::{CreditBudget, DailySearchLimits, SearchConfig};

/// The providers of a test, each on loopback.
struct Both {
    tavily: Provider,
    aws: Provider,
}

impl Both {
    async fn start() -> Self {
        Self { tavily: Provider::start().await, aws: Provider::start().await }
    }

    fn tavily_first(&self) -> [ProviderConfig; 2] {
        [tavily(self.tavily.url.clone(), None), aws(&self.aws)]
    }

    fn aws_first(&self) -> [ProviderConfig; 2] {
        let [tavily, aws] = self.tavily_first();
        [aws, tavily]
    }

    /// The numbers of requests to Tavily and to AWS.
    fn counts(&self) -> [usize; 2] {
        [self.tavily.count(), self.aws.count()]
    }
}

/// The content of the page that a search finds: of Tavily a number, of AWS one after `aws`.
async fn content(search: &Search, query: &str, second: u64) -> String {
    find(search, query, second).await.unwrap().answer.pages.remove(0).content
}

#[tokio::test]
async fn f065_next_provider_answers_the_same_search() {
    let failures = [
        FakeReply::Status(500),
        FakeReply::Status(401),
        FakeReply::Status(432),
        FakeReply::TooFast(60),
        FakeReply::Status(400),
        FakeReply::Cut,
        FakeReply::Endless,
    ];
    for failure in failures {
        let both = Both::start().await;
        both.tavily.script([failure.clone()]);
        let search = search_with(config_of(both.tavily_first()), &store().await);
        let found = find(&search, "天气", 0).await.unwrap();
        assert_eq!(
            (found.answer.pages[0].content.as_str(), found.cached, found.credits),
            ("aws 1", false, 1),
            "{failure:?}"
        );
        assert_eq!(both.counts(), [1, 1], "{failure:?}");
    }
    for failure in [FakeReply::Status(403), FakeReply::Status(429), FakeReply::Unavailable(9), FakeReply::Status(400)] {
        let both = Both::start().await;
        both.aws.script([failure.clone()]);
        let search = search_with(config_of(both.aws_first()), &store().await);
        assert_eq!(seen(find(&search, "天气", 0).await), fetched(1), "{failure:?}");
        assert_eq!(both.counts(), [1, 1], "{failure:?}");
    }
}

#[tokio::test]
async fn f065_failed_provider_is_paused_for_a_minute() {
    let both = Both::start().await;
    let search = search_with(config_of(both.tavily_first()), &store().await);
    both.tavily.script([FakeReply::Status(503)]);
    for (second, query, expected) in [(0, "一", "aws 1"), (55, "二", "aws 2"), (62, "三", "2"), (63, "四", "3")] {
        assert_eq!(content(&search, query, second).await, expected);
    }
    assert_eq!(both.counts(), [3, 2]);
}

#[tokio::test]
async fn f063_failed_provider_is_paused_as_long_as_stated() {
    for (reply, until) in [(FakeReply::TooFast(5), 5), (FakeReply::TooFast(300), 300)] {
        let both = Both::start().await;
        let search = search_with(config_of(both.tavily_first()), &store().await);
        both.tavily.script([reply]);
        assert_eq!(content(&search, "一", 0).await, "aws 1");
        assert_eq!(content(&search, "二", until - 1).await, "aws 2");
        assert_eq!(content(&search, "三", until + 2).await, "2");
    }
    let both = Both::start().await;
    let search = search_with(config_of(both.aws_first()), &store().await);
    both.aws.script([FakeReply::Unavailable(200)]);
    assert_eq!(content(&search, "一", 0).await, "1");
    assert_eq!(content(&search, "二", 199).await, "2");
    assert_eq!(content(&search, "三", 202).await, "aws 2");
}

#[tokio::test]
async fn f065_resting_providers_are_not_used() {
    let both = Both::start().await;
    let search = search_with(config_of(both.aws_first()), &store().await);
    assert_eq!(content(&search, "旧", 0).await, "aws 1");
    both.aws.script([FakeReply::Status(503)]);
    both.tavily.script([FakeReply::Status(500), FakeReply::Status(500)]);
    assert_eq!(seen(find(&search, "一", 3610).await), Err(SearchFailure::Unavailable));
    assert_eq!(both.counts(), [2, 2], "the last one is tried twice");
    assert_eq!(seen(find(&search, "二", 3650).await), Err(SearchFailure::Busy));
    assert_eq!(content(&search, "旧", 3651).await, "aws 1", "an older result");
    assert_eq!(both.counts(), [2, 2]);
    assert_eq!(content(&search, "二", 3680).await, "aws 3");
}

#[tokio::test]
async fn f061_rejected_query_lets_no_provider_rest() {
    let both = Both::start().await;
    let search = search_with(config_of(both.tavily_first()), &store().await);
    both.tavily.script([FakeReply::Status(400)]);
    assert_eq!(content(&search, "一", 0).await, "aws 1");
    assert_eq!(content(&search, "二", 1).await, "2");
}

#[tokio::test]
async fn f065_silent_provider_leaves_time_for_the_next() {
    let both = Both::start().await;
    let search = search_with(config_of(both.tavily_first()), &store().await);
    both.tavily.script([FakeReply::Silent]);
    assert_eq!(find_hastily(&search, "一", 0).await.unwrap().answer.pages[0].content, "aws 1");
    assert_eq!(content(&search, "二", 1).await, "2", "a hurried search is no failure of the provider");
}

#[tokio::test]
async fn f064_plan_of_tavily_does_not_stop_aws() {
    let (both, store) = (Both::start().await, store().await);
    let alone = search_with(config_of([tavily(both.tavily.url.clone(), None)]), &store);
    both.tavily.script([FakeReply::Status(432)]);
    assert_eq!(seen(find(&alone, "一", 0).await), Err(SearchFailure::Exhausted));
    let search = search_with(config_of(both.tavily_first()), &store);
    both.tavily.script([FakeReply::Status(432)]);
    assert_eq!(content(&search, "二", 10).await, "aws 1");
    assert_eq!(content(&search, "三", 3590).await, "aws 2");
    assert_eq!(content(&search, "四", 3601).await, "3");
}

#[tokio::test]
async fn f074_cached_result_serves_either_provider_order() {
    let (both, store) = (Both::start().await, store().await);
    let orders = [both.tavily_first(), both.aws_first()];
    let [first, second] = orders.map(|order| search_with(config_of(order), &store));
    both.tavily.script([FakeReply::Status(500)]);
    assert_eq!(content(&first, "天气", 0).await, "aws 1");
    let again = find(&second, "天气", 1).await.unwrap();
    assert_eq!((again.cached, again.own, again.credits), (true, true, 0));
    let bob = find_for(&second, "天气", &Owner::new("bob"), 2).await.unwrap();
    assert_eq!((bob.own, bob.others_credits), (false, 1));
    assert_eq!(both.counts(), [1, 1]);
}

#[tokio::test]
async fn f141_failover_is_one_search_of_every_budget() {
    let (both, store) = (Both::start().await, store().await);
    let daily = DailySearchLimits { per_caller: Some(2), total: None };
    let budget = CreditBudget { month: None, day: Some(4) };
    let search = search_with(SearchConfig { daily, budget, ..config_of(both.tavily_first()) }, &store);
    both.tavily.script([FakeReply::Status(503)]);
    assert_eq!(content(&search, "一", 0).await, "aws 1");
    assert_eq!(store.search_credits.spent(&both.tavily.url, at(0)).await.unwrap().day, 1);
    let booked = store.ledger.day(store::UsageScope::User(&ada()), Day::of(at(0))).await.unwrap().searches;
    assert_eq!(booked, 1);
    assert_eq!(content(&search, "二", 100).await, "2");
    assert_eq!(seen(find(&search, "三", 100).await), Err(SearchFailure::Spent));
}

#[tokio::test]
async fn f141_failure_of_free_providers_is_not_booked() {
    let (both, store) = (Both::start().await, store().await);
    let daily = DailySearchLimits { per_caller: Some(1), total: None };
    let search = search_with(SearchConfig { daily, ..config_of(both.tavily_first()) }, &store);
    both.tavily.script([FakeReply::Status(400)]);
    both.aws.script([FakeReply::Status(400)]);
    assert_eq!(seen(find(&search, "一", 0).await), Err(SearchFailure::Rejected));
    both.tavily.script([FakeReply::Cut]);
    both.aws.script([FakeReply::Status(400)]);
    assert_eq!(seen(find(&search, "二", 1).await), Err(SearchFailure::Unavailable), "it may have cost something");
    assert_eq!(seen(find(&search, "三", 100).await), Err(SearchFailure::OutOfBudget));
}

#[tokio::test]
async fn f141_low_budget_makes_only_tavily_cheap() {
    let both = Both::start().await;
    let budget = CreditBudget { month: None, day: Some(14) };
    let search = search_with(SearchConfig { budget, ..config_of(both.tavily_first()) }, &store().await);
    for query in ["一", "二", "三", "四"] {
        assert_eq!(find(&search, query, 0).await.unwrap().notice, None);
    }
    both.tavily.script([FakeReply::TooFast(9)]);
    assert_eq!(find(&search, "五", 0).await.unwrap().notice, None, "AWS has one depth");
    assert_eq!(find(&search, "六", 10).await.unwrap().notice, Some(SearchNotice::BasicOnly));
    let depths: Vec<Value> = both.tavily.requests().into_iter().map(|(_, body)| body["search_depth"].clone()).collect();
    assert_eq!(depths, ["advanced", "advanced", "advanced", "advanced", "basic", "basic"]);
}

#[tokio::test]
async fn pages_are_read_by_tavily_whatever_searches() {
    let both = Both::start().await;
    let pages = ProviderConfig::Tavily { base_url: both.tavily.url.clone(), api_key: None, pages_only: true };
    let search = search_with(config_of([aws(&both.aws), pages]), &store().await);
    both.tavily.script([FakeReply::Page("正文")]);
    let clock = Clock::new(at(0), Instant::now() + MAX_DURATION);
    let read = search.find(&PageRequest::new("https://a.example/".to_owned()), &ada(), &clock).await.unwrap();
    assert_eq!(read.answer.text, "正文");
    both.aws.script([FakeReply::Status(400)]);
    assert_eq!(seen(find(&search, "天气", 0).await), Err(SearchFailure::Rejected));
    assert_eq!(both.counts(), [1, 1], "it does not search");
}

#[tokio::test]
async fn pages_are_read_while_tavily_searches_are_paused() {
    let both = Both::start().await;
    let search = search_with(config_of(both.tavily_first()), &store().await);
    both.tavily.script([FakeReply::Status(503), FakeReply::Page("正文")]);
    assert_eq!(content(&search, "一", 0).await, "aws 1");
    let clock = Clock::new(at(1), Instant::now() + MAX_DURATION);
    assert!(search.find(&PageRequest::new("https://a.example/".to_owned()), &ada(), &clock).await.is_ok());
}
