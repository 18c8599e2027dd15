//! The key by which a CDN proves that a request came through it.
//!
//! The CDN writes the header `x-origin-key` into each request, over anything a client sent. A function URL that everyone
//! can reach then serves only the CDN.

use axum::extract::Request;
use domain::ErrorCode;
use http::HeaderName;
use platform::secrets::{Secret, SecretError};
use platform::settings::{SettingError, Settings};
use secrecy::ExposeSecret;
use subtle::ConstantTimeEq;

use super::event::IamAuthorized;
use crate::ApiError;
use crate::single_header::single_header;

const ORIGIN_KEY: HeaderName = HeaderName::from_static("x-origin-key");

/// The keys that are accepted: the current one, and the previous one while the CDN changes over. Without any, all requests
/// pass.
#[derive(Clone, Debug, Default)]
pub(super) struct OriginKeys(Vec<Secret>);

impl OriginKeys {
    /// Reads `ORIGIN_KEY` and `PREVIOUS_ORIGIN_KEY`, each also as the name of a stored secret.
    pub(super) fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let current = Secret::from_settings(settings, "ORIGIN_KEY")?;
        let previous = Secret::from_settings(settings, "PREVIOUS_ORIGIN_KEY")?;
        if current.is_none() && previous.is_some() {
            return Err(SettingError::new("PREVIOUS_ORIGIN_KEY", "ORIGIN_KEY to be set too"));
        }
        Ok(Self(current.into_iter().chain(previous).collect()))
    }

    /// Accepts a request with one of the keys, or one whose caller Lambda has authorized by IAM. Removes the header.
    ///
    /// # Errors
    /// `forbidden`; `not_configured` if a stored key cannot be read and no other one matches.
    pub(super) async fn check(&self, request: &mut Request) -> Result<(), ApiError> {
        let sent = single_header(request.headers(), &ORIGIN_KEY).one().map(str::to_owned);
        request.headers_mut().remove(&ORIGIN_KEY);
        if self.0.is_empty() || request.extensions().get::<IamAuthorized>().is_some() {
            return Ok(());
        }
        let sent = sent.ok_or_else(forbidden)?;
        match self.matches(sent.as_bytes()).await {
            Ok(true) => Ok(()),
            Ok(false) => {
                for key in &self.0 {
                    key.invalidate();
                }
                Err(forbidden())
            }
            Err(error) => Err(ApiError::caused_by(ErrorCode::NotConfigured, error)),
        }
    }

    /// Compares with each key in constant time; reads the previous one only if the current one differs.
    async fn matches(&self, sent: &[u8]) -> Result<bool, SecretError> {
        let mut unreadable = None;
        for key in &self.0 {
            match key.get().await {
                Ok(key) if bool::from(sent.ct_eq(key.expose_secret().as_bytes())) => return Ok(true),
                Ok(_) => {}
                Err(error) => unreadable = Some(error),
            }
        }
        unreadable.map_or(Ok(false), Err)
    }
}

fn forbidden() -> ApiError {
    ApiError::new(ErrorCode::Forbidden, "This address serves only the CDN in front of it.")
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn keys(pairs: &[(&str, &str)]) -> Result<OriginKeys, SettingError> {
        OriginKeys::from_settings(&Settings::from_pairs(pairs.iter().copied()))
    }

    async fn code(keys: &OriginKeys, headers: &[&str]) -> Option<ErrorCode> {
        let request = headers.iter().fold(Request::builder(), |request, value| request.header("x-origin-key", *value));
        let mut request = request.body(Body::empty()).unwrap();
        let checked = keys.check(&mut request).await;
        assert!(request.headers().is_empty(), "no handler sees the key");
        checked.err().map(|error| error.failure.code)
    }

    #[tokio::test]
    async fn current_and_previous_origin_key_are_accepted() {
        let both = keys(&[("ORIGIN_KEY", "new"), ("PREVIOUS_ORIGIN_KEY", "old")]).unwrap();
        let new = keys(&[("ORIGIN_KEY", "new")]).unwrap();
        for (sent, by_both, by_new) in [("new", true, true), ("old", true, false), ("ne", false, false)] {
            assert_eq!(code(&both, &[sent]).await.is_none(), by_both, "{sent}");
            assert_eq!(code(&new, &[sent]).await.is_none(), by_new, "{sent}");
        }
    }

    #[tokio::test]
    async fn request_without_one_origin_key_is_forbidden() {
        let keys = keys(&[("ORIGIN_KEY", "new")]).unwrap();
        for headers in [&[][..], &[""], &["new", "new"], &["new "], &["New"]] {
            assert_eq!(code(&keys, headers).await, Some(ErrorCode::Forbidden), "{headers:?}");
        }
        assert_eq!(code(&OriginKeys::default(), &[]).await, None);
    }

    #[tokio::test]
    async fn iam_authorized_request_needs_no_origin_key() {
        let mut request = Request::new(Body::empty());
        request.extensions_mut().insert(IamAuthorized);
        assert!(keys(&[("ORIGIN_KEY", "new")]).unwrap().check(&mut request).await.is_ok());
    }

    #[test]
    fn previous_origin_key_alone_is_rejected() {
        assert_eq!(keys(&[("PREVIOUS_ORIGIN_KEY", "old")]).unwrap_err().variable, "PREVIOUS_ORIGIN_KEY");
    }
}
