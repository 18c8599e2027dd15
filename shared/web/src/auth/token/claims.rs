use std::time::{SystemTime, UNIX_EPOCH};

use domain::{Groups, Membership, Owner};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::Caller;
use super::super::caller::MAX_NAME_CHARS;
use super::super::config::IssuerConfig;

/// Allowed difference between the issuer's clock and ours, in seconds.
const LEEWAY_SECONDS: f64 = 60.0;

/// Maximum length of a subject, in characters; the standard allows 255.
const MAX_SUBJECT_CHARS: usize = 256;

/// The claims of a token. A registered one (RFC 7519, section 4.1) of another type makes the token invalid.
#[derive(Debug, Deserialize)]
pub(super) struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    /// Seconds since 1970, with or without a fraction.
    exp: f64,
    nbf: Option<f64>,
    /// All of them, of any type.
    #[serde(skip)]
    all: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

impl Claims {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let claims: Self = serde_json::from_slice(payload).ok()?;
        Some(Self { all: serde_json::from_slice(payload).ok()?, ..claims })
    }

    /// Whether the token is from this issuer, for this audience, has a subject, and is valid now.
    pub(super) fn are_valid(&self, config: &IssuerConfig, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        self.iss == config.issuer
            && self.aud.names(&config.audience)
            && !self.sub.trim().is_empty()
            && self.sub.chars().nth(MAX_SUBJECT_CHARS).is_none()
            && now < self.exp + LEEWAY_SECONDS
            && self.nbf.is_none_or(|begin| begin <= now + LEEWAY_SECONDS)
    }

    /// The caller, and whether the token names groups that are ignored: invalid names, too many, or an overage.
    pub(super) fn caller(&self, config: &IssuerConfig) -> (Caller, bool) {
        let names = &config.claims;
        let is_administrator = self.texts(&names.admin.0).any(|text| text == names.admin.1);
        let is_name = |text: &&str| {
            !text.is_empty() && text.chars().nth(MAX_NAME_CHARS).is_none() && !text.contains(char::is_control)
        };
        let name = self.texts(&names.name).map(str::trim).find(is_name).map(str::to_owned);
        let claim = names.groups.as_deref().unwrap_or_default();
        let valid = self.texts(claim).filter_map(|name| Groups::new([name.to_owned()])?.names().first().cloned());
        let valid: Vec<String> = valid.take(Groups::MAX_GROUPS).collect();
        // Entra names more than 200 groups in `_claim_names` alone, with the address of a list.
        // https://github.com/MicrosoftDocs/azure-docs/commit/d8f23739928b2dd832fd89067b1e74038585d4d6, 2026-11-26.
        let has_overage = self.all.get("_claim_names").is_some_and(|names| names.get(claim).is_some());
        let is_incomplete = has_overage || valid.len() < self.values(claim).len();
        let membership = Membership { groups: Groups::new(valid).unwrap_or_default(), is_administrator };
        let owner = Owner::subject(&config.issuer, &self.sub);
        (Caller { owner, membership, name, citation_links: false }, is_incomplete)
    }

    /// The elements of a claim that is an array, else the claim alone.
    fn values(&self, claim: &str) -> &[Value] {
        match self.all.get(claim) {
            Some(Value::Array(values)) => values,
            value => value.map_or(&[], std::slice::from_ref),
        }
    }

    fn texts(&self, claim: &str) -> impl Iterator<Item = &str> {
        self.values(claim).iter().filter_map(Value::as_str)
    }
}

impl Audience {
    fn names(&self, audience: &str) -> bool {
        match self {
            Self::One(name) => name == audience,
            Self::Many(names) => names.iter().any(|name| name == audience),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use platform::settings::Settings;
    use serde_json::json;

    use super::super::super::config::ClaimNames;
    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn is_valid_with(change: &Value) -> bool {
        let config = IssuerConfig {
            issuer: "https://id.example/".to_owned(),
            audience: "chat".to_owned(),
            jwks_url: None,
            claims: ClaimNames::from_settings(&Settings::default()).unwrap(),
            sign_in: None,
        };
        let mut claims = json!({"iss": "https://id.example/", "sub": "ada", "aud": "chat", "exp": NOW + 1});
        for (name, value) in change.as_object().unwrap() {
            if value == "ABSENT" {
                claims.as_object_mut().unwrap().remove(name);
            } else {
                claims[name] = value.clone();
            }
        }
        let now = UNIX_EPOCH + Duration::from_secs(NOW);
        Claims::parse(claims.to_string().as_bytes()).is_some_and(|claims| claims.are_valid(&config, now))
    }

    #[test]
    fn claims_valid_for_audience_and_time() {
        let good = [
            json!({}),
            json!({"aud": ["other", "chat"]}),
            json!({"exp": NOW - 59}),
            json!({"exp": 1.8e9 + 0.5}),
            json!({"nbf": NOW + 60}),
            json!({"nbf": null}),
            json!({"iat": "never"}),
            json!({"role": {"chat": ["admin"]}}),
        ];
        for change in good {
            assert!(is_valid_with(&change), "{change}");
        }
    }

    #[test]
    fn f114_mismatched_or_mistyped_claims_are_invalid() {
        let bad = [
            json!({"iss": "https://id.example"}),
            json!({"iss": "https://evil.example/"}),
            json!({"iss": ["https://id.example/"]}),
            json!({"iss": "ABSENT"}),
            json!({"sub": "ABSENT"}),
            json!({"sub": " "}),
            json!({"sub": 7}),
            json!({"sub": "x".repeat(257)}),
            json!({"aud": "ABSENT"}),
            json!({"aud": "Chat"}),
            json!({"aud": []}),
            json!({"aud": ["other"]}),
            json!({"aud": {"chat": true}}),
            json!({"exp": "ABSENT"}),
            json!({"exp": null}),
            json!({"exp": NOW - 60}),
            json!({"exp": -1}),
            json!({"exp": (NOW + 1).to_string()}),
            json!({"nbf": NOW + 61}),
            json!({"nbf": (NOW - 1).to_string()}),
            json!({"nbf": true}),
        ];
        for change in bad {
            assert!(!is_valid_with(&change), "{change}");
        }
    }

    #[test]
    fn f114_duplicate_claims_are_rejected() {
        let twice = r#"{"iss":"https://id.example/","sub":"ada","sub":"bob","aud":"chat","exp":9e9}"#;
        assert!(Claims::parse(twice.as_bytes()).is_none());
        assert!(Claims::parse(b"[]").is_none());
        assert!(Claims::parse(b"\xff").is_none());
    }
}
