//! `search_web`: searches the web through Tavily.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use domain::Owner;
use domain::{Language, ToolExample, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use tools::{
    OutboundRedactor, ResultBudget, Tool, ToolCallError, ToolContext, ToolError, ToolOutput, arguments, schema,
    url_allowlist,
};

use crate::clock::Clock;
use crate::failure::SearchFailure;
use crate::filters::{Filters, TimeRange, Topic};
use crate::model_text::{RenderedResults, render_failure, render_results};
use crate::outcome::{SearchNotice, SearchOutcome};
use crate::provider_request::ProviderRequest;
use crate::request::{Mode, SearchRequest};
use crate::results::SearchResults;
use crate::search::{MAX_DURATION, Search};
use crate::shortened::shorten_results;
use crate::user_text::render_for_user;

const DESCRIPTION: &str = "联网搜索工具。当问题涉及新闻、天气、价格、赛事等最新信息，或者涉及你不知道、不确定、\
    可能已经变化的事实时，必须先用它搜索，再根据搜索结果回答。闲聊、翻译、写作和计算不需要搜索。";

/// Below this score of the best page, a quick search is repeated in more depth; from 0 to 1.
const MIN_CONFIDENCE: f64 = 0.8;

/// Minimum time left for starting a deeper search.
const MIN_TIME_TO_DEEPEN: Duration = Duration::from_secs(3);

/// Searches the web; equal searches share their results, and each user has a rate limit.
pub struct WebSearch {
    search: Arc<Search>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// 搜索词：简短、具体，包含时间、地点等关键信息，不超过 400 个字符
    query: String,
    /// normal：默认，10 条结果；quick：只要 3 条结果；deep：10 条结果和详细摘要，用于复杂的问题
    #[serde(default)]
    mode: Mode,
    /// 搜索的范围：general：默认；news：新闻报道；finance：财经
    topic: Option<Topic>,
    /// 只要最近一天、一周、一月或一年内的网页；省略时不限
    time_range: Option<TimeRange>,
    /// 只搜索这些网站，最多 10 个域名，例如 example.com
    #[serde(default)]
    include_domains: Vec<String>,
    /// 不要这些网站的结果，最多 10 个域名
    #[serde(default)]
    exclude_domains: Vec<String>,
}

impl WebSearch {
    /// Creates the tool over the search provider.
    pub fn new(search: Arc<Search>) -> Self {
        Self { search }
    }

    /// Searches, and repeats a quick search at most once in more depth if nothing relevant was found. The time, the
    /// rate limit and the budget must allow it. The other modes are never repeated.
    async fn search_with_deepening(
        &self,
        request: &SearchRequest,
        owner: &Owner,
        clock: &Clock,
    ) -> Result<SearchOutcome<SearchResults>, SearchFailure> {
        let first = self.search.find(request, owner, clock).await?;
        let enough = first.answer.confidence() >= MIN_CONFIDENCE || first.notice.is_some();
        let Some(deeper) = request.deeper_request().filter(|_| !enough && clock.remaining() >= MIN_TIME_TO_DEEPEN)
        else {
            return Ok(first);
        };
        if !self.search.has_ample_credits(clock).await {
            return Ok(first);
        }
        Ok(match self.search.find(&deeper, owner, clock).await {
            Ok(second) => SearchOutcome {
                cached: first.cached && second.cached,
                own: first.own && second.own,
                credits: first.credits + second.credits,
                others_credits: first.others_credits + second.others_credits,
                notice: second.notice.or(Some(SearchNotice::Deepened)),
                answer: second.answer,
            },
            Err(_) => first,
        })
    }
}

#[async_trait]
impl Tool for WebSearch {
    fn spec(&self, _language: Language) -> ToolSpec {
        schema::spec::<Arguments>(url_allowlist::SEARCH_WEB, DESCRIPTION, examples())
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let arguments: Arguments = arguments::parse(arguments, context.language)?;
        let request = build_request(arguments, &context.redactor)
            .map_err(|reason| ToolCallError::invalid_arguments(&reason, context.language))?;
        let end = context.deadline.min(Instant::now() + MAX_DURATION);
        let clock = Clock::new(SystemTime::now(), end);
        match self.search_with_deepening(&request, &context.owner, &clock).await {
            Ok(outcome) => Ok(tool_output(&outcome, context.result_budget)),
            Err(failure) => {
                tracing::warn!(?failure, "a search failed");
                Err(ToolError::Model { failure: failure.to_tool_failure(), content: render_failure(&failure.reason()) })
            }
        }
    }

    fn dedup_key(&self, arguments: &Value) -> Value {
        parse_request(arguments).map_or_else(|| arguments.clone(), |request| request.dedup_key())
    }

    fn estimated_credits(&self, arguments: &Value) -> u64 {
        parse_request(arguments).map_or(0, |request| request.list_price())
    }

    /// Slightly more than the maximum duration of a search, so that the search ends with its own reason.
    fn timeout(&self) -> Duration {
        MAX_DURATION + Duration::from_secs(5)
    }

    fn failure_text(&self, reason: &str, _language: Language) -> String {
        render_failure(reason)
    }
}

fn parse_request(arguments: &Value) -> Option<SearchRequest> {
    build_request(arguments::parse(arguments.clone(), Language::default()).ok()?, &OutboundRedactor::default()).ok()
}

fn build_request(arguments: Arguments, redactor: &OutboundRedactor) -> Result<SearchRequest, String> {
    let Arguments { query, mode, topic, time_range, include_domains, exclude_domains } = arguments;
    let filters = Filters::new(topic, time_range, &include_domains, &exclude_domains, redactor)?;
    SearchRequest::new(&query, mode, filters, redactor).ok_or_else(|| "`query` must not be blank".to_owned())
}

fn tool_output(outcome: &SearchOutcome<SearchResults>, budget: ResultBudget) -> ToolOutput {
    let RenderedResults { text, sources } = render_results(&shorten_results(&outcome.answer, budget), outcome.notice);
    let user_text = render_for_user(&outcome.answer, sources.len(), outcome.notice);
    let summary = status_line(sources.len(), outcome.answer.pages.len());
    let (cached, credits) = (outcome.is_known_as_cached(), outcome.reported_credits());
    ToolOutput { content: text, user_text: Some(user_text), summary, sources, cached, credits }
}

fn status_line(shown: usize, all: usize) -> String {
    match (shown, all) {
        (_, 0) => "no results".to_owned(),
        (1, 1) => "1 result".to_owned(),
        _ if shown < all => format!("{shown} of {all} results"),
        _ => format!("{all} results"),
    }
}

fn examples() -> Vec<ToolExample> {
    vec![
        schema::example("今天的新闻有哪些？", json!({"query": "今天的新闻"})),
        schema::example("北京今天天气怎么样？", json!({"query": "今天北京天气预报"})),
        schema::example("详细介绍一下固态电池的最新进展", json!({"query": "固态电池 最新进展", "mode": "deep"})),
        schema::example("Who won the last Formula 1 race?", json!({"query": "latest Formula 1 race winner"})),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_line_counts_results_for_the_model() {
        let lines = [status_line(0, 0), status_line(1, 1), status_line(10, 10), status_line(2, 10), status_line(1, 2)];
        assert_eq!(lines, ["no results", "1 result", "10 results", "2 of 10 results", "1 of 2 results"]);
    }
}
