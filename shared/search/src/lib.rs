//! The tools that search the web and read pages, through search providers.
//!
//! [`Search`] has the providers of a deployment, Tavily or a compatible service and Amazon's web search, with a cache, a
//! rate limiter and budgets that all instances share.

mod aws_search;
mod budget;
mod clock;
mod config;
mod daily_quota;
mod failure;
mod filters;
mod local_limiter;
mod model_text;
mod outcome;
mod page;
mod probe;
mod provider;
mod provider_request;
mod read_url;
mod request;
mod results;
mod search;
mod shortened;
mod tavily_wire;
#[cfg(test)]
mod tests;
mod untrusted;
mod user_text;
mod web_search;

pub use budget::CreditBudget;
pub use config::{ProviderConfig, SearchConfig};
pub use daily_quota::DailySearchLimits;
pub use failure::SearchFailure;
pub use probe::probe;
pub use read_url::ReadUrl;
pub use search::Search;
pub use web_search::WebSearch;
