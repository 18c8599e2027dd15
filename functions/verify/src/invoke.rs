use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, unfold};
use futures_util::{StreamExt, TryStreamExt};
use platform::aws::{Call, Method};
use platform::settings::{SettingError, Settings};
use serde::Deserialize;
use smoke::{Request, Response, Transport, TransportError};
use tokio::time::sleep;

use crate::event;
use crate::frames::{FrameDecoder, sanitise_code};

const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Retries while no instance is available, and the pause before each. The function did not run in that case.
const BUSY_RETRIES: (u32, Duration) = (4, Duration::from_secs(1));

/// Maximum time that a request waits for an instance.
pub(crate) const MAX_INSTANCE_WAIT: Duration = BUSY_RETRIES.1.saturating_mul(BUSY_RETRIES.0);

/// A transport to one version of a function, without its URL: `InvokeWithResponseStream` of Lambda's API of 2021-11-15.
#[derive(Clone)]
pub struct InvokeTransport(Arc<Inner>);

struct Inner {
    http: platform::transport::Client,
    lambda: platform::aws::Service,
    path: String,
}

impl InvokeTransport {
    /// Reads the version `CHECKED_VERSION` of `CHECKED_FUNCTION`.
    ///
    /// # Errors
    /// An invalid function or version, or no region or credentials.
    pub fn from_settings(settings: &Settings, http: platform::transport::Client) -> Result<Self, SettingError> {
        let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let parse_name = |variable: &str, accepted: &str| {
            let value = settings.parse(variable, accepted, |text| is_name(text).then(|| text.to_owned()))?;
            value.ok_or_else(|| SettingError::new(variable, accepted))
        };
        let function = parse_name("CHECKED_FUNCTION", "the name of a function")?;
        let version = parse_name("CHECKED_VERSION", "the number of a version")?;
        let path = format!("/2021-11-15/functions/{function}/response-streaming-invocations?Qualifier={version}");
        let lambda = platform::aws::Service::from_settings(settings, "lambda", "AWS_ENDPOINT_URL_LAMBDA")?;
        Ok(Self(Arc::new(Inner { http, lambda, path })))
    }
}

impl Transport for InvokeTransport {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        let event = event::to_url_event(request, SystemTime::now()).to_string();
        Box::pin(async move { read_head(self.0.invoke(event).await?).await })
    }
}

impl Inner {
    /// Invokes the version; a success is Lambda's response, not yet the version's.
    async fn invoke(&self, event: String) -> Result<ReadStream, TransportError> {
        let mut retries_left = BUSY_RETRIES.0;
        loop {
            let call = Call {
                method: Method::POST,
                path: &self.path,
                headers: &[("content-type", "application/json")],
                body: event.clone().into(),
            };
            let request = self.lambda.signed_request(&self.http, call, SystemTime::now()).await;
            let request = request.map_err(|error| TransportError::Refused(error.to_string()))?;
            let response = request.send().await?;
            match response.status().as_u16() {
                200 => return Ok(response.bytes_stream().map_err(TransportError::from).boxed()),
                429 if retries_left > 0 => retries_left -= 1,
                status => return Err(TransportError::Refused(describe_error(status, response.headers()))),
            }
            sleep(BUSY_RETRIES.1).await;
        }
    }
}

/// The bytes of each read of the connection.
type ReadStream = BoxStream<'static, Result<Bytes, TransportError>>;

/// The status and code of Lambda's error, without its message.
fn describe_error(status: u16, headers: &http::HeaderMap) -> String {
    let kind = headers.get("x-amzn-errortype").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(':').next().unwrap_or_default();
    format!("a refusal of Lambda ({status} {})", sanitise_code(kind))
}

async fn read_head(reads: ReadStream) -> Result<Response, TransportError> {
    let mut output = output_stream(reads);
    let mut bytes = BytesMut::new();
    while let Some(more) = output.next().await {
        bytes.extend_from_slice(&more?);
        let read =
            ResponseHead::parse(&bytes).map_err(|_| TransportError::Refused("an answer without a head".to_owned()))?;
        if let Some((head, length)) = read {
            let first = bytes.split_off(length).freeze();
            let first = futures_util::stream::iter((!first.is_empty()).then_some(Ok(first)));
            let content_type = head.content_type().to_owned();
            return Ok(Response { status: head.status, content_type, body: first.chain(output).boxed() });
        }
        if bytes.len() > MAX_HEAD_BYTES {
            break;
        }
    }
    Err(TransportError::Refused("an answer without a head".to_owned()))
}

/// The output of the function, one chunk per read. A connection that ends before the function is an error.
fn output_stream(reads: ReadStream) -> BoxStream<'static, Result<Bytes, TransportError>> {
    let chunks = unfold(Some((reads, FrameDecoder::default())), |state| async move {
        let (mut reads, mut frames) = state?;
        loop {
            let payload = match reads.next().await {
                Some(Ok(read)) => frames.push(&read),
                Some(Err(error)) => Err(error),
                None if frames.is_complete => return None,
                None => Err(TransportError::Disconnected),
            };
            match payload {
                Ok(payload) if payload.is_empty() => {}
                Ok(payload) => return Some((Ok(payload), Some((reads, frames)))),
                Err(error) => return Some((Err(error), None)),
            }
        }
    });
    chunks.boxed()
}

/// The separator between head and body.
const SEPARATOR: [u8; 8] = [0; 8];

/// The head of a streamed response: a JSON document, eight NUL bytes, then the body.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct ResponseHead {
    #[serde(rename = "statusCode")]
    pub(crate) status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl ResponseHead {
    /// Parses a head; returns it with its length, or `None` while it is incomplete.
    pub(crate) fn parse(bytes: &[u8]) -> serde_json::Result<Option<(Self, usize)>> {
        let Some(end) = bytes.windows(SEPARATOR.len()).position(|window| window == SEPARATOR) else { return Ok(None) };
        let (document, _) = bytes.split_at(end);
        Ok(Some((serde_json::from_slice(document)?, end + SEPARATOR.len())))
    }

    pub(crate) fn content_type(&self) -> &str {
        let header = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        header.map(|(_, value)| value.as_str()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_parses_once_complete() {
        let text = r#"{"statusCode":200,"headers":{"Content-Type":"text/event-stream"},"cookies":[]}"#;
        let whole = [text.as_bytes(), &SEPARATOR, b"body"].concat();
        for at in 0..text.len() + SEPARATOR.len() {
            assert_eq!(ResponseHead::parse(&whole[..at]).unwrap(), None);
        }
        let (head, length) = ResponseHead::parse(&whole).unwrap().unwrap();
        assert_eq!((head.status, head.content_type()), (200, "text/event-stream"));
        assert_eq!(&whole[length..], b"body");
    }

    #[test]
    fn invalid_head_is_rejected() {
        assert!(ResponseHead::parse(b"plain text\0\0\0\0\0\0\0\0").is_err());
        assert_eq!(ResponseHead::parse(br#"{"errorMessage":"x"}"#).unwrap(), None);
    }
}
