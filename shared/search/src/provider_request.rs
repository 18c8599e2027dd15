use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::SearchFailure;

/// A request to a provider, with Tavily's field names; equal requests have equal answers.
pub(crate) trait ProviderRequest: Serialize + Sync {
    /// The answer; also the cached form.
    type Answer: Serialize + DeserializeOwned + Send;

    /// Part of every cache key; it changes when the cached form or its meaning changes.
    const FORMAT: &'static str;

    /// The path of Tavily's endpoint.
    const PATH: &'static str;

    /// Whether it is a search, which Amazon answers too.
    const IS_SEARCH: bool;

    /// Returns the credits by the price list, for replies that do not state their cost.
    fn list_price(&self) -> u64;

    fn parse_reply(&self, body: &[u8]) -> Result<ProviderReply<Self::Answer>, SearchFailure>;

    /// Encodes the body for Amazon's web search; `None` if it cannot be sent there.
    fn aws_body(&self, _now: SystemTime) -> Option<Vec<u8>> {
        None
    }

    fn parse_aws_reply(&self, _body: &[u8]) -> Result<ProviderReply<Self::Answer>, SearchFailure> {
        Err(SearchFailure::BadResponse)
    }

    /// Returns an equivalent request for fewer credits, if there is one.
    fn cheaper_form(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Returns how long an answer is fresh; `ttl` is the usual time.
    fn freshness(_answer: &Self::Answer, ttl: Duration) -> Duration {
        ttl
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct ProviderReply<A> {
    pub(crate) answer: A,
    /// `None` if the reply does not state it.
    pub(crate) credits: Option<u64>,
}
