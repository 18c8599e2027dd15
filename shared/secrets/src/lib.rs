//! A secret, revealed only at the moment in which it is sent.

use secrecy::SecretString;

/// A key or token; `Debug` shows nothing of it.
#[derive(Clone, Debug)]
pub struct Secret {
    value: SecretString,
}

/// A secret that cannot be had; the text names where it was looked for, never what it is.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the secret could not be read from {place}")]
pub struct SecretError {
    /// Where it was looked for.
    pub place: String,
}

impl Secret {
    /// A secret that is given by its value.
    pub fn by_value(value: impl Into<String>) -> Self {
        Self { value: SecretString::from(value.into()) }
    }

    /// The value, to be exposed only where it is written into a request.
    #[expect(clippy::unused_async, reason = "secrets that are kept elsewhere are fetched here")]
    pub async fn reveal(&self) -> Result<SecretString, SecretError> {
        Ok(self.value.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f122_debug_output_hides_the_value() {
        assert!(!format!("{:?}", Secret::by_value("canary-7f3a")).contains("canary"));
    }
}
