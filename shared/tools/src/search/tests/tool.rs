//! The tool as the loop sees it: arguments in, text and report out.

use std::time::Duration;

use conversation::{Source, ToolFailure};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::support::*;
use crate::{Tool, ToolContext, ToolError, ToolOutput, WebSearch};

async fn tool(provider: &Provider) -> WebSearch {
    let store = store().await;
    WebSearch::new(config(provider), transport::client().unwrap(), &store)
}

async fn call(tool: &WebSearch, arguments: Value) -> Result<ToolOutput, (ToolFailure, String)> {
    let context = ToolContext { owner: ada(), deadline: Instant::now() + Duration::from_secs(30) };
    tool.call(arguments, &context).await.map_err(|error| match error {
        ToolError::Model { failure, content } => (failure, content),
        ToolError::Fatal(error) => panic!("{error}"),
    })
}

fn failure(code: &str, message: &str) -> ToolFailure {
    ToolFailure { code: code.to_owned(), message: message.to_owned() }
}

#[tokio::test]
async fn a_search_gives_text_for_the_model_and_sources_for_the_user() {
    let content = "<search_results>\nAI 摘要：A\n\n搜索结果：\n\n\
        1. 天气\n来源：https://example.com/\n内容：1\n\n</search_results>";
    let expected = ToolOutput {
        content: content.to_owned(),
        summary: "1 result".to_owned(),
        sources: vec![Source { index: 1, title: "天气".to_owned(), url: "https://example.com/".to_owned() }],
        cached: false,
        credits: 3,
    };
    let tool = tool(&Provider::start().await).await;
    assert_eq!(call(&tool, json!({"query": "天气"})).await, Ok(expected.clone()));
    assert_eq!(call(&tool, json!({"query": "天气"})).await, Ok(ToolOutput { cached: true, credits: 0, ..expected }));
}

#[tokio::test]
async fn the_mode_decides_how_much_is_searched_for() {
    let provider = Provider::start().await;
    let tool = tool(&provider).await;
    for mode in ["quick", "normal", "deep"] {
        call(&tool, json!({"query": "天气", "mode": mode})).await.unwrap();
    }
    let asked: Vec<Value> = provider.requests().into_iter().map(|(_, body)| body["max_results"].clone()).collect();
    assert_eq!(asked, [3, 10, 10]);
}

#[tokio::test]
async fn f065_a_failed_search_is_told_without_the_words_of_the_provider() {
    let provider = Provider::start().await;
    provider.script([Reply::Status(400)]);
    let expected = (
        failure("failed", "The search service did not accept the query."),
        "<search_error>搜索失败: 搜索服务不接受这个查询</search_error>".to_owned(),
    );
    assert_eq!(call(&tool(&provider).await, json!({"query": "天气"})).await, Err(expected));
}

#[tokio::test]
async fn f061_a_blank_query_is_never_searched_for() {
    let provider = Provider::start().await;
    let expected = (
        failure("invalid_arguments", "The model called the tool with arguments that do not fit."),
        "参数不符合要求：`query` must not be blank。请改正参数后重新调用。".to_owned(),
    );
    assert_eq!(call(&tool(&provider).await, json!({"query": " \n"})).await, Err(expected));
    assert_eq!(provider.count(), 0);
}

#[tokio::test]
async fn the_examples_are_calls_that_fit() {
    let spec = tool(&Provider::start().await).await.spec();
    assert_eq!(spec.examples[0].question, "今天的新闻有哪些？");
    assert_eq!(spec.examples[0].arguments, json!({"query": "今天的新闻"}));
    for example in spec.examples {
        assert_eq!(calls::fit(&spec.parameters, example.arguments.clone()), Ok(example.arguments));
    }
}
