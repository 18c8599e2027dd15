//! Where a deployed function may send keys and users' words: to public hosts, over TLS.
//!
//! Tools that are defined as data have a rule of their own, which no setting of a deployed function relaxes.

use egress::Policy;
use llm::Models;
use platform::settings::{SettingError, Settings};
use tools::SearchConfig;
use web::Platform;

const ACCEPTED: &str = "an https:// address of a public host, or ALLOW_PRIVATE_UPSTREAMS=yes beside it";

/// Refuses base URLs that are `http://` or private, on Lambda and unless the operator allows them.
///
/// # Errors
/// The setting that holds the first such address.
pub(crate) fn check(
    settings: &Settings,
    place: Platform,
    models: &Models,
    search: Option<&SearchConfig>,
) -> Result<(), SettingError> {
    let allowed = settings.is_yes("ALLOW_PRIVATE_UPSTREAMS")?;
    if allowed || place == Platform::Local || settings.var("AWS_SAM_LOCAL").is_some() {
        return Ok(());
    }
    for client in models.iter().map(llm::ModelClient::config) {
        if !is_public(&client.base_url) {
            return Err(SettingError::new(variable_of(&client.name), ACCEPTED));
        }
    }
    match search {
        Some(search) if !is_public(&search.base_url) => Err(SettingError::new("TAVILY_BASE_URL", ACCEPTED)),
        _ => Ok(()),
    }
}

/// Where tools that are defined as rows may send: public hosts over TLS, on a developer's machine also by `http` and to
/// that machine itself if the settings say so.
///
/// # Errors
/// `ALLOW_PRIVATE_TOOLS` on Lambda.
pub(crate) fn tool_policy(settings: &Settings, place: Platform) -> Result<Policy, SettingError> {
    let name = "ALLOW_PRIVATE_TOOLS";
    match settings.is_yes(name)? {
        false => Ok(Policy::public()),
        true if place == Platform::Local => Ok(Policy::public().with_http().with_loopback()),
        true => Err(SettingError::new(name, "no, or to be unset, on Lambda: tools may send to public hosts only")),
    }
}

fn variable_of(model: &str) -> &'static str {
    match model {
        "volcano" => "ARK_BASE_URL",
        "openai" => "OPENAI_BASE_URL",
        "local" => "OLLAMA_API_URL",
        _ => "MODELS",
    }
}

/// An operator may choose the port; everything else is as for hosts that data names.
fn is_public(base_url: &str) -> bool {
    Policy::public().with_any_port().parse(base_url).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(pairs: &[(&str, &str)], place: Platform) -> Option<String> {
        let settings = Settings::from_pairs(pairs.iter().copied());
        let models = Models::from_settings(&settings, platform::transport::build_client().unwrap()).unwrap();
        let search = SearchConfig::from_settings(&settings).unwrap();
        check(&settings, place, &models, search.as_ref()).err().map(|error| error.variable)
    }

    #[test]
    fn f018_an_upstream_that_is_not_public_and_encrypted_is_refused_on_lambda_only() {
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
            assert_eq!(refused(&pairs, Platform::Lambda).as_deref(), Some("OPENAI_BASE_URL"), "{url}");
            assert_eq!(refused(&pairs, Platform::Local), None, "{url}");
            assert_eq!(refused(&[&pairs[..], &[("AWS_SAM_LOCAL", "true")]].concat(), Platform::Lambda), None);
            assert_eq!(refused(&[&pairs[..], &[("ALLOW_PRIVATE_UPSTREAMS", "yes")]].concat(), Platform::Lambda), None);
        }
    }

    #[test]
    fn f018_tools_reach_a_private_host_on_no_setting_of_a_deployed_function() {
        let of = |pairs: &[(&str, &str)], place| {
            tool_policy(&Settings::from_pairs(pairs.iter().copied()), place).map_err(|error| error.to_string())
        };
        let private = ("ALLOW_PRIVATE_TOOLS", "yes");
        let refused =
            "ALLOW_PRIVATE_TOOLS: expected no, or to be unset, on Lambda: tools may send to public hosts only";
        for pairs in [&[private][..], &[private, ("AWS_SAM_LOCAL", "true")]] {
            assert_eq!(of(pairs, Platform::Lambda), Err(refused.to_owned()));
            assert_eq!(of(pairs, Platform::Local), Ok(Policy::public().with_http().with_loopback()));
        }
        for pairs in [&[][..], &[("ALLOW_PRIVATE_UPSTREAMS", "yes")], &[("ALLOW_PRIVATE_TOOLS", "no")]] {
            assert_eq!(of(pairs, Platform::Lambda), Ok(Policy::public()));
            assert_eq!(of(pairs, Platform::Local), Ok(Policy::public()));
        }
        assert!(of(&[("ALLOW_PRIVATE_TOOLS", "maybe")], Platform::Local).is_err());
    }

    #[test]
    fn f018_public_upstreams_are_fine_and_search_is_held_to_the_same() {
        for url in [
            "https://api.example.com/v1",
            "https://8.8.8.8",
            "https://[2606:4700::1111]/v1",
            "https://a.example.com:8443",
        ] {
            assert_eq!(refused(&[("OPENAI_BASE_URL", url), ("OPENAI_MODEL", "m")], Platform::Lambda), None, "{url}");
        }
        let search = [("TAVILY_BASE_URL", "http://search.example.com")];
        assert_eq!(refused(&search, Platform::Lambda).as_deref(), Some("TAVILY_BASE_URL"));
    }
}
