//! `read_url`: reads a page of the conversation's URL allowlist through the search provider.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, ToolSpec};
use prompts::ToolFile;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tools::{Tool, ToolContext, ToolError, ToolMetadata, ToolOutput, arguments, schema, url_allowlist};
use url::Url;

use crate::clock::Clock;
use crate::failure::InvalidArgument;
use crate::page::{CitedPage, PageRequest, render_failure};
use crate::search::{CALL_TIMEOUT, Search};

/// Reads pages; equal requests share their results and count like searches.
pub struct ReadUrl(pub Arc<Search>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Of a public page that appeared in the conversation.
    url: String,
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
        let found = self.0.find(&PageRequest::new(page.into()), &context.owner, &Clock::of_call(context)).await;
        let outcome = found.map_err(|failure| failure.into_tool_error(self, language))?;
        Ok(outcome.into_output(|page, _| CitedPage { page, language, budget: context.result_budget }))
    }

    fn timeout(&self) -> Duration {
        CALL_TIMEOUT
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
