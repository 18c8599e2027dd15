//! `read_url`: reads a page of the conversation's URL allowlist through the search provider.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use domain::{Language, ToolSpec};
use prompts::ToolFile;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;
use tools::{Tool, ToolContext, ToolError, ToolMetadata, ToolOutput, arguments, schema, url_allowlist};
use url::Url;

use crate::cited_page::CitedPage;
use crate::clock::Clock;
use crate::invalid_argument::InvalidArgument;
use crate::page::render_failure;
use crate::page_request::PageRequest;
use crate::search::{MAX_DURATION, Search};

/// Reads pages; equal requests share their results and count like searches.
pub struct ReadUrl {
    search: Arc<Search>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Of a public page that appeared in the conversation.
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
    fn spec(&self, language: Language) -> ToolSpec {
        schema::localised_spec::<Arguments>(&ToolFile::READ_URL, language)
    }

    fn metadata(&self) -> ToolMetadata {
        ToolMetadata::built_in("web")
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let language = context.language;
        let Arguments { url } = arguments::parse(arguments, language)?;
        let page = find_page(&url, context).map_err(|invalid| invalid.to_call_error(language))?;
        let end = context.deadline.min(Instant::now() + MAX_DURATION);
        let clock = Clock::new(SystemTime::now(), end);
        match self.search.find(&PageRequest::new(page.into()), &context.owner, &clock).await {
            Ok(outcome) => {
                let (cached, credits) = (outcome.is_known_as_cached(), outcome.reported_credits());
                let citing = CitedPage { page: outcome.answer, language, budget: context.result_budget };
                Ok(ToolOutput { cached, credits, citing: Some(Arc::new(citing)), ..ToolOutput::default() })
            }
            Err(failure) => {
                tracing::warn!(?failure, "a page could not be read");
                let text = self.failure_text(&failure.reason(language), language);
                Err(ToolError::Model { failure: failure.to_tool_failure(), content: text })
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

    fn failure_text(&self, reason: &str, language: Language) -> String {
        render_failure(reason, language)
    }
}

/// The page at an address, as it first appeared in the conversation.
fn find_page(address: &str, context: &ToolContext) -> Result<Url, InvalidArgument> {
    let page = url_allowlist::parse_page(address).ok_or(InvalidArgument::InvalidUrl)?;
    let page = context.allowed_urls.first_spelling(&page).ok_or(InvalidArgument::UnknownUrl)?;
    if context.redactor.is_personal(&page) { Err(InvalidArgument::PersonalUrl) } else { Ok(page) }
}
