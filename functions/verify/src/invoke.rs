use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws::Call;
use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, unfold};
use futures_util::{StreamExt, TryStreamExt};
use settings::{SettingError, Settings};
use smoke::{Door, Lost, Request, Response};
use tokio::time::sleep;

use crate::event;
use crate::frames::{Frames, plain};
use crate::head::Head;

/// Maximum length of a response head, in bytes.
const LONGEST_HEAD: usize = 64 * 1024;

/// Retries while no instance is available, and the pause before each. The function did not run in that case.
const BUSY: (u32, Duration) = (4, Duration::from_secs(1));

/// Maximum time that a request waits for an instance.
pub(crate) const LONGEST_WAIT: Duration = BUSY.1.saturating_mul(BUSY.0);

/// A transport to one version of a function, without its URL: `InvokeWithResponseStream` of Lambda's API of 2021-11-15.
#[derive(Clone)]
pub struct Invoke(Arc<Inner>);

struct Inner {
    http: transport::Client,
    lambda: aws::Service,
    path: String,
}

impl Invoke {
    /// Reads the version `CHECKED_VERSION` of `CHECKED_FUNCTION`.
    ///
    /// # Errors
    /// An invalid function or version, or no region or credentials.
    pub fn from_settings(settings: &Settings, http: transport::Client) -> Result<Self, SettingError> {
        let name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let named = |variable: &str, accepted: &str| {
            let told = settings.parsed(variable, accepted, |text| name(text).then(|| text.to_owned()))?;
            told.ok_or_else(|| SettingError::new(variable, accepted))
        };
        let function = named("CHECKED_FUNCTION", "the name of a function")?;
        let version = named("CHECKED_VERSION", "the number of a version")?;
        let path = format!("/2021-11-15/functions/{function}/response-streaming-invocations?Qualifier={version}");
        let lambda = aws::Service::from_settings(settings, "lambda", "AWS_ENDPOINT_URL_LAMBDA")?;
        Ok(Self(Arc::new(Inner { http, lambda, path })))
    }
}

impl Door for Invoke {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, Lost>> {
        let event = event::written(request, SystemTime::now()).to_string();
        Box::pin(async move { begun(self.0.invoked(event).await?).await })
    }
}

impl Inner {
    /// Invokes the version; a success is Lambda's response, not yet the version's.
    async fn invoked(&self, event: String) -> Result<Reads, Lost> {
        let mut left = BUSY.0;
        loop {
            let call =
                Call { path: &self.path, headers: &[("content-type", "application/json")], body: event.clone().into() };
            let request = self.lambda.request(&self.http, call, SystemTime::now());
            let request = request.map_err(|error| Lost::Refused(error.to_string()))?;
            let response = request.send().await?;
            match response.status().as_u16() {
                200 => return Ok(response.bytes_stream().map_err(Lost::from).boxed()),
                429 if left > 0 => left -= 1,
                status => return Err(Lost::Refused(refusal(status, response.headers()))),
            }
            sleep(BUSY.1).await;
        }
    }
}

/// The bytes of each read of the connection.
type Reads = BoxStream<'static, Result<Bytes, Lost>>;

/// The status and code of Lambda's error, without its message.
fn refusal(status: u16, headers: &http::HeaderMap) -> String {
    let kind = headers.get("x-amzn-errortype").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(':').next().unwrap_or_default();
    format!("a refusal of Lambda ({status} {})", plain(kind))
}

/// Reads the head of a response.
async fn begun(reads: Reads) -> Result<Response, Lost> {
    let mut written = written(reads);
    let mut bytes = BytesMut::new();
    while let Some(more) = written.next().await {
        bytes.extend_from_slice(&more?);
        let read = Head::read(&bytes).map_err(|_| Lost::Refused("an answer without a head".to_owned()))?;
        if let Some((head, length)) = read {
            let first = bytes.split_off(length).freeze();
            let first = futures_util::stream::iter((!first.is_empty()).then_some(Ok(first)));
            let content_type = head.content_type().to_owned();
            return Ok(Response { status: head.status, content_type, body: first.chain(written).boxed() });
        }
        if bytes.len() > LONGEST_HEAD {
            break;
        }
    }
    Err(Lost::Refused("an answer without a head".to_owned()))
}

/// The output of the function, one chunk per read. A connection that ends before the function is an error.
fn written(reads: Reads) -> BoxStream<'static, Result<Bytes, Lost>> {
    let pieces = unfold(Some((reads, Frames::default())), |state| async move {
        let (mut reads, mut frames) = state?;
        loop {
            let payload = match reads.next().await {
                Some(Ok(read)) => frames.push(&read),
                Some(Err(lost)) => Err(lost),
                None if frames.ended() => return None,
                None => Err(Lost::Broken),
            };
            match payload {
                Ok(payload) if payload.is_empty() => {}
                Ok(payload) => return Some((Ok(payload), Some((reads, frames)))),
                Err(lost) => return Some((Err(lost), None)),
            }
        }
    });
    pieces.boxed()
}
