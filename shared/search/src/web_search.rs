//! `search_web`: searches the web through Tavily.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, Owner, ToolSpec};
use prompts::ToolFile;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tools::{OutboundRedactor, Tool, ToolContext, ToolError, ToolMetadata, ToolOutput, arguments, schema};

use crate::clock::Clock;
use crate::failure::{InvalidArgument, SearchFailure};
use crate::filters::{Filters, TimeRange, Topic};
use crate::model_text::{CitedSearch, render_failure};
use crate::outcome::{SearchNotice, SearchOutcome};
use crate::provider_request::ProviderRequest;
use crate::request::{Mode, SearchRequest};
use crate::results::SearchResults;
use crate::search::{CALL_TIMEOUT, Search};

/// Below this score of the best page, a quick search is repeated in more depth; from 0 to 1.
const MIN_CONFIDENCE: f64 = 0.8;

/// Minimum time left for starting a deeper search.
const MIN_TIME_TO_DEEPEN: Duration = Duration::from_secs(3);

/// Searches the web; equal searches share their results, and each user has a rate limit.
pub struct WebSearch(pub Arc<Search>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Shortened to 400 characters.
    query: String,
    /// How many results there are, and how detailed the summary is.
    #[serde(default)]
    mode: Mode,
    /// The kind of pages; any kind if omitted.
    topic: Option<Topic>,
    /// How old pages may be; any age if omitted.
    time_range: Option<TimeRange>,
    /// If not empty, the only sites to search: at most 10 host names.
    #[serde(default)]
    include_domains: Vec<String>,
    /// Sites to leave out: at most 10 host names.
    #[serde(default)]
    exclude_domains: Vec<String>,
}

impl WebSearch {
    /// Searches, and repeats a quick search at most once in more depth if nothing relevant was found. The time, the
    /// rate limit and the budget must allow it. The other modes are never repeated.
    async fn search_with_deepening(
        &self,
        request: &SearchRequest,
        owner: &Owner,
        clock: &Clock,
    ) -> Result<SearchOutcome<SearchResults>, SearchFailure> {
        let first = self.0.find(request, owner, clock).await?;
        let enough = first.answer.confidence() >= MIN_CONFIDENCE || first.notice.is_some();
        let Some(deeper) = request.deeper_request().filter(|_| !enough && clock.remaining() >= MIN_TIME_TO_DEEPEN)
        else {
            return Ok(first);
        };
        if !self.0.has_ample_credits(clock).await {
            return Ok(first);
        }
        Ok(match self.0.find(&deeper, owner, clock).await {
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
    fn spec(&self, language: Language) -> ToolSpec {
        schema::localised_spec::<Arguments>(&ToolFile::SEARCH_WEB, language)
    }

    fn metadata(&self) -> ToolMetadata {
        ToolMetadata::built_in("web")
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let language = context.language;
        let arguments: Arguments = arguments::parse(arguments, language)?;
        let request = build_request(arguments, &context.redactor).map_err(|invalid| invalid.to_call_error(language))?;
        let found = self.search_with_deepening(&request, &context.owner, &Clock::of_call(context)).await;
        let outcome = found.map_err(|failure| failure.into_tool_error(self, language))?;
        let budget = context.result_budget;
        Ok(outcome.into_output(|results, notice| CitedSearch { results, notice, language, budget }))
    }

    fn dedup_key(&self, arguments: &Value) -> Value {
        parse_request(arguments).map_or_else(|| arguments.clone(), |request| request.dedup_key())
    }

    fn estimated_credits(&self, arguments: &Value) -> u64 {
        parse_request(arguments).map_or(0, |request| request.list_price())
    }

    fn timeout(&self) -> Duration {
        CALL_TIMEOUT
    }

    fn failure_text(&self, reason: &str, language: Language) -> String {
        render_failure(reason, language)
    }
}

fn parse_request(arguments: &Value) -> Option<SearchRequest> {
    build_request(arguments::parse(arguments.clone(), Language::default()).ok()?, &OutboundRedactor::default()).ok()
}

fn build_request(arguments: Arguments, redactor: &OutboundRedactor) -> Result<SearchRequest, InvalidArgument> {
    let Arguments { query, mode, topic, time_range, include_domains, exclude_domains } = arguments;
    let filters = Filters::new(topic, time_range, &include_domains, &exclude_domains, redactor)?;
    SearchRequest::new(&query, mode, filters, redactor).ok_or(InvalidArgument::BlankQuery)
}
