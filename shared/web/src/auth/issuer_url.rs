use http::Uri;
use platform::settings::{SettingError, Settings};

/// Whether a URL of the issuer may be used: without white space, and `https` unless `allow_http`.
pub(super) fn is_key_url(text: &str, allow_http: bool) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let scheme = uri.scheme_str().is_some_and(|scheme| scheme == "https" || allow_http && scheme == "http");
    let authority = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    scheme && authority && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Reads the setting with a URL of the issuer.
pub(super) fn read_setting(settings: &Settings, name: &str, allow_http: bool) -> Result<Option<String>, SettingError> {
    let parse_url = |text: &str| is_key_url(text, allow_http).then(|| text.to_owned());
    settings.parse(name, accepted(allow_http), parse_url)
}

/// What such a setting accepts.
pub(super) fn accepted(allow_http: bool) -> &'static str {
    if allow_http { "an http or https URL" } else { "an https URL" }
}
