use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::SearchFailure;

/// Something that the provider is asked, in the provider's own words; equal ones have equal answers.
pub(crate) trait Question: Serialize + Sync {
    /// What it answers, also the form in which that is cached.
    type Answer: Serialize + DeserializeOwned + Send;

    /// Part of every key: changes when the cached form or its meaning does.
    const FORMAT: &'static str;

    /// Where it is asked.
    const PATH: &'static str;

    /// What the provider charges when it does not say so itself.
    fn list_price(&self) -> u64;

    /// Reads the body of an answer.
    fn read(&self, body: &[u8]) -> Result<Reply<Self::Answer>, SearchFailure>;

    /// The same question for fewer credits, if it can be had.
    fn cheaper(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// How long an answer is fresh where `ttl` is usual.
    fn freshness(_answer: &Self::Answer, ttl: Duration) -> Duration {
        ttl
    }
}

/// An answer as this product keeps it.
#[derive(Debug, PartialEq)]
pub(crate) struct Reply<A> {
    pub(crate) answer: A,
    /// `None` when the provider does not say.
    pub(crate) credits: Option<u64>,
}
