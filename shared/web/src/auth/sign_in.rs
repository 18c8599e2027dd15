use http::Uri;
use platform::settings::{SettingError, Settings};
use serde::Serialize;

/// The scopes to request unless a setting names others.
const DEFAULT_SCOPE: &str = "openid";

/// How the page signs a user in at the issuer of accepted tokens: as a public client with PKCE, without a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SignIn {
    /// The issuer; its discovery document names the endpoints.
    issuer: String,
    /// The page's id at the issuer.
    client_id: String,
    /// The audience of accepted tokens. If it is the client's id, the page sends ID tokens, else access tokens.
    audience: String,
    /// The requested scopes, with a space between them.
    scope: String,
    /// The token endpoint's URL, if its origin is not the issuer's.
    #[serde(skip)]
    token_url: Option<String>,
}

impl SignIn {
    /// The scopes that the page requests.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scope.split_whitespace()
    }

    /// Reads `AUTH_JWT_CLIENT_ID`, `AUTH_JWT_SCOPE` and `AUTH_JWT_TOKEN_URL`; `None` without a client id.
    pub(super) fn from_settings(
        settings: &Settings,
        issuer: &str,
        audience: &str,
        allow_http: bool,
    ) -> Result<Option<Self>, SettingError> {
        let token_url = read_issuer_url(settings, "AUTH_JWT_TOKEN_URL", allow_http)?;
        let scope =
            settings.parse("AUTH_JWT_SCOPE", "scopes with a space between them, one of them openid", parse_scope)?;
        Ok(settings.var("AUTH_JWT_CLIENT_ID").map(|client_id| Self {
            issuer: issuer.to_owned(),
            client_id: client_id.to_owned(),
            audience: audience.to_owned(),
            scope: scope.unwrap_or_else(|| DEFAULT_SCOPE.to_owned()),
            token_url,
        }))
    }

    /// The origins that the page connects to while it signs in, for its content security policy.
    pub fn origins(&self) -> Vec<String> {
        let mut origins: Vec<String> =
            [Some(&self.issuer), self.token_url.as_ref()].into_iter().flatten().filter_map(|url| origin(url)).collect();
        origins.dedup();
        origins
    }
}

/// Scopes of RFC 6749: printable ASCII without quotes and backslashes.
fn parse_scope(text: &str) -> Option<String> {
    let is_scope = |scope: &str| {
        !scope.is_empty() && scope.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
    };
    let scopes: Vec<&str> = text.split(' ').collect();
    (scopes.contains(&"openid") && scopes.iter().all(|scope| is_scope(scope))).then(|| text.to_owned())
}

/// The origin of a valid URL: scheme and authority.
fn origin(url: &str) -> Option<String> {
    let uri = url.parse::<Uri>().ok()?;
    Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?))
}

/// Whether a URL of the issuer may be used: without white space, and `https` unless `allow_http`.
pub(super) fn is_key_url(text: &str, allow_http: bool) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let scheme = uri.scheme_str().is_some_and(|scheme| scheme == "https" || allow_http && scheme == "http");
    let authority = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    scheme && authority && text.bytes().all(|byte| byte.is_ascii_graphic())
}

pub(super) fn read_issuer_url(
    settings: &Settings,
    name: &str,
    allow_http: bool,
) -> Result<Option<String>, SettingError> {
    let parse_url = |text: &str| is_key_url(text, allow_http).then(|| text.to_owned());
    settings.parse(name, accepted_urls(allow_http), parse_url)
}

pub(super) fn accepted_urls(allow_http: bool) -> &'static str {
    if allow_http { "an http or https URL" } else { "an https URL" }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUER: &str = "https://id.example/realm";

    fn read(pairs: &[(&str, &str)]) -> Result<Option<SignIn>, String> {
        let settings = Settings::from_pairs(pairs.iter().copied());
        SignIn::from_settings(&settings, ISSUER, "chat", false).map_err(|error| error.to_string())
    }

    #[test]
    fn page_signs_in_only_with_client_id() {
        assert_eq!(read(&[("AUTH_JWT_SCOPE", "openid email")]), Ok(None));
        let sign_in = read(&[("AUTH_JWT_CLIENT_ID", "page")]).unwrap().unwrap();
        let shown = serde_json::to_value(&sign_in).unwrap();
        let expected =
            serde_json::json!({ "issuer": ISSUER, "clientId": "page", "audience": "chat", "scope": "openid" });
        assert_eq!(shown, expected);
        assert_eq!(sign_in.origins(), ["https://id.example"]);
    }

    #[test]
    fn token_endpoint_adds_its_origin() {
        for (url, expected) in [
            ("https://login.example:8443/token", &["https://id.example", "https://login.example:8443"][..]),
            ("https://id.example/token", &["https://id.example"]),
        ] {
            let sign_in = read(&[("AUTH_JWT_CLIENT_ID", "page"), ("AUTH_JWT_TOKEN_URL", url)]).unwrap().unwrap();
            assert_eq!(sign_in.origins(), expected);
        }
    }

    #[test]
    fn invalid_scope_and_url_are_refused() {
        for scope in ["email", "openid  email", "openid \"a", "openid ä"] {
            let error = read(&[("AUTH_JWT_SCOPE", scope)]).unwrap_err();
            assert_eq!(error, "AUTH_JWT_SCOPE: expected scopes with a space between them, one of them openid");
        }
        let error = read(&[("AUTH_JWT_TOKEN_URL", "http://id.example")]).unwrap_err();
        assert_eq!(error, "AUTH_JWT_TOKEN_URL: expected an https URL");
    }
}
