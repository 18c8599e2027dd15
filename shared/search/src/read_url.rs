//! `read_url`: reads a page of the conversation's URL allowlist through the search provider.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use domain::{Language, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use tools::{Tool, ToolCallError, ToolContext, ToolError, ToolOutput, arguments, schema, url_allowlist};

use crate::clock::Clock;
use crate::page_request::PageRequest;
use crate::search::{MAX_DURATION, Search};
use crate::shortened::shorten_page_text;

const DESCRIPTION: &str = "读取一个网页的正文。用户发来网址，或者搜索结果里的摘录不够用时，用它读取全文。\
    只能读取用户消息里出现过的网址和本对话结果里列出的来源。";

/// Reads pages; equal requests share their results and count like searches.
pub struct ReadUrl {
    search: Arc<Search>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// 网页的完整网址，以 http:// 或 https:// 开头，与出现时完全一样
    url: String,
}

impl ReadUrl {
    /// Creates the tool over the search provider.
    pub fn new(search: Arc<Search>) -> Self {
        Self { search }
    }
}

#[async_trait]
impl Tool for ReadUrl {
    fn spec(&self, _language: Language) -> ToolSpec {
        let arguments = json!({"url": "https://example.com/news/1"});
        let examples = vec![schema::example("https://example.com/news/1 这篇文章讲了什么？", arguments)];
        schema::spec::<Arguments>(url_allowlist::READ_URL, DESCRIPTION, examples)
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Arguments { url } = arguments::parse(arguments, context.language)?;
        let page = url_allowlist::parse_page(&url).ok_or_else(|| {
            ToolCallError::invalid_arguments(
                "`url` 必须是公开网页的完整网址，以 http:// 或 https:// 开头，不带用户名和密码",
                context.language,
            )
        })?;
        let page = context.allowed_urls.first_spelling(&page).ok_or_else(|| {
            ToolCallError::invalid_arguments(
                "`url` 必须是用户消息里出现过的网址，或者本对话结果里列出的来源",
                context.language,
            )
        })?;
        if context.redactor.is_personal(&page) {
            let reason =
                "`url` 含有个人信息（如邮箱、电话、证件号码），按本服务的设置不会发送给读取网页的服务，请告诉用户";
            return Err(ToolCallError::invalid_arguments(reason, context.language).into());
        }
        let end = context.deadline.min(Instant::now() + MAX_DURATION);
        let clock = Clock::new(SystemTime::now(), end);
        match self.search.find(&PageRequest::new(page.into()), &context.owner, &clock).await {
            Ok(outcome) => Ok(ToolOutput {
                content: shorten_page_text(&outcome.answer, context.result_budget).render_for_model(),
                user_text: Some(outcome.answer.render_for_user()),
                summary: outcome.answer.summary(),
                sources: vec![outcome.answer.source()],
                cached: outcome.is_known_as_cached(),
                credits: outcome.reported_credits(),
            }),
            Err(failure) => {
                tracing::warn!(?failure, "a page could not be read");
                Err(ToolError::Model {
                    failure: failure.to_tool_failure(),
                    content: self.failure_text(&failure.reason(), context.language),
                })
            }
        }
    }

    /// Slightly more than the maximum duration of a request, so that the request ends with its own reason.
    fn timeout(&self) -> Duration {
        MAX_DURATION + Duration::from_secs(5)
    }

    fn wrap_result(&self, content: String) -> String {
        format!("<page>\n{content}\n</page>")
    }

    fn failure_text(&self, reason: &str, _language: Language) -> String {
        format!("<page_error>读取失败: {}</page_error>", tool_calls::escape(reason))
    }
}
