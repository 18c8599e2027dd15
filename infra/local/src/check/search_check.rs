use std::time::Duration;

use search::{SearchConfig, SearchFailure};

use super::finding::{Finding, check_key};

const SUBJECT: &str = "search";

/// Sends one small search.
pub(super) async fn check(config: &SearchConfig, http: platform::transport::Client, limit: Duration) -> Finding {
    if let Some(finding) = check_key(config.api_key.as_ref(), "the secret of TAVILY_API_KEY", limit).await {
        return finding;
    }
    match search::probe(config, http, limit).await {
        Ok(0) => Finding::note(SUBJECT, "no results for an easy query"),
        Ok(1) => Finding::ok(SUBJECT, "1 result"),
        Ok(count) => Finding::ok(SUBJECT, format!("{count} results")),
        Err(failure) => Finding::failed(SUBJECT, describe(failure, config.api_key.is_some(), limit)),
    }
}

fn describe(failure: SearchFailure, has_key: bool, limit: Duration) -> String {
    match failure {
        SearchFailure::Refused if has_key => "the key was rejected: set TAVILY_API_KEY".to_owned(),
        SearchFailure::Refused => "the server requires a key: set TAVILY_API_KEY".to_owned(),
        SearchFailure::Exhausted | SearchFailure::Spent | SearchFailure::OutOfBudget => {
            "the quota of the plan is spent: raise the plan at the provider, wait for its renewal, or set TAVILY_API_KEY \
             to another account's"
                .to_owned()
        }
        SearchFailure::Busy | SearchFailure::Limited { .. } => "too many requests: try again later".to_owned(),
        SearchFailure::Timeout => format!("no answer within {} s: try again later", limit.as_secs()),
        SearchFailure::Unavailable => {
            "the server cannot be reached or is broken: set TAVILY_BASE_URL, or try again later".to_owned()
        }
        SearchFailure::Rejected | SearchFailure::BadResponse | SearchFailure::Unreadable => {
            "the server does not speak Tavily's protocol: set TAVILY_BASE_URL".to_owned()
        }
    }
}
