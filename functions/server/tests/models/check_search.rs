//! `check` with search providers.

use support::{FakeAwsSearch, FakeTavily};

use crate::check::{ANSWER, STREAMING, TOOLS, WINDOW, WORKS, check, failed, good_model, passed, report};

#[tokio::test]
async fn each_search_provider_is_checked() {
    let (model, search, aws) = (good_model().await, FakeTavily::start().await, FakeAwsSearch::start().await);
    let (url, model_lines) = (aws.url(), [ANSWER, STREAMING, TOOLS, WINDOW].concat());
    let settings = [("SEARCH_PROVIDER", "aws,tavily"), ("AWS_SEARCH_BASE_URL", &url)];
    let expected = |aws: &str, conclusion: &str| {
        let both = format!("search (127.0.0.1:N)\n  {aws}\nsearch (127.0.0.1:N)");
        report(&model_lines, conclusion).replace("search (127.0.0.1:N)", &both)
    };
    assert_eq!(check(&model, &search, &settings).await, passed(&expected("ok      search     2 results", WORKS)));
    for (status, text) in [
        (
            403,
            "access was denied: allow bedrock-agentcore:InvokeWebSearch on \
             arn:aws:bedrock-agentcore:REGION:aws:tool/web-search.v1, or replace the credentials",
        ),
        (404, "AWS has no web search here or it is broken: set SEARCH_REGION, or try again later"),
    ] {
        aws.queue_replies([FakeAwsSearch::error_reply(status, "canary")]);
        let expected = expected(&format!("FAILED  search     {text}"), "");
        assert_eq!(check(&model, &search, &settings).await, failed(&expected));
    }
}

#[tokio::test]
async fn wrong_search_key_and_spent_quota_fail() {
    for (status, text) in [
        (401, "the key was rejected: set TAVILY_API_KEY"),
        (
            432,
            "the quota of the plan is spent: raise the plan at the provider, wait for its renewal, or set TAVILY_API_KEY to \
             another account's",
        ),
        (400, "the server does not speak Tavily's protocol: set TAVILY_BASE_URL"),
    ] {
        let (model, search) = (good_model().await, FakeTavily::start().await);
        search.queue_replies([FakeTavily::error_reply(status, "canary")]);
        let model_lines = [ANSWER, STREAMING, TOOLS, WINDOW].concat();
        let expected =
            report(&model_lines, "").replace("ok      search     2 results", &format!("FAILED  search     {text}"));
        assert_eq!(check(&model, &search, &[]).await, failed(&expected));
    }
}
