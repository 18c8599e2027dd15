//! Amazon's web search: alone, and in failover with Tavily.

use serde_json::{Value, json};
use support::{Completion, FakeAwsSearch, FakeTavily, TestApp, Transcript};

use crate::search_call;

/// An app whose model searches for the user's message, and then answers.
async fn app_with(aws: &FakeAwsSearch, more: &[(&str, &str)]) -> TestApp {
    let url = aws.url();
    let app = TestApp::start_with(&[&[("AWS_SEARCH_BASE_URL", url.as_str())], more].concat()).await;
    app.model.respond_with(|request| {
        if request.has_tool_results() {
            Completion::of(["好 [1]。"])
        } else {
            Completion::of([search_call(&request.last_message())])
        }
    });
    app
}

const AWS_ALONE: [(&str, &str); 3] = [("SEARCH_PROVIDER", "aws"), ("TAVILY_BASE_URL", ""), ("TAVILY_API_KEY", "")];

/// The address of the first source, whether the cache served the search, and what it cost.
fn outcome(turn: &Transcript) -> (Value, Value, Value) {
    let result = turn.events_of("tool_result")[0];
    let credits = turn.events_of("usage")[0]["searchCredits"].clone();
    (result["sources"][0]["url"].clone(), result["cached"].clone(), credits)
}

#[tokio::test]
async fn aws_alone_searches_without_any_key() {
    let aws = FakeAwsSearch::start().await;
    let app = app_with(&aws, &AWS_ALONE).await;
    let page = json!("https://aws.example.com/1");
    let turns = [app.send_message("天气").await, app.as_user("alice").send_message("天气").await];
    assert_eq!(turns.each_ref().map(outcome), [(); 2].map(|()| (page.clone(), json!(false), json!(1))));
    let repeats = [app.send_message("天气").await, app.as_user("alice").send_message("天气").await];
    assert_eq!(repeats.each_ref().map(outcome), [(); 2].map(|()| (page.clone(), json!(true), json!(0))));
    assert_eq!((turns[0].content().as_str(), aws.queries()), ("好 [1]。", vec!["天气".to_owned()]));
    let prompt = app.model.wait_for_request(2).await.last_message();
    assert!(prompt.contains("来源：https://aws.example.com/1") && prompt.contains("关于“天气”的摘录 1。"), "{prompt}");
    let tools = app.get("/api/tools").await.json();
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"search_web") && !names.contains(&"read_url"), "{names:?}");
}

#[tokio::test]
async fn f061_f062_f063_f065_aws_failure_is_a_failed_call() {
    for (status, attempts, message) in [
        (400, 1, "The search service rejected the query."),
        (403, 1, "The search service rejected the server's key."),
        (429, 2, "The search service is busy."),
        (503, 2, "The search service cannot be reached right now."),
    ] {
        let aws = FakeAwsSearch::start().await;
        let app = app_with(&aws, &AWS_ALONE).await;
        aws.queue_replies((0..attempts).map(|_| FakeAwsSearch::error_reply(status, "upstream words")));
        let turn = app.send_message("天气").await;
        let error = json!({ "code": "failed", "message": message });
        assert_eq!(turn.events_of("tool_result")[0]["error"], error, "{status}");
        assert!(!app.model.wait_for_request(2).await.last_message().contains("upstream"), "{status}");
    }
}

#[tokio::test]
async fn f065_search_fails_over_in_both_directions() {
    let aws = FakeAwsSearch::start().await;
    let app = app_with(&aws, &[("SEARCH_PROVIDER", "tavily,aws")]).await;
    app.search.queue_replies([FakeTavily::error_reply(503, "upstream words")]);
    let expected = |address: &str, credits: u32| (json!(address), json!(false), json!(credits));
    assert_eq!(outcome(&app.send_message("一").await), expected("https://aws.example.com/1", 1));
    assert_eq!(outcome(&app.send_message("二").await), expected("https://aws.example.com/1", 1));
    assert_eq!((app.search.queries(), aws.queries().len()), (vec!["一".to_owned()], 2), "Tavily is paused");

    let aws = FakeAwsSearch::start().await;
    let app = app_with(&aws, &[("SEARCH_PROVIDER", "aws,tavily")]).await;
    aws.queue_replies([FakeAwsSearch::error_reply(429, "upstream words")]);
    assert_eq!(outcome(&app.send_message("一").await), expected("https://example.com/1", 2));
    assert_eq!(outcome(&app.send_message("二").await), expected("https://example.com/1", 2));
    assert_eq!((app.search.queries().len(), aws.queries()), (2, vec!["一".to_owned()]), "AWS is paused");
}
