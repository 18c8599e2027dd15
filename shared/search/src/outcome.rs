use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The outcome of a request.
#[derive(Debug, PartialEq)]
pub(crate) struct SearchOutcome<A> {
    pub(crate) answer: A,
    /// Whether an earlier or a concurrent equal request fetched it.
    pub(crate) cached: bool,
    /// Whether an earlier request of the caller got it already; callers cannot see each other's searches.
    pub(crate) own: bool,
    /// The credits spent by this request.
    pub(crate) credits: u64,
    /// The credits spent by the other caller whose request fetched it; 0 for the caller's own.
    pub(crate) others_credits: u64,
    /// A note for the model.
    pub(crate) notice: Option<SearchNotice>,
}

/// How an answer differs from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchNotice {
    /// The budget is low: the request was replaced by its cheapest form.
    BasicOnly,
    /// The budget is spent: the answer is stale.
    Stale,
    /// The first answer was not relevant: the request was repeated in more depth.
    Deepened,
}

/// A cached answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CachedAnswer<A> {
    pub(crate) answer: A,
    /// Whether the cheaper form of the request was sent.
    pub(crate) cheap: bool,
    /// The credits spent.
    #[serde(default)]
    pub(crate) credits: u64,
    /// A digest of the caller and the request, equal only for equal requests of the same caller.
    #[serde(default)]
    pub(crate) asker: String,
    /// A ULID of the fetch; empty in answers of earlier releases.
    #[serde(default)]
    pub(crate) fetch: String,
}

impl<A: DeserializeOwned> CachedAnswer<A> {
    /// Parses a stored answer; `None` for a text of another form.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

impl<A> CachedAnswer<A> {
    /// Converts a cached answer to the outcome for a caller, which costs nothing.
    pub(crate) fn into_outcome(self, own: bool) -> SearchOutcome<A> {
        let (notice, others_credits) =
            (self.cheap.then_some(SearchNotice::BasicOnly), if own { 0 } else { self.credits });
        SearchOutcome { answer: self.answer, cached: true, own, credits: 0, others_credits, notice }
    }
}

impl<A> SearchOutcome<A> {
    /// Whether the caller may see that it came from the cache: only after an earlier request of the same caller.
    pub(crate) fn is_known_as_cached(&self) -> bool {
        self.cached && self.own
    }

    /// Returns the credits that are reported to the caller. Another caller's answer is first reported at its original cost,
    /// as if fetched again.
    pub(crate) fn reported_credits(&self) -> u64 {
        self.credits + self.others_credits
    }
}
