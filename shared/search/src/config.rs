use std::sync::Arc;
use std::time::Duration;

use platform::aws::Service;
use platform::secrets::Secret;
use platform::settings::{SettingError, Settings, parse_base_url};
use store::RateLimit;

use crate::aws_search;
use crate::budget::CreditBudget;
use crate::daily_quota::{DailySearchLimits, parse_count};

const DEFAULT_BASE_URL: &str = "https://api.tavily.com";
const DEFAULT_TTL_SECONDS: u64 = 3600;
const MAX_TTL_SECONDS: u64 = 30 * 24 * 3600;
const DEFAULT_LIMIT: RateLimit = RateLimit { burst: 10, window: Duration::from_mins(1) };

/// Configuration of the web search.
#[derive(Clone, Debug)]
pub struct SearchConfig {
    /// In the order of failover; at least one of them searches.
    pub providers: Vec<ProviderConfig>,
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

/// Where a provider is, and how its requests are authorised.
#[derive(Clone, Debug)]
pub enum ProviderConfig {
    /// Tavily or a compatible service.
    Tavily {
        /// `http` or `https`, without a trailing slash.
        base_url: String,
        /// Absent for an endpoint without authentication.
        api_key: Option<Secret>,
        /// Whether it reads pages, and others search.
        pages_only: bool,
    },
    /// The web search of Amazon Bedrock `AgentCore`, which reads no pages.
    Aws(Arc<Service>),
}

impl ProviderConfig {
    /// The name for operators.
    pub fn name(&self) -> &'static str {
        if self.is_aws() { "AWS" } else { "Tavily" }
    }

    /// Whether it is Amazon's.
    pub fn is_aws(&self) -> bool {
        matches!(self, Self::Aws(_))
    }

    /// The key, if it has one of its own.
    pub fn api_key(&self) -> Option<&Secret> {
        match self {
            Self::Tavily { api_key, .. } => api_key.as_ref(),
            Self::Aws(_) => None,
        }
    }

    /// Whether it searches.
    pub fn searches(&self) -> bool {
        !matches!(self, Self::Tavily { pages_only: true, .. })
    }

    /// The URL of the endpoint, and the setting that overrides it.
    pub fn base_url(&self) -> (&str, &'static str) {
        match self {
            Self::Tavily { base_url, .. } => (base_url, "TAVILY_BASE_URL"),
            Self::Aws(service) => (service.endpoint(), "AWS_SEARCH_BASE_URL"),
        }
    }
}

impl SearchConfig {
    /// Reads `SEARCH_PROVIDER`, `TAVILY_API_KEY` (or the reference to the secret), `TAVILY_BASE_URL`, `SEARCH_REGION`,
    /// `AWS_SEARCH_BASE_URL`, `SEARCH_CACHE_TTL_SECONDS`, `SEARCH_RATE_LIMIT`, `TAVILY_MONTHLY_CREDITS`,
    /// `TAVILY_DAILY_CREDITS` and the daily limits of callers; `None` without a provider.
    ///
    /// # Errors
    /// A setting that cannot be parsed, also when search is not configured.
    pub fn from_settings(settings: &Settings) -> Result<Option<Self>, SettingError> {
        let ttl = settings.parse_integer("SEARCH_CACHE_TTL_SECONDS", 0..=MAX_TTL_SECONDS, DEFAULT_TTL_SECONDS)?;
        let limit = settings.parse("SEARCH_RATE_LIMIT", "a limit such as 10/60s", RateLimit::parse)?;
        let daily = DailySearchLimits::from_settings(settings)?;
        let credits = "a whole number from 1 to 1000000000";
        let budget = CreditBudget {
            month: parse_count(settings, "TAVILY_MONTHLY_CREDITS", credits)?,
            day: parse_count(settings, "TAVILY_DAILY_CREDITS", credits)?,
        };
        let providers = providers(settings)?;
        if providers.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            providers,
            ttl: Duration::from_secs(ttl),
            limit: limit.unwrap_or(DEFAULT_LIMIT),
            daily,
            budget,
        }))
    }

    /// Whether a provider reads pages.
    pub fn reads_pages(&self) -> bool {
        self.providers.iter().any(|provider| !provider.is_aws())
    }

    /// The URL of the endpoint under which results are cached and credits are counted, whichever provider was used:
    /// Tavily's if there is one, so that both outlast a change of `SEARCH_PROVIDER`.
    pub(crate) fn main_base_url(&self) -> &str {
        self.providers.iter().min_by_key(|provider| provider.is_aws()).map_or("", |provider| provider.base_url().0)
    }
}

fn providers(settings: &Settings) -> Result<Vec<ProviderConfig>, SettingError> {
    let accepted = "tavily, aws, or both with a comma between them";
    let order = settings.parse("SEARCH_PROVIDER", accepted, parse_order)?;
    let region = settings.parse("SEARCH_REGION", "the name of an AWS region, such as us-east-1", parse_region)?;
    let tavily = tavily(settings, order.as_deref() == Some("aws"))?;
    let Some(order) = order else { return Ok(tavily.into_iter().collect()) };
    let mut providers = Vec::new();
    for name in order.split(',') {
        providers.push(if name == "aws" {
            ProviderConfig::Aws(Arc::new(aws(settings, region.as_deref())?))
        } else {
            let missing = || SettingError::new("TAVILY_API_KEY", "the key of the search that SEARCH_PROVIDER names");
            tavily.clone().ok_or_else(missing)?
        });
    }
    providers.extend(tavily.filter(|tavily| !tavily.searches()));
    Ok(providers)
}

/// The names of providers with single commas between them.
fn parse_order(text: &str) -> Option<String> {
    let order = text.replace(' ', "");
    ["tavily", "aws", "tavily,aws", "aws,tavily"].contains(&&*order).then_some(order)
}

fn parse_region(text: &str) -> Option<String> {
    let is_name = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    is_name.then(|| text.to_owned())
}

/// Tavily, if it has a key or a URL.
fn tavily(settings: &Settings, pages_only: bool) -> Result<Option<ProviderConfig>, SettingError> {
    let base_url = settings.parse("TAVILY_BASE_URL", "an http or https address without a query", parse_base_url)?;
    let api_key = Secret::from_settings(settings, "TAVILY_API_KEY")?;
    if api_key.is_none() && base_url.is_none() {
        return Ok(None);
    }
    let base_url = base_url.unwrap_or_else(|| DEFAULT_BASE_URL.to_owned());
    Ok(Some(ProviderConfig::Tavily { base_url, api_key, pages_only }))
}

fn aws(settings: &Settings, region: Option<&str>) -> Result<Service, SettingError> {
    let mut settings = settings.clone();
    if let Some(region) = region {
        settings.set("AWS_REGION", region);
    }
    Service::from_settings(&settings, aws_search::SERVICE, "AWS_SEARCH_BASE_URL")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(pairs: &[(&str, &str)]) -> Result<Option<SearchConfig>, String> {
        let settings = Settings::from_pairs(pairs.iter().copied());
        SearchConfig::from_settings(&settings).map_err(|error| error.to_string())
    }

    /// The names, URLs and properties of the providers.
    fn providers(pairs: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let describe = |provider: &ProviderConfig| match provider {
            ProviderConfig::Tavily { base_url, api_key, pages_only } => {
                format!("{base_url} key={} pages={pages_only}", api_key.is_some())
            }
            ProviderConfig::Aws(service) => service.endpoint().to_owned(),
        };
        Ok(config(pairs)?.map(|config| config.providers.iter().map(describe).collect()).unwrap_or_default())
    }

    const AWS: [(&str, &str); 3] =
        [("AWS_REGION", "eu-west-1"), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "s")];
    const TAVILY_KEY: (&str, &str) = ("TAVILY_API_KEY", "tvly-canary");
    const TAVILY: &str = "https://api.tavily.com key=true pages=false";
    const AGENT_CORE: &str = "https://bedrock-agentcore.eu-west-1.amazonaws.com";

    #[test]
    fn providers_are_in_the_order_of_failover() {
        let ordered = |order: &str| providers(&[&AWS[..], &[TAVILY_KEY, ("SEARCH_PROVIDER", order)]].concat()).unwrap();
        assert_eq!(ordered(""), [TAVILY]);
        assert_eq!(ordered("tavily"), [TAVILY]);
        assert_eq!(ordered("tavily, aws"), [TAVILY, AGENT_CORE]);
        assert_eq!(ordered("aws,tavily"), [AGENT_CORE, TAVILY]);
        assert_eq!(ordered("aws"), [AGENT_CORE, "https://api.tavily.com key=true pages=true"]);
    }

    #[test]
    fn aws_alone_needs_only_region_and_credentials() {
        let aws = [&AWS[..], &[("SEARCH_PROVIDER", "aws")]].concat();
        assert_eq!(providers(&aws).unwrap(), [AGENT_CORE]);
        let config = config(&aws).unwrap().unwrap();
        assert_eq!((config.reads_pages(), config.main_base_url()), (false, AGENT_CORE));
        let other = [&aws[..], &[("SEARCH_REGION", "us-east-1")]].concat();
        assert_eq!(providers(&other).unwrap(), ["https://bedrock-agentcore.us-east-1.amazonaws.com"]);
        let fake = [("SEARCH_PROVIDER", "aws"), ("AWS_SEARCH_BASE_URL", "http://127.0.0.1:9/")];
        assert_eq!(providers(&fake).unwrap(), ["http://127.0.0.1:9"]);
        assert_eq!(providers(&AWS).unwrap(), Vec::<String>::new(), "nothing is searched unless it is wanted");
    }

    #[test]
    fn missing_part_of_a_provider_is_named() {
        let error = |pairs: &[(&str, &str)]| providers(pairs).unwrap_err().split(':').next().unwrap().to_owned();
        for order in ["tavily", "tavily,aws"] {
            assert_eq!(error(&[&AWS[..], &[("SEARCH_PROVIDER", order)]].concat()), "TAVILY_API_KEY");
        }
        assert_eq!(error(&[TAVILY_KEY, ("SEARCH_PROVIDER", "tavily,aws")]), "AWS_REGION");
        assert_eq!(error(&[("SEARCH_PROVIDER", "aws"), ("SEARCH_REGION", "us-east-1")]), "AWS_ACCESS_KEY_ID");
    }

    #[test]
    fn key_alone_is_enough_with_defaults() {
        assert_eq!(providers(&[TAVILY_KEY]).unwrap(), [TAVILY]);
        let config = config(&[TAVILY_KEY]).unwrap().unwrap();
        assert!(config.reads_pages());
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
        assert_eq!(providers(&pairs).unwrap(), ["http://127.0.0.1:3000/demo/search key=false pages=false"]);
        let config = config(&pairs).unwrap().unwrap();
        assert_eq!(config.ttl, Duration::from_secs(5));
        assert_eq!(config.limit, RateLimit { burst: 2, window: Duration::from_secs(1) });
        assert_eq!(config.budget, CreditBudget { month: Some(1000), day: Some(50) });
    }

    #[test]
    fn key_in_a_secret_store_is_accepted() {
        let pairs = [&AWS[..], &[("TAVILY_API_KEY_PARAMETER", "/chat/tavily")]].concat();
        assert_eq!(providers(&pairs).unwrap(), [TAVILY]);
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
            ("SEARCH_PROVIDER", "canary", "tavily, aws, or both with a comma between them"),
            ("SEARCH_PROVIDER", "aws,aws", "tavily, aws, or both with a comma between them"),
            ("SEARCH_REGION", "canary.example/", "the name of an AWS region, such as us-east-1"),
            ("SEARCH_CACHE_TTL_SECONDS", "canary", "a whole number from 0 to 2592000"),
            ("SEARCH_RATE_LIMIT", "canary", "a limit such as 10/60s"),
            ("TAVILY_MONTHLY_CREDITS", "0", "a whole number from 1 to 1000000000"),
            ("TAVILY_DAILY_CREDITS", "canary", "a whole number from 1 to 1000000000"),
        ];
        for (variable, value, accepted) in bad {
            assert_eq!(config(&[(variable, value)]).unwrap_err(), format!("{variable}: expected {accepted}"));
        }
        let address = [("SEARCH_PROVIDER", "aws"), ("AWS_SEARCH_BASE_URL", "canary")];
        assert_eq!(config(&address).unwrap_err(), "AWS_SEARCH_BASE_URL: expected an http or https URL");
    }
}
