use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::super::config::IssuerConfig;

/// Allowed difference between the issuer's clock and ours, in seconds.
const LEEWAY_SECONDS: f64 = 60.0;

/// Maximum length of a subject, in characters; the standard allows 255.
const MAX_SUBJECT_CHARS: usize = 256;

/// The claims of a token that are used (RFC 7519, section 4.1). A claim of another type makes the token invalid.
#[derive(Debug, Deserialize)]
pub(super) struct Claims {
    iss: String,
    pub(super) sub: String,
    aud: Audience,
    /// Seconds since 1970, with or without a fraction.
    exp: f64,
    nbf: Option<f64>,
    role: Option<Role>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

/// The role claim. Issuers use the name for other types too; those grant nothing.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Role {
    Name(String),
    Other(IgnoredAny),
}

impl Claims {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        serde_json::from_slice(payload).ok()
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

    pub(super) fn is_administrator(&self) -> bool {
        matches!(&self.role, Some(Role::Name(name)) if name == "admin")
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

    use serde_json::{Value, json};

    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn is_valid_with(change: &Value) -> bool {
        let config = IssuerConfig {
            issuer: "https://id.example/".to_owned(),
            audience: "chat".to_owned(),
            jwks_url: None,
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

    #[test]
    fn f120_only_role_admin_is_administrator() {
        let is_administrator = |role: Value| {
            let claims = json!({"iss": "i", "sub": "s", "aud": "a", "exp": 1, "role": role});
            Claims::parse(claims.to_string().as_bytes()).unwrap().is_administrator()
        };
        assert!(is_administrator(json!("admin")));
        for role in [json!("Admin"), json!("admin "), json!("user"), json!(["admin"]), json!(true), json!(null)] {
            assert!(!is_administrator(role.clone()), "{role}");
        }
    }
}
