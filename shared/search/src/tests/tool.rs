//! The tool as the loop sees it: arguments in, text and report out.

use std::sync::Arc;
use std::time::Duration;

use domain::{Language, Membership, Source, ToolFailure};
use serde_json::{Value, json};
use tokio::time::Instant;
use tools::{
    CalculationBudget, OutboundRedactor, Progress, ResultBudget, Tool, ToolCallError, ToolContext, ToolError,
    ToolOutput, UrlAllowlist,
};

use super::support::*;
use crate::WebSearch;

pub(super) async fn tool(provider: &Provider) -> WebSearch {
    WebSearch(Arc::new(search(provider).await))
}

pub(super) async fn call(tool: &WebSearch, arguments: Value) -> Result<ToolOutput, (ToolFailure, String)> {
    let context = ToolContext {
        language: Language::Zh,
        time_zone: tools::TimeZone::UTC,
        owner: ada(),
        membership: Membership::default(),
        deadline: Instant::now() + Duration::from_secs(30),
        allowed_urls: UrlAllowlist::default(),
        sources: tools::SourceNumbers::default(),
        progress: Progress::default(),
        redactor: OutboundRedactor::default(),
        calculation_budget: CalculationBudget::default(),
        result_budget: ResultBudget::default(),
    };
    rendered(tool.call(arguments, &context).await)
}

/// A result under the first numbers of a conversation.
pub(super) fn rendered(outcome: Result<ToolOutput, ToolError>) -> Result<ToolOutput, (ToolFailure, String)> {
    match outcome {
        Ok(ToolOutput { citing: Some(citing), cached, credits, .. }) => {
            Ok(ToolOutput { cached, credits, ..citing.render(&tools::SourceNumbers::default(), true) })
        }
        Ok(output) => panic!("{output:?}"),
        Err(ToolError::Model(ToolCallError { failure, content })) => Err((failure, content)),
        Err(ToolError::Fatal(error)) => panic!("{error}"),
    }
}

fn failure(code: &str, message: &str) -> ToolFailure {
    ToolFailure { code: code.to_owned(), message: message.to_owned() }
}

#[tokio::test]
async fn search_returns_model_text_and_sources() {
    let content = "<search_results>\nAI 摘要：A\n\n搜索结果：\n\n\
        1. 天气\n来源：https://example.com/\n内容：1\n\n</search_results>";
    let expected = ToolOutput {
        content: content.to_owned(),
        user_text: Some("A\n\n1. [天气](https://example.com/)\n   1".to_owned()),
        summary: "1 result".to_owned(),
        sources: vec![Source {
            index: 1,
            title: "天气".to_owned(),
            url: "https://example.com/".to_owned(),
            excerpt: "1".to_owned(),
        }],
        cached: false,
        credits: 3,
        citing: None,
    };
    let tool = tool(&Provider::start().await).await;
    assert_eq!(call(&tool, json!({"query": "天气"})).await, Ok(expected.clone()));
    assert_eq!(call(&tool, json!({"query": "天气"})).await, Ok(ToolOutput { cached: true, credits: 0, ..expected }));
}

#[tokio::test]
async fn mode_sets_the_number_of_results() {
    let provider = Provider::start().await;
    let tool = tool(&provider).await;
    for mode in ["quick", "normal", "deep"] {
        call(&tool, json!({"query": "天气", "mode": mode})).await.unwrap();
    }
    let counts: Vec<Value> = provider.requests().into_iter().map(|(_, body)| body["max_results"].clone()).collect();
    assert_eq!(counts, [3, 10, 10]);
}

#[tokio::test]
async fn f065_search_failure_hides_provider_text() {
    let provider = Provider::start().await;
    provider.script([FakeReply::Status(400)]);
    let expected = (
        failure("failed", "The search service rejected the query."),
        "<search_error>搜索失败: 搜索服务不接受这个查询</search_error>\n没有得到结果。请如实告诉用户，不要编造。"
            .to_owned(),
    );
    assert_eq!(call(&tool(&provider).await, json!({"query": "天气"})).await, Err(expected));
}

#[tokio::test]
async fn f061_blank_query_is_never_sent() {
    let provider = Provider::start().await;
    let expected = (
        failure("invalid_arguments", "The model called the tool with arguments that do not fit."),
        "参数不符合要求：`query` 不能为空。请改正参数后重新调用。".to_owned(),
    );
    assert_eq!(call(&tool(&provider).await, json!({"query": " \n"})).await, Err(expected));
    assert_eq!(provider.count(), 0);
}

#[tokio::test]
async fn filters_are_sent_and_part_of_the_key() {
    let provider = Provider::start().await;
    let tool = tool(&provider).await;
    let filtered = json!({"query": "天气", "topic": "news", "time_range": "week", "include_domains": ["B.example", "a.example"],
        "exclude_domains": ["c.example"]});
    call(&tool, filtered).await.unwrap();
    call(&tool, json!({"query": "天气", "topic": "general"})).await.unwrap();
    assert!(call(&tool, json!({"query": "天气"})).await.unwrap().cached, "general is what is searched anyway");
    let bodies: Vec<Value> = provider.requests().into_iter().map(|(_, body)| body).collect();
    let fields = ["topic", "time_range", "include_domains", "exclude_domains"];
    let sent: Vec<_> = bodies.iter().map(|body| fields.map(|field| body.get(field).cloned())).collect();
    let expected = [json!("news"), json!("week"), json!(["a.example", "b.example"]), json!(["c.example"])].map(Some);
    assert_eq!(sent, [expected, [None, None, None, None]]);
}

#[tokio::test]
async fn f051_invalid_domain_is_rejected_before_any_request() {
    let provider = Provider::start().await;
    let (failure, content) =
        call(&tool(&provider).await, json!({"query": "q", "exclude_domains": ["http://x"]})).await.unwrap_err();
    assert_eq!((failure.code.as_str(), provider.count()), ("invalid_arguments", 0));
    assert!(content.contains("`exclude_domains` 只能是 example.com 这样的域名"), "{content}");
}

#[tokio::test]
async fn the_schema_is_plain() {
    let parameters = tool(&Provider::start().await).await.spec(Language::default()).parameters;
    let choice =
        |values: &[&str], description: &str| json!({"type": "string", "enum": values, "description": description});
    let list = |description: &str| json!({"type": "array", "items": {"type": "string"}, "description": description});
    let expected = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "简短具体，写明时间、地点；用名称代替“它”“第一条”"},
            "mode": choice(&["quick", "normal", "deep"],
                "quick 3 条结果；normal（默认）10 条；deep 还有详细摘要，用于复杂问题"),
            "topic": choice(&["general", "news", "finance"], "默认 general"),
            "time_range": choice(&["day", "week", "month", "year"], "只要最近这段时间的网页"),
            "include_domains": list("只搜这些网站，如 example.com，至多 10 个"),
            "exclude_domains": list("排除这些网站"),
        },
        "required": ["query"],
        "additionalProperties": false,
    });
    assert_eq!(parameters, expected);
}

#[tokio::test]
async fn examples_fit_the_schema() {
    let spec = tool(&Provider::start().await).await.spec(Language::default());
    assert_eq!(spec.examples[0].question, "今天的新闻有哪些？");
    assert_eq!(
        spec.examples[0].arguments,
        json!({"query": "今天的新闻 {today}", "topic": "news", "time_range": "day"})
    );
    for example in spec.examples {
        assert_eq!(tool_calls::coerce_arguments(&spec.parameters, example.arguments.clone()), Ok(example.arguments));
    }
}
