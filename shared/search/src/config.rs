use std::time::Duration;

use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};
use store::RateLimit;
use url::Url;

use crate::budget::CreditBudget;
use crate::daily_quota::{DailySearchLimits, parse_count};

const DEFAULT_BASE_URL: &str = "https://api.tavily.com";
const DEFAULT_TTL_SECONDS: u64 = 3600;
const MAX_TTL_SECONDS: u64 = 30 * 24 * 3600;
const DEFAULT_LIMIT: RateLimit = RateLimit { burst: 10, window: Duration::from_mins(1) };

/// Configuration of the web search.
#[derive(Clone, Debug)]
pub struct SearchConfig {
    /// URL of Tavily or of a compatible service; `http` or `https`, without a trailing slash.
    pub base_url: String,
    /// Absent for an endpoint without authentication.
    pub api_key: Option<Secret>,
    /// How long a result is fresh.
    pub ttl: Duration,
    /// Rate limit of one caller for provider requests; cache hits, waiting for an equal search and repeated calls are
    /// free.
    pub limit: RateLimit,
    /// Daily limits on paid searches.
    pub daily: DailySearchLimits,
    /// Budget for all searches.
    pub budget: CreditBudget,
}

impl SearchConfig {
    /// Reads `TAVILY_API_KEY` (or the reference to the secret), `TAVILY_BASE_URL`, `SEARCH_CACHE_TTL_SECONDS`,
    /// `SEARCH_RATE_LIMIT`, `TAVILY_MONTHLY_CREDITS`, `TAVILY_DAILY_CREDITS` and the daily limits of callers; `None`
    /// without both a key and a URL.
    ///
    /// # Errors
    /// A setting that cannot be parsed, also when search is not configured.
    pub fn from_settings(settings: &Settings) -> Result<Option<Self>, SettingError> {
        let base_url = settings.parse("TAVILY_BASE_URL", "an http or https address without a query", parse_base_url)?;
        let ttl = settings.parse_integer("SEARCH_CACHE_TTL_SECONDS", 0..=MAX_TTL_SECONDS, DEFAULT_TTL_SECONDS)?;
        let limit = settings.parse("SEARCH_RATE_LIMIT", "a limit such as 10/60s", RateLimit::parse)?;
        let daily = DailySearchLimits::from_settings(settings)?;
        let credits = "a whole number from 1 to 1000000000";
        let budget = CreditBudget {
            month: parse_count(settings, "TAVILY_MONTHLY_CREDITS", credits)?,
            day: parse_count(settings, "TAVILY_DAILY_CREDITS", credits)?,
        };
        let api_key = Secret::from_settings(settings, "TAVILY_API_KEY")?;
        if api_key.is_none() && base_url.is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            base_url: base_url.unwrap_or_else(|| DEFAULT_BASE_URL.to_owned()),
            api_key,
            ttl: Duration::from_secs(ttl),
            limit: limit.unwrap_or(DEFAULT_LIMIT),
            daily,
            budget,
        }))
    }
}

fn parse_base_url(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let usable = matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none();
    usable.then(|| url.as_str().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(pairs: &[(&str, &str)]) -> Result<Option<SearchConfig>, String> {
        let settings = Settings::from_pairs(pairs.iter().copied());
        SearchConfig::from_settings(&settings).map_err(|error| error.to_string())
    }

    #[test]
    fn key_alone_is_enough_with_defaults() {
        let config = config(&[("TAVILY_API_KEY", "tvly-canary")]).unwrap().unwrap();
        assert_eq!(config.base_url, "https://api.tavily.com");
        assert!(config.api_key.is_some());
        assert_eq!(config.ttl, Duration::from_hours(1));
        assert_eq!(config.limit, RateLimit { burst: 10, window: Duration::from_mins(1) });
        assert_eq!(config.budget, CreditBudget { month: None, day: None });
        assert!(!format!("{config:?}").contains("canary"));
    }

    #[test]
    fn url_alone_is_enough_for_keyless_endpoint() {
        let pairs = [
            ("TAVILY_BASE_URL", "http://127.0.0.1:3000/demo/search/"),
            ("SEARCH_CACHE_TTL_SECONDS", "5"),
            ("SEARCH_RATE_LIMIT", "2/1s"),
            ("TAVILY_MONTHLY_CREDITS", "1000"),
            ("TAVILY_DAILY_CREDITS", "50"),
        ];
        let config = config(&pairs).unwrap().unwrap();
        assert_eq!(config.base_url, "http://127.0.0.1:3000/demo/search");
        assert!(config.api_key.is_none());
        assert_eq!(config.ttl, Duration::from_secs(5));
        assert_eq!(config.limit, RateLimit { burst: 2, window: Duration::from_secs(1) });
        assert_eq!(config.budget, CreditBudget { month: Some(1000), day: Some(50) });
    }

    #[test]
    fn key_in_a_secret_store_is_accepted() {
        let aws = [("AWS_REGION", "eu-west-1"), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "s")];
        let config = config(&[&aws[..], &[("TAVILY_API_KEY_PARAMETER", "/chat/tavily")]].concat()).unwrap().unwrap();
        assert_eq!((config.base_url.as_str(), config.api_key.is_some()), ("https://api.tavily.com", true));
    }

    #[test]
    fn without_key_and_url_there_is_no_search() {
        assert!(config(&[]).unwrap().is_none());
    }

    #[test]
    fn error_names_the_variable_and_not_its_value() {
        let bad = [
            ("TAVILY_API_KEY", "canary key", "a key of visible ASCII characters"),
            ("TAVILY_BASE_URL", "ftp://canary.example", "an http or https address without a query"),
            ("SEARCH_CACHE_TTL_SECONDS", "canary", "a whole number from 0 to 2592000"),
            ("SEARCH_RATE_LIMIT", "canary", "a limit such as 10/60s"),
            ("TAVILY_MONTHLY_CREDITS", "0", "a whole number from 1 to 1000000000"),
            ("TAVILY_DAILY_CREDITS", "canary", "a whole number from 1 to 1000000000"),
        ];
        for (variable, value, accepted) in bad {
            assert_eq!(config(&[(variable, value)]).unwrap_err(), format!("{variable}: expected {accepted}"));
        }
    }
}
