//! Budgets for the credits of searches.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use domain::{CreditLimit, CreditObserver};

use super::support::*;
use crate::failure::SearchFailure;
use crate::outcome::SearchNotice;
use crate::{CreditBudget, SearchConfig};

/// Records the reports.
#[derive(Default)]
struct RecordingObserver(Mutex<Vec<Result<u64, CreditLimit>>>);

impl CreditObserver for RecordingObserver {
    fn on_refused(&self, by: CreditLimit, _: SystemTime) {
        self.0.lock().unwrap().push(Err(by));
    }

    fn on_spent(&self, percent: u64, _: SystemTime) {
        self.0.lock().unwrap().push(Ok(percent));
    }
}

/// The depths of the requests to the provider.
fn depths(provider: &Provider) -> Vec<String> {
    provider.requests().iter().map(|(_, body)| body["search_depth"].as_str().unwrap().to_owned()).collect()
}

fn within(budget: CreditBudget, provider: &Provider) -> SearchConfig {
    SearchConfig { budget, ..config(provider) }
}

#[tokio::test]
async fn f141_low_budget_is_cheap_then_cached_only() {
    let provider = Provider::start().await;
    let search = search_with(within(CreditBudget { month: Some(7), day: None }, &provider), &store().await);
    for query in ["一", "二"] {
        assert_eq!(find(&search, query, 0).await.unwrap().notice, None);
    }
    assert_eq!(find(&search, "三", 10).await.unwrap().notice, Some(SearchNotice::BasicOnly));
    let known = find(&search, "三", 20).await.unwrap();
    assert_eq!(
        (known.notice, known.cached),
        (Some(SearchNotice::BasicOnly), true),
        "what was cheap stays known as such"
    );
    assert_eq!(seen(find(&search, "四", 30).await), Err(SearchFailure::Spent));
    let old = find(&search, "一", 3700).await.unwrap();
    assert_eq!((old.notice, old.cached), (Some(SearchNotice::Stale), true));
    assert_eq!(depths(&provider), ["advanced", "advanced", "basic"]);
}

#[tokio::test]
async fn f141_daily_budget_resets_the_next_day() {
    let provider = Provider::start().await;
    let search = search_with(within(CreditBudget { month: Some(1000), day: Some(3) }, &provider), &store().await);
    assert_eq!(seen(find(&search, "一", 0).await), fetched(1));
    assert_eq!(seen(find(&search, "二", 10).await), Err(SearchFailure::Spent));
    assert_eq!(seen(find(&search, "二", 24 * 3600).await), fetched(2));
}

#[tokio::test]
async fn f141_all_processes_share_one_budget() {
    let (provider, store) = (Provider::start().await, store().await);
    let budget = CreditBudget { month: Some(3), day: None };
    let (one, two) = (search_with(within(budget, &provider), &store), search_with(within(budget, &provider), &store));
    assert_eq!(seen(find(&one, "一", 0).await), fetched(1));
    assert_eq!(seen(find(&two, "二", 0).await), Err(SearchFailure::Spent));
    assert_eq!(provider.count(), 1);
}

#[tokio::test]
async fn f064_exhausted_plan_pauses_all_processes_until_next_hour() {
    let (provider, store) = (Provider::start().await, store().await);
    let (one, two) = (search_with(config(&provider), &store), search_with(config(&provider), &store));
    assert_eq!(seen(find(&two, "旧", 0).await), fetched(1));
    provider.script([FakeReply::Status(433)]);
    assert_eq!(seen(find(&one, "一", 3700).await), Err(SearchFailure::Exhausted));
    assert_eq!(seen(find(&two, "二", 3710).await), Err(SearchFailure::Spent));
    let old = find(&two, "旧", 3710).await.unwrap();
    assert_eq!((old.notice, old.cached), (Some(SearchNotice::Stale), true));
    assert_eq!(provider.count(), 2);
    assert_eq!(seen(find(&two, "二", 7201).await), fetched(3));
}

#[tokio::test]
async fn f078_searches_continue_uncounted_without_the_store() {
    let provider = Provider::start().await;
    let search = search_with(within(CreditBudget { month: Some(1), day: Some(1) }, &provider), &dead_store().await);
    assert_eq!(seen(find(&search, "一", 0).await), fetched(1));
    assert_eq!(seen(find(&search, "二", 20).await), fetched(2));
}

#[tokio::test]
async fn f141_observer_gets_spent_percent_and_refusals() {
    let (provider, observer) = (Provider::start().await, Arc::new(RecordingObserver::default()));
    let search = search_with(within(CreditBudget { month: Some(6), day: None }, &provider), &store().await);
    let search = search.with_credit_observer(Arc::clone(&observer) as Arc<dyn CreditObserver>);
    for query in ["一", "一", "二", "三"] {
        let _ = find(&search, query, 0).await;
    }
    let _old = find(&search, "一", 3700).await.unwrap();
    let expected = [Ok(0), Ok(50), Ok(100), Err(CreditLimit::Budget), Ok(100), Err(CreditLimit::Budget)];
    assert_eq!(*observer.0.lock().unwrap(), expected);
}

#[tokio::test]
async fn f064_observer_gets_every_plan_refusal() {
    let (provider, observer, store) = (Provider::start().await, Arc::new(RecordingObserver::default()), store().await);
    let [one, two] = [(); 2].map(|()| {
        search_with(config(&provider), &store).with_credit_observer(Arc::clone(&observer) as Arc<dyn CreditObserver>)
    });
    provider.script([FakeReply::Status(432)]);
    assert_eq!(seen(find(&one, "一", 0).await), Err(SearchFailure::Exhausted));
    assert_eq!(seen(find(&two, "二", 10).await), Err(SearchFailure::Spent));
    assert_eq!(seen(find(&two, "二", 3700).await), fetched(2));
    assert_eq!(*observer.0.lock().unwrap(), [Err(CreditLimit::Plan), Err(CreditLimit::Plan)]);
}
