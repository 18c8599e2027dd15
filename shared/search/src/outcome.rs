use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tools::{CitingResult, ToolOutput};

#[derive(Debug, PartialEq)]
pub(crate) struct SearchOutcome<A> {
    pub(crate) answer: A,
    /// Whether an earlier or a concurrent equal request fetched it.
    pub(crate) cached: bool,
    /// Whether an earlier request of the caller got it already; callers cannot see each other's searches.
    pub(crate) own: bool,
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

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CachedAnswer<A> {
    pub(crate) answer: A,
    /// Whether the cheaper form of the request was sent.
    pub(crate) cheap: bool,
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
    /// Returns the result of a call; `cite` makes what is rendered.
    ///
    /// It is known as cached only after an earlier request of the same caller. Another caller's answer is first reported
    /// at its original cost, as if fetched again.
    pub(crate) fn into_output<C: CitingResult + 'static>(
        self,
        cite: impl FnOnce(A, Option<SearchNotice>) -> C,
    ) -> ToolOutput {
        let (cached, credits) = (self.cached && self.own, self.credits + self.others_credits);
        ToolOutput { cached, credits, citing: Some(Arc::new(cite(self.answer, self.notice))), ..ToolOutput::default() }
    }
}
