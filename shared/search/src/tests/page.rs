//! The tool that reads pages: allowed pages, requests and results.

use std::sync::Arc;
use std::time::Duration;

use domain::{Language, Membership, Message, Source};
use serde_json::{Value, json};
use tokio::time::Instant;
use tools::{CalculationBudget, OutboundRedactor, Progress, ResultBudget, Tool, ToolContext, ToolOutput, UrlAllowlist};

use super::support::*;
use super::tool::rendered;
use crate::ReadUrl;

async fn tool(provider: &Provider) -> ReadUrl {
    ReadUrl(Arc::new(search(provider).await))
}

/// Reads a page in a conversation with this user message.
async fn read(tool: &ReadUrl, message: &str, url: &str) -> Result<ToolOutput, (String, String)> {
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
    context.allowed_urls.add_message(&Message::user(message));
    rendered(tool.call(json!({"url": url}), &context).await).map_err(|(failure, content)| (failure.code, content))
}

#[tokio::test]
async fn page_is_fetched_once_as_markdown() {
    let provider = Provider::start().await;
    let tool = tool(&provider).await;
    provider.script([FakeReply::Page("# 标题\n正文")]);
    let expected = ToolOutput {
        content: "编号：1\n标题：标题\n来源：https://a.example/x\n内容：# 标题\n正文".to_owned(),
        user_text: Some("[标题](https://a.example/x)\n\n# 标题\n正文".to_owned()),
        summary: "7 characters".to_owned(),
        sources: vec![Source {
            index: 1,
            title: "标题".to_owned(),
            url: "https://a.example/x".to_owned(),
            excerpt: "# 标题 正文".to_owned(),
        }],
        cached: false,
        credits: 1,
        citing: None,
    };
    assert_eq!(read(&tool, "看 https://a.example/x", "https://A.example/x#part").await, Ok(expected.clone()));
    let again = read(&tool, "https://a.example/x", "https://a.example/x").await;
    assert_eq!(again, Ok(ToolOutput { cached: true, credits: 0, ..expected }));
    let bodies: Vec<Value> = provider.requests().into_iter().map(|(_, body)| body).collect();
    let body =
        json!({"urls": ["https://a.example/x"], "extract_depth": "basic", "format": "markdown", "include_usage": true});
    assert_eq!(bodies, [body]);
}

#[tokio::test]
async fn f136_page_outside_the_allowlist_is_never_requested() {
    let provider = Provider::start().await;
    let tool = tool(&provider).await;
    for url in ["https://evil.example/?d=secret", "https://a.example/x?d=secret", "http://169.254.169.254/latest", "x"]
    {
        let (code, content) = read(&tool, "https://a.example/x http://169.254.169.254/latest", url).await.unwrap_err();
        assert_eq!(code, "invalid_arguments", "{url}");
        assert!(content.starts_with("参数不符合要求：`url` 必须是"), "{content}");
    }
    assert_eq!(provider.count(), 0);
}

#[tokio::test]
async fn f136_allowlisted_spelling_is_requested() {
    let provider = Provider::start().await;
    let tool = tool(&provider).await;
    for url in ["https://A.example/x/", "https://a.example:443/x#80", "https://a.example/x"] {
        provider.script([FakeReply::Unreadable]);
        read(&tool, "https://a.example/x", url).await.unwrap_err();
    }
    for url in ["https://a.example/x//", "https://a.example/x////////", "https://a.example/x?"] {
        let (code, _) = read(&tool, "https://a.example/x", url).await.unwrap_err();
        assert_eq!(code, "invalid_arguments", "{url}");
    }
    let urls: Vec<Value> = provider.requests().into_iter().map(|(_, body)| body["urls"].clone()).collect();
    assert_eq!(urls, vec![json!(["https://a.example/x"]); 3]);
}

#[tokio::test]
async fn f065_page_failure_hides_provider_text() {
    let provider = Provider::start().await;
    let tool = tool(&provider).await;
    provider.script([FakeReply::Unreadable, FakeReply::Status(400)]);
    let failed = |reason: &str| {
        Err((
            "failed".to_owned(),
            format!("<page_error>读取失败: {reason}</page_error>\n没有得到结果。请如实告诉用户，不要编造。"),
        ))
    };
    let url = "https://a.example/x";
    assert_eq!(read(&tool, url, url).await, failed("这个网页无法读取"));
    assert_eq!(read(&tool, url, url).await, failed("搜索服务不接受这个查询"));
    provider.script([FakeReply::Page("正文")]);
    assert!(read(&tool, url, url).await.is_ok(), "a failure is not kept");
}

#[tokio::test]
async fn the_schema_is_plain() {
    let expected = json!({
        "type": "object",
        "properties": {"url": {"type": "string", "description": "完整网址，与出现时完全一样"}},
        "required": ["url"],
        "additionalProperties": false,
    });
    assert_eq!(tool(&Provider::start().await).await.spec(Language::default()).parameters, expected);
}
