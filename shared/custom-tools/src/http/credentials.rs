use platform::secrets::Secret;
use secrecy::{ExposeSecret, SecretString};

use super::secret_mask::{MIN_SECRET_BYTES, SecretMask};
use super::{Auth, ToolSecrets};
use crate::call_error::CallError;

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
