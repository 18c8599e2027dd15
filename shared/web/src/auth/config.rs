use domain::Owner;
use platform::settings::{SettingError, Settings};

use super::sign_in::{SignIn, accepted_urls, read_issuer_url};

/// The platform that serves the routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// A developer's own machine.
    Local,
    /// A function that the internet may reach.
    Lambda,
}

/// How callers authenticate, from the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthConfig {
    pub(super) mode: AuthMode,
    platform: Platform,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AuthMode {
    Unset,
    Open,
    ApiKey,
    Token(IssuerConfig),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IssuerConfig {
    /// The issuer as tokens name it.
    pub(super) issuer: String,
    /// The audience that tokens must name.
    pub(super) audience: String,
    /// The URL of its keys; `None` to read it from the issuer's discovery document.
    pub(super) jwks_url: Option<String>,
    pub(super) claims: ClaimNames,
    /// How the page signs users in; `None` if it does not.
    pub(super) sign_in: Option<Box<SignIn>>,
}

/// The claims that describe a caller: top-level members of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaimNames {
    /// The claim of administrators, and the text that it is or contains.
    pub(super) admin: (String, String),
    /// The claim with what people call the caller.
    pub(super) name: String,
    /// The claim with the names of the caller's groups.
    pub(super) groups: Option<String>,
}

impl AuthConfig {
    /// Reads `AUTH`, the settings `AUTH_JWT_…`, and `AUTH_NONE_ON_LAMBDA`.
    ///
    /// Locally the default is `none`. On Lambda there is no default, and `none` counts as unset unless another setting
    /// confirms it.
    ///
    /// # Errors
    /// A setting that cannot be parsed, or a missing one that `jwt` needs.
    pub fn from_settings(settings: &Settings, platform: Platform) -> Result<Self, SettingError> {
        // Parsed also where it has no effect, so that a mistake shows before the deployment.
        let allows_open = allows_open(settings, platform)?;
        let mode = match settings.var("AUTH") {
            None if platform == Platform::Local => AuthMode::Open,
            Some("none") if allows_open => AuthMode::Open,
            None | Some("none") => AuthMode::Unset,
            Some("api_key") => AuthMode::ApiKey,
            Some("jwt") => AuthMode::Token(IssuerConfig::from_settings(settings, platform)?),
            Some(_) => return Err(SettingError::new("AUTH", "none, api_key or jwt")),
        };
        Ok(Self { mode, platform })
    }

    /// Whether authentication is off: any client may call under any name.
    pub fn is_open(&self) -> bool {
        self.mode == AuthMode::Open
    }

    /// Whether callers present API keys.
    pub fn uses_keys(&self) -> bool {
        self.mode == AuthMode::ApiKey
    }

    /// The owner for a name: the holder of a key made for it, the subject of a token, or, without authentication, the
    /// claimed name. `None` if no call is allowed.
    pub fn owner_of(&self, name: &str) -> Option<Owner> {
        match &self.mode {
            AuthMode::Unset => None,
            AuthMode::Open => Some(Owner::unverified(name)),
            AuthMode::ApiKey => Some(Owner::key_holder(name)),
            AuthMode::Token(issuer) => Some(Owner::subject(&issuer.issuer, name)),
        }
    }

    /// The value of `AUTH` in effect, for people to read.
    pub fn name(&self) -> &'static str {
        match self.mode {
            AuthMode::Unset => "not configured",
            AuthMode::Open => "none",
            AuthMode::ApiKey => "api_key",
            AuthMode::Token(_) => "jwt",
        }
    }

    /// How the page signs users in; `None` if it does not.
    pub fn sign_in(&self) -> Option<&SignIn> {
        if let AuthMode::Token(issuer) = &self.mode { issuer.sign_in.as_deref() } else { None }
    }

    /// The issuer of accepted tokens; `None` if callers present none.
    pub fn issuer(&self) -> Option<&str> {
        if let AuthMode::Token(config) = &self.mode { Some(&config.issuer) } else { None }
    }

    /// A warning for the operator at every start; `None` if the configuration is safe.
    pub fn warning(&self) -> Option<&'static str> {
        match (&self.mode, self.platform) {
            (AuthMode::Unset, _) => Some("AUTH is not set to api_key or jwt: nothing but the page is served"),
            (AuthMode::Open, Platform::Lambda) => {
                Some("AUTH is none: everybody who reaches this function administers it")
            }
            _ => None,
        }
    }
}

fn allows_open(settings: &Settings, platform: Platform) -> Result<bool, SettingError> {
    let is_confirmed = settings.is_yes("AUTH_NONE_ON_LAMBDA")?;
    Ok(is_confirmed || platform == Platform::Local || settings.var("AWS_SAM_LOCAL").is_some())
}

/// Whether an issuer may be reached without TLS: on a developer's machine.
fn allows_http(settings: &Settings, platform: Platform) -> bool {
    platform == Platform::Local || settings.var("AWS_SAM_LOCAL").is_some()
}

impl IssuerConfig {
    fn from_settings(settings: &Settings, platform: Platform) -> Result<Self, SettingError> {
        let allow_http = allows_http(settings, platform);
        settings.require("AUTH_JWT_ISSUER", accepted_urls(allow_http))?;
        let audience = settings.require("AUTH_JWT_AUDIENCE", "the audience that tokens must be made for")?;
        let issuer = read_issuer_url(settings, "AUTH_JWT_ISSUER", allow_http)?.unwrap_or_default();
        let jwks_url = read_issuer_url(settings, "AUTH_JWT_JWKS_URL", allow_http)?;
        let claims = ClaimNames::from_settings(settings)?;
        let sign_in = SignIn::from_settings(settings, &issuer, audience, allow_http)?.map(Box::new);
        Ok(Self { issuer, audience: audience.to_owned(), jwks_url, claims, sign_in })
    }
}

impl ClaimNames {
    /// Reads `AUTH_JWT_ADMIN_CLAIM`, `AUTH_JWT_ADMIN_VALUE`, `AUTH_JWT_NAME_CLAIM` and `AUTH_JWT_GROUPS_CLAIM`.
    pub(super) fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let parse = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic()).then(|| text.to_owned());
        let claim = |setting| settings.parse(setting, "the name of a claim, without spaces", parse);
        let admin_value = settings.var("AUTH_JWT_ADMIN_VALUE").unwrap_or("admin").to_owned();
        Ok(Self {
            admin: (claim("AUTH_JWT_ADMIN_CLAIM")?.unwrap_or_else(|| "role".to_owned()), admin_value),
            // https://openid.net/specs/openid-connect-core-1_0.html#StandardClaims, 2026-11-26.
            name: claim("AUTH_JWT_NAME_CLAIM")?.unwrap_or_else(|| "name".to_owned()),
            groups: claim("AUTH_JWT_GROUPS_CLAIM")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_mode(platform: Platform, pairs: &[(&str, &str)]) -> Result<&'static str, String> {
        let config = AuthConfig::from_settings(&Settings::from_pairs(pairs.iter().copied()), platform);
        config.map(|config| config.name()).map_err(|error| error.to_string())
    }

    #[test]
    fn f147_lambda_without_auth_needs_explicit_confirmation() {
        let none = ("AUTH", "none");
        assert_eq!(read_mode(Platform::Lambda, &[]).unwrap(), "not configured");
        assert_eq!(read_mode(Platform::Lambda, &[("AUTH", " ")]).unwrap(), "not configured");
        assert_eq!(read_mode(Platform::Lambda, &[none]).unwrap(), "not configured");
        assert_eq!(read_mode(Platform::Lambda, &[none, ("AUTH_NONE_ON_LAMBDA", "no")]).unwrap(), "not configured");
        assert_eq!(read_mode(Platform::Lambda, &[("AWS_SAM_LOCAL", "true")]).unwrap(), "not configured");
        assert_eq!(read_mode(Platform::Lambda, &[("AUTH_NONE_ON_LAMBDA", "yes")]).unwrap(), "not configured");
        assert_eq!(read_mode(Platform::Lambda, &[none, ("AUTH_NONE_ON_LAMBDA", "yes")]).unwrap(), "none");
        assert_eq!(read_mode(Platform::Lambda, &[none, ("AWS_SAM_LOCAL", "true")]).unwrap(), "none");
        assert_eq!(read_mode(Platform::Lambda, &[("AUTH", "api_key")]).unwrap(), "api_key");
    }

    #[test]
    fn owner_of_name_depends_on_auth_mode() {
        let owner = |pairs: &[(&str, &str)]| {
            let settings = Settings::from_pairs(pairs.iter().copied());
            AuthConfig::from_settings(&settings, Platform::Lambda).unwrap().owner_of("ada")
        };
        let confirmed = ("AUTH_NONE_ON_LAMBDA", "yes");
        let (issuer, audience) = (("AUTH_JWT_ISSUER", "https://id.example"), ("AUTH_JWT_AUDIENCE", "chat"));
        assert_eq!(owner(&[]), None);
        assert_eq!(owner(&[("AUTH", "none"), confirmed]), Some(Owner::unverified("ada")));
        assert_eq!(owner(&[("AUTH", "api_key")]), Some(Owner::key_holder("ada")));
        assert_eq!(owner(&[("AUTH", "jwt"), issuer, audience]), Some(Owner::subject("https://id.example", "ada")));
    }

    #[test]
    fn local_default_is_no_authentication() {
        assert_eq!(read_mode(Platform::Local, &[]).unwrap(), "none");
        assert_eq!(read_mode(Platform::Local, &[("AUTH", "none")]).unwrap(), "none");
        assert_eq!(read_mode(Platform::Local, &[("AUTH", "api_key")]).unwrap(), "api_key");
    }

    #[test]
    fn f147_open_or_unset_auth_warns_at_start() {
        let warning = |pairs: &[(&str, &str)], platform| {
            AuthConfig::from_settings(&Settings::from_pairs(pairs.iter().copied()), platform).unwrap().warning()
        };
        assert!(warning(&[], Platform::Lambda).unwrap().contains("AUTH"));
        assert!(
            warning(&[("AUTH", "none"), ("AUTH_NONE_ON_LAMBDA", "yes")], Platform::Lambda).unwrap().contains("none")
        );
        assert_eq!(warning(&[("AUTH", "api_key")], Platform::Lambda), None);
        assert_eq!(warning(&[], Platform::Local), None);
    }

    #[test]
    fn error_names_variable_and_accepted_values() {
        let jwt = ("AUTH", "jwt");
        let (issuer, audience) = (("AUTH_JWT_ISSUER", "https://id.example"), ("AUTH_JWT_AUDIENCE", "chat"));
        let cases: [(&[(&str, &str)], &str); 9] = [
            (&[("AUTH", "basic")], "AUTH: expected none, api_key or jwt"),
            (&[("AUTH", "None")], "AUTH: expected none, api_key or jwt"),
            (&[("AUTH", "none"), ("AUTH_NONE_ON_LAMBDA", "true")], "AUTH_NONE_ON_LAMBDA: expected yes or no"),
            (&[jwt, audience], "AUTH_JWT_ISSUER: expected an https URL"),
            (&[jwt, issuer], "AUTH_JWT_AUDIENCE: expected the audience that tokens must be made for"),
            (&[jwt, audience, ("AUTH_JWT_ISSUER", "http://id.example")], "AUTH_JWT_ISSUER: expected an https URL"),
            (&[jwt, audience, ("AUTH_JWT_ISSUER", "https://a b")], "AUTH_JWT_ISSUER: expected an https URL"),
            (
                &[jwt, audience, issuer, ("AUTH_JWT_JWKS_URL", "https://u:canary@id.example")],
                "AUTH_JWT_JWKS_URL: expected an https URL",
            ),
            (
                &[jwt, audience, issuer, ("AUTH_JWT_GROUPS_CLAIM", "my groups")],
                "AUTH_JWT_GROUPS_CLAIM: expected the name of a claim, without spaces",
            ),
        ];
        for (pairs, message) in cases {
            assert_eq!(read_mode(Platform::Lambda, pairs).unwrap_err(), message);
        }
        assert_eq!(read_mode(Platform::Lambda, &[jwt, issuer, audience]).unwrap(), "jwt");
        let loopback = ("AUTH_JWT_ISSUER", "http://127.0.0.1:9/realm");
        assert_eq!(read_mode(Platform::Local, &[jwt, loopback, audience]).unwrap(), "jwt");
    }
}
