use std::time::SystemTime;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tools::OutboundRedactor;
use url::Url;

use crate::failure::{InvalidArgument, MAX_DOMAINS};

/// Longest host name, in bytes.
const MAX_DOMAIN_BYTES: usize = 253;

/// The kind of pages to search; Tavily accepts any kind for general.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Topic {
    General,
    News,
    Finance,
}

/// How old pages may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TimeRange {
    Day,
    Week,
    Month,
    Year,
}

/// Search filters with Tavily's field names, in normalised form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Filters {
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<Topic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_range: Option<TimeRange>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include_domains: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    exclude_domains: Vec<String>,
}

impl Filters {
    /// Creates the filters; the error names the invalid argument and what is accepted.
    pub(crate) fn new(
        topic: Option<Topic>,
        time_range: Option<TimeRange>,
        include: &[String],
        exclude: &[String],
        redactor: &OutboundRedactor,
    ) -> Result<Self, InvalidArgument> {
        Ok(Self {
            topic: topic.filter(|topic| *topic != Topic::General),
            time_range,
            include_domains: parse_domains("include_domains", include, redactor)?,
            exclude_domains: parse_domains("exclude_domains", exclude, redactor)?,
        })
    }

    /// Returns the filters for Amazon's web search, which has no topics; `None` without any.
    pub(crate) fn for_aws(&self, now: SystemTime) -> Option<Value> {
        let mut filters = json!({});
        for (name, domains) in [("include", &self.include_domains), ("exclude", &self.exclude_domains)] {
            if !domains.is_empty() {
                filters["domainFilter"][name] = json!(domains);
            }
        }
        if let Some(range) = self.time_range {
            let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
            let after = Timestamp::from_second(now.saturating_sub(range.seconds()).try_into().ok()?).ok()?;
            filters["publishedDateFilter"] = json!({ "publishedAfter": after.to_string() });
        }
        (filters != json!({})).then_some(filters)
    }
}

impl TimeRange {
    fn seconds(self) -> u64 {
        let days = match self {
            Self::Day => 1,
            Self::Week => 7,
            Self::Month => 30,
            Self::Year => 365,
        };
        days * 24 * 3600
    }
}

/// Normalises, sorts and deduplicates host names; rejects personal data in the normalised form.
fn parse_domains(
    field: &'static str,
    names: &[String],
    redactor: &OutboundRedactor,
) -> Result<Vec<String>, InvalidArgument> {
    if names.len() > MAX_DOMAINS {
        return Err(InvalidArgument::TooManyDomains(field));
    }
    let domains: Option<Vec<String>> =
        names.iter().map(|name| parse_domain(name).filter(|name| !redactor.finds(name))).collect();
    let mut domains = domains.ok_or(InvalidArgument::InvalidDomain(field))?;
    domains.sort();
    domains.dedup();
    Ok(domains)
}

fn parse_domain(name: &str) -> Option<String> {
    let name = name.trim();
    let plain = name.len() <= MAX_DOMAIN_BYTES && !name.contains(['/', ':', '@', '?', '#', '\\', '%', '*']);
    let url = Url::parse(&format!("https://{name}/")).ok().filter(|_| plain)?;
    url.domain().filter(|domain| domain.trim_matches('.').contains('.')).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use platform::settings::Settings;
    use redaction::Redactor;

    fn sent(include: &[&str], exclude: &[&str]) -> Result<Value, InvalidArgument> {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let filters = Filters::new(
            Some(Topic::News),
            Some(TimeRange::Week),
            &names(include),
            &names(exclude),
            &OutboundRedactor::default(),
        )?;
        Ok(serde_json::to_value(filters).unwrap())
    }

    #[test]
    fn filters_are_the_providers_fields() {
        let expected = json!({
            "topic": "news", "time_range": "week", "include_domains": ["a.example", "b.example"],
            "exclude_domains": ["xn--fiq228c.example"],
        });
        assert_eq!(sent(&["b.example", " A.example", "a.example"], &["中文.example"]), Ok(expected));
    }

    #[test]
    fn f073_filters_without_effect_are_not_sent() {
        assert_eq!(
            Filters::new(Some(Topic::General), None, &[], &[], &OutboundRedactor::default()),
            Ok(Filters::default())
        );
        assert_eq!(serde_json::to_value(Filters::default()).unwrap(), json!({}));
    }

    #[test]
    fn personal_data_is_no_host_name() {
        let redactor =
            OutboundRedactor::new(Redactor::from_settings(&Settings::from_pairs([("MASK", "all")])).unwrap());
        for name in ["13800138000.com", "１３８００１３８０００.com", "①③⑧⓪⓪①③⑧⓪⓪⓪.com", "138-0013-8000.example.com"]
        {
            let names = [name.to_owned()];
            assert!(Filters::new(None, None, &names, &[], &redactor).is_err(), "{name}");
            assert!(Filters::new(None, None, &[], &names, &redactor).is_err(), "{name}");
        }
        assert!(Filters::new(None, None, &["138.example.com".to_owned()], &[], &redactor).is_ok());
    }

    #[test]
    fn f051_invalid_host_name_is_rejected() {
        let refused = Err(InvalidArgument::InvalidDomain("include_domains"));
        for name in [
            "",
            " ",
            "localhost",
            "https://a.example",
            "a.example/x",
            "u@a.example",
            "a b.example",
            "*.com",
            "127.0.0.1",
            "[::1]",
            "a.example:443",
            "..",
            &"a".repeat(300),
        ] {
            assert_eq!(sent(&[name], &[]), refused, "{name}");
        }
        let many = vec!["a.example"; 11];
        assert_eq!(sent(&[], &many), Err(InvalidArgument::TooManyDomains("exclude_domains")));
    }
}
