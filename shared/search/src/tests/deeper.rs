//! A second, deeper search after a quick one without relevant results.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use store::RateLimit;
use tools::ToolOutput;

use super::support::*;
use super::tool::call;
use crate::{CreditBudget, SearchConfig, WebSearch};

const DEEPENED: &str = "（说明：快速搜索的结果不够相关，这是自动加深搜索后的结果。）";

/// Searches in this mode; returns the result and the depths of the requests.
async fn searched(config: SearchConfig, provider: &Provider, mode: &str) -> (ToolOutput, Vec<Value>) {
    let tool = WebSearch(Arc::new(search_with(config, &store().await)));
    let output = call(&tool, json!({"query": "天气", "mode": mode})).await.unwrap();
    let depths = provider.requests().into_iter().map(|(_, body)| body["search_depth"].clone()).collect();
    (output, depths)
}

#[tokio::test]
async fn irrelevant_quick_search_is_followed_by_normal_search() {
    for first in [FakeReply::Scored(0.79), FakeReply::Nothing] {
        let provider = Provider::start().await;
        provider.script([first, FakeReply::Scored(0.1)]);
        let (output, depths) = searched(config(&provider), &provider, "quick").await;
        assert_eq!(depths, ["basic", "advanced"], "never more than one");
        assert!(output.content.contains(DEEPENED) && output.content.contains("内容：2"), "{}", output.content);
        assert!(output.credits >= 4 && !output.cached, "{output:?}");
    }
}

#[tokio::test]
async fn relevant_quick_and_other_searches_run_once() {
    for (mode, score) in [("quick", 0.8), ("normal", 0.1), ("deep", 0.1)] {
        let provider = Provider::start().await;
        provider.script([FakeReply::Scored(score)]);
        let (output, depths) = searched(config(&provider), &provider, mode).await;
        assert_eq!((depths.len(), output.credits), (1, 3), "{mode}");
        assert!(!output.content.contains("说明"), "{}", output.content);
    }
}

#[tokio::test]
async fn repeated_quick_search_finds_both_in_cache() {
    let provider = Provider::start().await;
    provider.script([FakeReply::Scored(0.1)]);
    let tool = WebSearch(Arc::new(search(&provider).await));
    let quick = json!({"query": "天气", "mode": "quick"});
    let first = call(&tool, quick.clone()).await.unwrap();
    let again = call(&tool, quick).await.unwrap();
    assert_eq!((first.credits, again.credits, again.cached, provider.count()), (6, 0, true, 2));
    assert_eq!(first.content, again.content);
}

#[tokio::test]
async fn failed_deeper_search_keeps_first_results() {
    let provider = Provider::start().await;
    provider.script([FakeReply::Scored(0.1), FakeReply::Status(400)]);
    let (output, depths) = searched(config(&provider), &provider, "quick").await;
    assert_eq!((depths.len(), output.credits), (2, 3));
    assert!(output.content.contains("内容：1") && !output.content.contains("说明"), "{}", output.content);

    let provider = Provider::start().await;
    provider.script([FakeReply::Scored(0.1)]);
    let limit = RateLimit { burst: 1, window: Duration::from_mins(10) };
    let (output, depths) = searched(SearchConfig { limit, ..config(&provider) }, &provider, "quick").await;
    assert_eq!((depths.len(), output.credits), (1, 3));
}

#[tokio::test]
async fn f141_low_budget_prevents_deeper_search() {
    let provider = Provider::start().await;
    provider.script([FakeReply::Scored(0.1)]);
    let budget = CreditBudget { month: None, day: Some(3) };
    let (output, depths) = searched(SearchConfig { budget, ..config(&provider) }, &provider, "quick").await;
    assert_eq!((depths.len(), output.credits), (1, 3));
}
