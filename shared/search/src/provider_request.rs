use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::SearchFailure;

/// A request to the provider, with the provider's field names; equal requests have equal answers.
pub(crate) trait ProviderRequest: Serialize + Sync {
    /// The answer; also the cached form.
    type Answer: Serialize + DeserializeOwned + Send;

    /// Part of every cache key; it changes when the cached form or its meaning changes.
    const FORMAT: &'static str;

    /// The path of the endpoint.
    const PATH: &'static str;

    /// Returns the credits by the price list, for replies that do not state their cost.
    fn list_price(&self) -> u64;

    /// Parses the body of a reply.
    fn parse_reply(&self, body: &[u8]) -> Result<ProviderReply<Self::Answer>, SearchFailure>;

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

/// A parsed reply of the provider.
#[derive(Debug, PartialEq)]
pub(crate) struct ProviderReply<A> {
    pub(crate) answer: A,
    /// `None` if the reply does not state it.
    pub(crate) credits: Option<u64>,
}
