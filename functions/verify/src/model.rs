use std::convert::Infallible;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{BoxStream, iter};
use http::{HeaderValue, StatusCode, header};
use lambda_runtime::{MetadataPrelude, StreamResponse};
use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};
use secrecy::ExposeSecret;
use serde_json::json;
use subtle::ConstantTimeEq;
use tokio::time::sleep;

use crate::event::UrlEvent;
use crate::script::{ChatRequest, Script};

type Body = BoxStream<'static, Result<Bytes, Infallible>>;

/// The scripted model, for callers with the key.
pub(crate) struct Model {
    key: Secret,
}

/// Reads `CHECK_API_KEY`, the key of the checks' caller and of the model.
pub(crate) fn check_key(settings: &Settings) -> Result<Secret, SettingError> {
    let key = Secret::from_settings(settings, "CHECK_API_KEY")?;
    key.ok_or_else(|| SettingError::new("CHECK_API_KEY_PARAMETER", "the name of an SSM parameter"))
}

impl Model {
    /// Reads `CHECK_API_KEY`; makes no call.
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self { key: check_key(settings)? })
    }

    /// Answers `POST /chat/completions` with a stream, and any other request with an error.
    pub(crate) async fn respond(&self, event: UrlEvent) -> StreamResponse<Body> {
        match self.choose_script(&event).await {
            Ok(script) => stream_response(StatusCode::OK, "text/event-stream", stream_lines(script)),
            Err(status) => {
                let error = json!({"error": {"message": status.canonical_reason(), "type": "refused"}}).to_string();
                stream_response(status, "application/json", iter([Ok(Bytes::from(error))]).boxed())
            }
        }
    }

    async fn choose_script(&self, event: &UrlEvent) -> Result<Script, StatusCode> {
        if (event.method(), event.raw_path.as_str()) != ("POST", "/chat/completions") {
            return Err(StatusCode::NOT_FOUND);
        }
        let key = self.key.get().await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
        if !bool::from(event.token().as_bytes().ct_eq(key.expose_secret().as_bytes())) {
            // A recently changed key is not cached yet.
            self.key.invalidate();
            return Err(StatusCode::UNAUTHORIZED);
        }
        let request: ChatRequest = serde_json::from_slice(&event.body()).map_err(|_| StatusCode::BAD_REQUEST)?;
        Ok(Script::for_request(&request))
    }
}

/// Streams each line after its interval.
fn stream_lines(script: Script) -> Body {
    let lines = iter(script.lines).then(move |line| async move {
        sleep(script.interval).await;
        Ok(Bytes::from(line))
    });
    lines.boxed()
}

#[expect(clippy::field_reassign_with_default, reason = "the type is not exhaustive and has no builder")]
fn stream_response(status: StatusCode, content_type: &'static str, stream: Body) -> StreamResponse<Body> {
    let mut metadata_prelude = MetadataPrelude::default();
    metadata_prelude.status_code = status;
    metadata_prelude.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    StreamResponse { metadata_prelude, stream }
}
