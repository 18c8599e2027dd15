//! The tools that search the web and read pages, through one search provider.
//!
//! [`Search`] is the provider of a deployment: Tavily or a compatible service, with a cache, a rate limiter and budgets
//! that all instances share.

mod budget;
mod clock;
mod config;
mod daily_quota;
mod failure;
mod filters;
mod invalid_argument;
mod local_limiter;
mod model_text;
mod outcome;
mod page;
mod page_text;
mod probe;
mod provider_request;
mod query;
mod read_url;
mod request;
mod results;
mod search;
mod shortened;
mod tavily;
#[cfg(test)]
mod tests;
mod untrusted;
mod user_text;
mod web_search;

pub use budget::CreditBudget;
pub use config::SearchConfig;
pub use daily_quota::DailySearchLimits;
pub use failure::SearchFailure;
pub use probe::probe;
pub use read_url::ReadUrl;
pub use search::Search;
pub use web_search::WebSearch;
