use serde::Serialize;

use crate::failure::SearchFailure;
use crate::page::PageText;
use crate::provider_request::{ProviderReply, ProviderRequest};
use crate::tavily::wire;

/// A request for the text of a page, with the provider's field names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PageRequest {
    urls: [String; 1],
    extract_depth: &'static str,
    format: &'static str,
    include_usage: bool,
}

impl PageRequest {
    /// Creates the request for the page at `url`.
    pub(crate) fn new(url: String) -> Self {
        Self { urls: [url], extract_depth: "basic", format: "markdown", include_usage: true }
    }
}

impl ProviderRequest for PageRequest {
    type Answer = PageText;

    const FORMAT: &'static str = "tavily-page-1";
    const PATH: &'static str = "/extract";

    /// The provider charges a credit for five pages and never less than one.
    fn list_price(&self) -> u64 {
        1
    }

    fn parse_reply(&self, body: &[u8]) -> Result<ProviderReply<PageText>, SearchFailure> {
        wire::parse_extract(body)
    }
}
