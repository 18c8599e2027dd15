//! `search_web`: searches the web through Tavily.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use conversation::{ToolExample, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use store::Store;
use tokio::time::Instant;

use crate::refusal::Refusal;
use crate::search::{self, Clock, Found, Mode, Search, SearchConfig, SearchRequest, Told};
use crate::{Tool, ToolContext, ToolError, ToolOutput, arguments, schema};

const DESCRIPTION: &str = "联网搜索工具。当问题涉及新闻、天气、价格、赛事等最新信息，或者涉及你不知道、不确定、\
    可能已经变化的事实时，必须先用它搜索，再根据搜索结果回答。闲聊、翻译、写作和计算不需要搜索。";

/// Searches the web; equal searches share their results, and each caller has limits.
pub struct WebSearch {
    search: Search,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// 搜索词：简短、具体，包含时间、地点等关键信息，不超过 400 个字符
    query: String,
    /// normal：默认，10 条结果；quick：只要 3 条结果；deep：10 条结果和详细摘要，用于复杂的问题
    #[serde(default)]
    mode: Mode,
}

impl WebSearch {
    /// The tool over one search endpoint, with the cache, the limiter and the budgets that all processes share.
    pub fn new(config: SearchConfig, http: transport::Client, store: &Store) -> Self {
        Self { search: Search::new(config, http, store) }
    }
}

#[async_trait]
impl Tool for WebSearch {
    fn spec(&self) -> ToolSpec {
        schema::spec::<Arguments>("search_web", DESCRIPTION, examples())
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let request = request(arguments::read(arguments)?)
            .ok_or_else(|| Refusal::invalid_arguments("`query` must not be blank"))?;
        let end = context.deadline.min(Instant::now() + search::LONGEST);
        let clock = Clock::starting(SystemTime::now(), end);
        match self.search.find(&request, &context.owner, &clock).await {
            Ok(found) => Ok(output(&found)),
            Err(failure) => {
                tracing::warn!(?failure, "a search failed");
                Err(ToolError::Model { failure: failure.shown(), content: search::failed(&failure.reason()) })
            }
        }
    }

    /// A little more than a search takes at most, so that a search ends with a reason of its own.
    fn timeout(&self) -> Duration {
        search::LONGEST + Duration::from_secs(5)
    }

    fn failure_text(&self, reason: &str) -> String {
        search::failed(reason)
    }
}

fn request(arguments: Arguments) -> Option<SearchRequest> {
    let Arguments { query, mode } = arguments;
    SearchRequest::new(&query, mode)
}

fn output(found: &Found) -> ToolOutput {
    let Told { text, sources } = search::told(&found.results);
    let summary = status(sources.len(), found.results.pages.len());
    ToolOutput { content: text, summary, sources, cached: found.cached, credits: found.credits }
}

fn status(shown: usize, all: usize) -> String {
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
    fn the_status_line_says_how_many_results_the_model_got() {
        let lines = [status(0, 0), status(1, 1), status(10, 10), status(2, 10), status(1, 2)];
        assert_eq!(lines, ["no results", "1 result", "10 results", "2 of 10 results", "1 of 2 results"]);
    }
}
