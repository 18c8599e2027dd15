use ::secrets::Secret;
use secrecy::{ExposeSecret, SecretString};

use super::failure::HttpFailure;
use super::mask::{Mask, SHORTEST};
use super::{Auth, ToolSecrets};

/// How a definition proves who asks, with the secret that it names.
#[derive(Clone)]
pub(crate) struct Credentials {
    auth: Auth,
    secret: Option<Secret>,
    /// Whether the definition names a secret that cannot be had: its calls fail, the others go on.
    without_secret: bool,
}

impl Credentials {
    pub(crate) fn new(auth: Auth, secrets: &ToolSecrets) -> Self {
        let secret = auth.reference().and_then(|reference| secrets.find(reference));
        let without_secret = auth.reference().is_some() && secret.is_none();
        Self { auth, secret, without_secret }
    }

    /// The header to send, if there is one, and what hides its secret in what comes back.
    pub(crate) async fn reveal(&self) -> Result<(Option<(&str, SecretString)>, Mask), HttpFailure> {
        if self.without_secret {
            return Err(HttpFailure::NoSecret);
        }
        let Some(secret) = &self.secret else { return Ok((None, Mask::default())) };
        let secret = secret.reveal().await.map_err(|_| HttpFailure::NoSecret)?;
        if secret.expose_secret().len() < SHORTEST {
            return Err(HttpFailure::NoSecret);
        }
        let value = self.auth.value(&secret);
        let mask = Mask::of(&secret, &value);
        Ok((self.auth.header().map(|name| (name, value)), mask))
    }

    /// Takes note of an answer's status: a secret that was refused is read again for the next call, if it is kept
    /// elsewhere.
    pub(crate) fn answered(&self, status: u16) {
        if let (401 | 403, Some(secret)) = (status, &self.secret) {
            secret.refused();
        }
    }
}
