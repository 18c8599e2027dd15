use std::time::Duration;

use domain::{Language, ToolFailure};
use prompts::{SearchTexts, fill};
use tools::{Tool, ToolCallError, ToolError};

/// Why a search failed, named by the next action.
///
/// It holds no text of the provider's reply or of the query, so that it may be logged and shown unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchFailure {
    /// The caller exceeded the rate limit.
    Limited {
        /// How long to wait.
        retry_after: Duration,
    },
    /// The daily quota is used up.
    OutOfBudget,
    /// No reply before the deadline.
    Timeout,
    /// The provider is too busy.
    Busy,
    /// The provider rejects the query.
    Rejected,
    /// The provider rejects the key: searches pause.
    Refused,
    /// The provider's plan is exhausted: searches pause until the next hour.
    Exhausted,
    /// The budget is spent, or the plan is known to be exhausted: no request is sent.
    Spent,
    /// The provider cannot be reached or is broken.
    Unavailable,
    /// The reply is not a valid answer.
    BadResponse,
    /// The provider cannot read the page.
    Unreadable,
}

impl SearchFailure {
    /// Whether the provider surely charged nothing; it may charge for an interrupted or late reply.
    pub(crate) fn is_free(self) -> bool {
        matches!(self, Self::Busy | Self::Rejected | Self::Refused | Self::Exhausted | Self::Unreadable)
    }

    /// Logs the failure of a call, and returns it for the user and the model.
    pub(crate) fn into_tool_error(self, tool: &dyn Tool, language: Language) -> ToolError {
        tracing::warn!(failure = ?self, "a search or the reading of a page failed");
        let content = tool.failure_text(&self.reason(language), language);
        ToolCallError { failure: self.to_tool_failure(), content }.into()
    }

    pub(crate) fn to_tool_failure(self) -> ToolFailure {
        let (code, message, _) = self.texts(Language::En);
        ToolFailure { code: code.to_owned(), message: self.fill_seconds(message) }
    }

    pub(crate) fn reason(self, language: Language) -> String {
        self.fill_seconds(self.texts(language).2)
    }

    /// The code and the message for the user, and the reason for the model.
    fn texts(self, language: Language) -> (&'static str, &'static str, &'static str) {
        let texts = SearchTexts::of(language);
        match self {
            Self::Limited { .. } => ("rate_limited", "Too many searches. Try again in {seconds} s.", texts.limited),
            Self::OutOfBudget => ("quota_exhausted", "Today's searches are used up.", texts.out_of_budget),
            Self::Timeout => ("timeout", "The search took too long.", texts.timed_out),
            Self::Busy => ("failed", "The search service is busy.", texts.busy),
            Self::Rejected => ("failed", "The search service rejected the query.", texts.rejected),
            Self::Refused => ("failed", "The search service rejected the server's key.", texts.refused),
            Self::Exhausted | Self::Spent => ("failed", "The search service's quota is used up for now.", texts.spent),
            Self::Unavailable => ("failed", "The search service cannot be reached right now.", texts.unavailable),
            Self::BadResponse => {
                ("failed", "The search service sent an answer that could not be read.", texts.bad_response)
            }
            Self::Unreadable => ("failed", "The page cannot be read.", texts.unreadable),
        }
    }

    fn fill_seconds(self, text: &str) -> String {
        let seconds = if let Self::Limited { retry_after } = self { whole_seconds(retry_after) } else { 0 };
        fill(text, &[("seconds", &seconds.to_string())])
    }
}

/// Rounds up to at least 1 s, so that a retry after this time is not too early.
fn whole_seconds(time: Duration) -> u64 {
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).max(1)
}

/// Maximum number of host names in one list.
pub(crate) const MAX_DOMAINS: usize = 10;

/// Why the arguments of a call are not accepted, although they fit the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvalidArgument {
    BlankQuery,
    /// The list of this name is too long.
    TooManyDomains(&'static str),
    /// The list of this name has something that is no host name.
    InvalidDomain(&'static str),
    /// The address is not one of a public page.
    InvalidUrl,
    /// The address did not appear in the conversation.
    UnknownUrl,
    /// The address contains personal data.
    PersonalUrl,
}

impl InvalidArgument {
    /// The failure; the model reads what is accepted.
    pub(crate) fn to_call_error(self, language: Language) -> ToolCallError {
        let texts = SearchTexts::of(language);
        let reason = match self {
            Self::BlankQuery => texts.blank_query.to_owned(),
            Self::TooManyDomains(field) => {
                fill(texts.too_many_domains, &[("field", field), ("count", &MAX_DOMAINS.to_string())])
            }
            Self::InvalidDomain(field) => fill(texts.invalid_domain, &[("field", field)]),
            Self::InvalidUrl => texts.invalid_url.to_owned(),
            Self::UnknownUrl => texts.unknown_url.to_owned(),
            Self::PersonalUrl => texts.personal_url.to_owned(),
        };
        ToolCallError::invalid_arguments(&reason, language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_limit_failure_rounds_the_retry_time_up() {
        let limited = SearchFailure::Limited { retry_after: Duration::from_millis(4001) };
        assert_eq!(limited.reason(Language::Zh), "搜索过于频繁，请在 5 秒后再试");
        assert_eq!(limited.reason(Language::En), "too many searches; try again in 5 s");
        let failure =
            ToolFailure { code: "rate_limited".into(), message: "Too many searches. Try again in 5 s.".into() };
        assert_eq!(limited.to_tool_failure(), failure);
    }
}
