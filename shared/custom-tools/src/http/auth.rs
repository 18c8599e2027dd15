use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::{Failure, StrictObject};
use platform::secrets::Secret;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

use super::secret_mask::{MIN_SECRET_BYTES, SecretMask};
use super::token_variables::{API_KEY_SUFFIX, TOKEN_SUFFIX, is_token_variable};
use super::{SecretReference, ToolSecrets};
use crate::call_error::CallError;

/// Other accepted spellings of fields.
const AUTH_ALIASES: [(&str, &str); 1] = [("token_env", "tokenEnv")];

const SCHEMES: &str = "\"none\", \"bearer\", \"api_key\" or \"basic\"";

/// Authentication of a custom tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Auth {
    /// No authentication.
    #[default]
    None,
    /// `Authorization: Bearer …`.
    Bearer {
        /// The token.
        secret: SecretReference,
    },
    /// A header of its own.
    ApiKey {
        /// The header's name.
        header: String,
        /// Its value.
        secret: SecretReference,
    },
    /// `Authorization: Basic …`.
    Basic {
        /// The user.
        username: String,
        /// The password.
        secret: SecretReference,
    },
}

impl Auth {
    pub(crate) fn parse(mut fields: StrictObject) -> Result<Self, Failure> {
        fields.accept_aliases(&AUTH_ALIASES)?;
        let kind = fields.take_string("type")?.unwrap_or_default();
        let (auth, accepted) = match kind.as_str() {
            "none" => (Self::None, "`type`"),
            "bearer" => {
                let secret = parse_secret(&mut fields, TOKEN_SUFFIX)?;
                (Self::Bearer { secret }, "`type`, `secret`, `tokenEnv`")
            }
            "api_key" => {
                let header = fields.take_non_blank("header", 64)?.unwrap_or_else(|| "X-API-Key".to_owned());
                if !egress::is_settable(&header) && !header.eq_ignore_ascii_case("authorization") {
                    return Err(fields.field_error("header", "the name of a header that may carry a key"));
                }
                let secret = parse_secret(&mut fields, API_KEY_SUFFIX)?;
                (Self::ApiKey { header, secret }, "`type`, `header`, `secret`, `tokenEnv`")
            }
            "basic" => {
                let username = fields.take_non_blank("username", 200)?;
                let username = username.filter(|name| !name.contains(':') && !name.chars().any(char::is_control));
                let username = username.ok_or_else(|| fields.field_error("username", "a name without a colon"))?;
                (Self::Basic { username, secret: parse_reference(&mut fields)? }, "`type`, `username`, `secret`")
            }
            _ => return Err(fields.field_error("type", SCHEMES)),
        };
        fields.reject_unknown(accepted)?;
        Ok(auth)
    }

    pub(crate) fn reference(&self) -> Option<&SecretReference> {
        match self {
            Self::None => None,
            Self::Bearer { secret } | Self::ApiKey { secret, .. } | Self::Basic { secret, .. } => Some(secret),
        }
    }

    pub(crate) fn header(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Bearer { .. } | Self::Basic { .. } => Some("authorization"),
            Self::ApiKey { header, .. } => Some(header),
        }
    }

    pub(crate) fn value(&self, secret: &SecretString) -> SecretString {
        let secret = secret.expose_secret();
        match self {
            Self::None | Self::ApiKey { .. } => secret.into(),
            Self::Bearer { .. } => format!("Bearer {secret}").into(),
            Self::Basic { username, .. } => format!("Basic {}", STANDARD.encode(format!("{username}:{secret}"))).into(),
        }
    }
}

/// Parses the reference to a secret: `secret`, or the beginning of a variable that ends with `suffix`.
fn parse_secret(fields: &mut StrictObject, suffix: &str) -> Result<SecretReference, Failure> {
    let Some(start) = fields.take_non_blank("tokenEnv", 80)? else { return parse_reference(fields) };
    let name = format!("{start}{suffix}");
    if !is_token_variable(&name) {
        let accepted = "the beginning of a variable for tools: capital letters, digits and `_`, a letter first; not one \
            of the product or of AWS";
        return Err(fields.field_error("tokenEnv", accepted));
    }
    if fields.take_value("secret").is_some() {
        return Err(fields.field_error("secret", "left out if there is a `tokenEnv`"));
    }
    Ok(SecretReference::Env(name))
}

fn parse_reference(fields: &mut StrictObject) -> Result<SecretReference, Failure> {
    let accepted = "an object with one of `env`, `parameter` and `secretsManager`: the name of a secret, not a secret";
    let Some(mut names) = fields.take_nested("secret")? else { return Err(fields.field_error("secret", accepted)) };
    names.accept_aliases(&[("secrets_manager", "secretsManager")])?;
    let given = [
        names.take_non_blank("env", 100)?,
        names.take_non_blank("parameter", 512)?,
        names.take_non_blank("secretsManager", 512)?,
    ];
    names.reject_unknown("`env`, `parameter`, `secretsManager`")?;
    match given {
        [Some(name), None, None] => Ok(SecretReference::Env(name)),
        [None, Some(name), None] => Ok(SecretReference::Parameter(name)),
        [None, None, Some(name)] => Ok(SecretReference::SecretsManager(name)),
        _ => Err(fields.field_error("secret", accepted)),
    }
}

/// The authentication of a definition, with the secret that it references.
#[derive(Clone)]
pub(crate) struct Credentials {
    auth: Auth,
    /// `None` without a reference, and if the referenced secret is unavailable: then calls of this tool fail.
    secret: Option<Secret>,
}

impl Credentials {
    pub(crate) fn new(auth: Auth, secrets: &ToolSecrets) -> Self {
        let secret = auth.reference().and_then(|reference| secrets.find(reference));
        Self { auth, secret }
    }

    /// Returns the authentication header, if there is one, and the mask for its secret.
    pub(crate) async fn reveal(&self) -> Result<(Option<(&str, SecretString)>, SecretMask), CallError> {
        let Some(header) = self.auth.header() else { return Ok((None, SecretMask::default())) };
        let secret = self.secret.as_ref().ok_or(CallError::NoSecret)?.get().await.map_err(|_| CallError::NoSecret)?;
        if secret.expose_secret().len() < MIN_SECRET_BYTES {
            return Err(CallError::ShortSecret);
        }
        let value = self.auth.value(&secret);
        let mask = SecretMask::new(&secret, &value);
        Ok((Some((header, value)), mask))
    }

    /// Handles a response's status: after a rejection, a secret from a secret store is read again for the next call.
    pub(crate) fn on_status(&self, status: u16) {
        if let (401 | 403, Some(secret)) = (status, &self.secret) {
            secret.invalidate();
        }
    }
}
