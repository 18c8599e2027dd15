//! Where a deployed function may send keys and users' text: to public hosts, over TLS.
//!
//! Tools that administrators define have a stricter rule, which no setting relaxes on Lambda.

use articles::EmbeddingsConfig;
use egress::Policy;
use llm::Models;
use platform::settings::{SettingError, Settings};
use search::SearchConfig;
use turns::Traces;
use web::Platform;

const ACCEPTED: &str = "an https:// address of a public host, or ALLOW_PRIVATE_UPSTREAMS=yes with it";

/// Rejects base URLs that are `http://` or private, on Lambda and unless the operator allows them.
pub(crate) fn check(
    settings: &Settings,
    platform: Platform,
    models: &Models,
    search: Option<&SearchConfig>,
    embeddings: Option<&EmbeddingsConfig>,
    traces: &Traces,
) -> Result<(), SettingError> {
    let allowed = settings.is_yes("ALLOW_PRIVATE_UPSTREAMS")?;
    if allowed || platform == Platform::Local || settings.var("AWS_SAM_LOCAL").is_some() {
        return Ok(());
    }
    for client in models.iter().map(llm::ModelClient::config) {
        if !is_public(&client.base_url) {
            return Err(SettingError::new(variable_of(&client.name), ACCEPTED));
        }
    }
    let search = search.iter().flat_map(|search| &search.providers).map(search::ProviderConfig::base_url);
    let embeddings = embeddings.map(|embeddings| (embeddings.base_url.as_str(), "EMBEDDINGS_BASE_URL"));
    let private = search.chain(embeddings).chain(traces.endpoint()).find(|(base_url, _)| !is_public(base_url));
    private.map_or(Ok(()), |(_, variable)| Err(SettingError::new(variable, ACCEPTED)))
}

/// Where tools that administrators define may send requests: to public hosts over TLS. On a developer's machine
/// `ALLOW_PRIVATE_TOOLS` adds `http` and loopback addresses.
pub(crate) fn tool_policy(settings: &Settings, platform: Platform) -> Result<Policy, SettingError> {
    let name = "ALLOW_PRIVATE_TOOLS";
    match settings.is_yes(name)? {
        false => Ok(Policy::public()),
        true if platform == Platform::Local => Ok(Policy::public().with_http().with_loopback()),
        true => Err(SettingError::new(name, "no, or to be unset, on Lambda: tools may send to public hosts only")),
    }
}

fn variable_of(model: &str) -> &'static str {
    match model {
        "volcano" => "ARK_BASE_URL",
        "openai" => "OPENAI_BASE_URL",
        "local" => "OLLAMA_API_URL",
        "anthropic" => "ANTHROPIC_BASE_URL",
        "gemini" => "GEMINI_BASE_URL",
        _ => "MODELS",
    }
}

/// Whether a base URL is `https` and names a public host. Operators may choose any port; custom tools may not.
fn is_public(base_url: &str) -> bool {
    Policy::public().with_any_port().parse(base_url).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected_variable(pairs: &[(&str, &str)], platform: Platform) -> Option<String> {
        let settings = Settings::from_pairs(pairs.iter().copied());
        let models = Models::from_settings(&settings, platform::transport::build_client().unwrap()).unwrap();
        let search = SearchConfig::from_settings(&settings).unwrap();
        let embeddings = EmbeddingsConfig::from_settings(&settings).unwrap();
        let http = platform::transport::build_client().unwrap();
        let traces = Traces::from_settings(&settings, &http, false).unwrap();
        check(&settings, platform, &models, search.as_ref(), embeddings.as_ref(), &traces)
            .err()
            .map(|error| error.variable)
    }

    #[test]
    fn f018_lambda_rejects_private_and_unencrypted_upstreams() {
        let bad = [
            "http://api.example.com",
            "https://127.0.0.1/v1",
            "https://10.1.2.3",
            "https://172.16.0.1",
            "https://192.168.1.1",
            "https://169.254.169.254",
            "https://100.64.0.1",
            "https://0.0.0.0",
            "https://[::1]",
            "https://[fd00::1]",
            "https://[fe80::1]",
            "https://[::ffff:10.0.0.1]",
            "https://[2002:a00:1::]",
            "https://[2001:db8::1]",
            "https://192.0.2.1",
            "https://2130706433",
            "https://0x7f.1:8443",
            "https://ollama",
            "https://localhost",
            "https://model.internal.",
            "https://box.local",
        ];
        for url in bad {
            let pairs = [("OPENAI_BASE_URL", url), ("OPENAI_MODEL", "m")];
            assert_eq!(rejected_variable(&pairs, Platform::Lambda).as_deref(), Some("OPENAI_BASE_URL"), "{url}");
            assert_eq!(rejected_variable(&pairs, Platform::Local), None, "{url}");
            assert_eq!(rejected_variable(&[&pairs[..], &[("AWS_SAM_LOCAL", "true")]].concat(), Platform::Lambda), None);
            assert_eq!(
                rejected_variable(&[&pairs[..], &[("ALLOW_PRIVATE_UPSTREAMS", "yes")]].concat(), Platform::Lambda),
                None
            );
        }
    }

    #[test]
    fn f018_no_setting_allows_private_tool_hosts_on_lambda() {
        let policy_of = |pairs: &[(&str, &str)], platform| {
            tool_policy(&Settings::from_pairs(pairs.iter().copied()), platform).map_err(|error| error.to_string())
        };
        let private = ("ALLOW_PRIVATE_TOOLS", "yes");
        let rejected =
            "ALLOW_PRIVATE_TOOLS: expected no, or to be unset, on Lambda: tools may send to public hosts only";
        for pairs in [&[private][..], &[private, ("AWS_SAM_LOCAL", "true")]] {
            assert_eq!(policy_of(pairs, Platform::Lambda), Err(rejected.to_owned()));
            assert_eq!(policy_of(pairs, Platform::Local), Ok(Policy::public().with_http().with_loopback()));
        }
        for pairs in [&[][..], &[("ALLOW_PRIVATE_UPSTREAMS", "yes")], &[("ALLOW_PRIVATE_TOOLS", "no")]] {
            assert_eq!(policy_of(pairs, Platform::Lambda), Ok(Policy::public()));
            assert_eq!(policy_of(pairs, Platform::Local), Ok(Policy::public()));
        }
        assert!(policy_of(&[("ALLOW_PRIVATE_TOOLS", "maybe")], Platform::Local).is_err());
    }

    #[test]
    fn f018_lambda_accepts_public_upstreams_and_checks_others() {
        for url in [
            "https://api.example.com/v1",
            "https://8.8.8.8",
            "https://[2606:4700::1111]/v1",
            "https://a.example.com:8443",
        ] {
            assert_eq!(
                rejected_variable(&[("OPENAI_BASE_URL", url), ("OPENAI_MODEL", "m")], Platform::Lambda),
                None,
                "{url}"
            );
        }
        let search = [("TAVILY_BASE_URL", "http://search.example.com")];
        assert_eq!(rejected_variable(&search, Platform::Lambda).as_deref(), Some("TAVILY_BASE_URL"));
        let aws = [("SEARCH_PROVIDER", "aws"), ("AWS_SEARCH_BASE_URL", "http://127.0.0.1:9")];
        assert_eq!(rejected_variable(&aws, Platform::Lambda).as_deref(), Some("AWS_SEARCH_BASE_URL"));
        assert_eq!(rejected_variable(&aws, Platform::Local), None);
        let embeddings = [("EMBEDDINGS_MODEL", "m"), ("EMBEDDINGS_BASE_URL", "https://10.0.0.1/v1")];
        assert_eq!(rejected_variable(&embeddings, Platform::Lambda).as_deref(), Some("EMBEDDINGS_BASE_URL"));
        let traces = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")];
        assert_eq!(rejected_variable(&traces, Platform::Lambda).as_deref(), Some("OTEL_EXPORTER_OTLP_ENDPOINT"));
        assert_eq!(rejected_variable(&traces, Platform::Local), None);
    }
}
