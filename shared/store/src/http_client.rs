//! The SDK's HTTP client: the product's own, so that one HTTP and TLS implementation is linked.

use std::sync::Arc;
use std::time::Duration;

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use platform::transport::{self, Client, TransportError};
use reqwest::{Method, Response};
use tokio::sync::Semaphore;

/// The maximum number of requests in flight.
///
/// At DynamoDB's latency of some milliseconds that allows more than ten thousand requests a second. A function's
/// instance with one turn never reaches it. Without this limit a thousand simultaneous turns open a thousand
/// connections, which the server does not accept in time. Each of them then waits for a timeout, and nothing is stored
/// meanwhile.
const MAX_IN_FLIGHT: usize = 64;

/// The SDK's HTTP client, and its only connector. It limits the requests in flight; the wait counts against their timeouts.
#[derive(Clone, Debug)]
pub(crate) struct SdkHttpClient {
    http: Client,
    permits: Arc<Semaphore>,
}

impl SdkHttpClient {
    /// # Errors
    /// TLS cannot be configured.
    pub(crate) fn new(connect_timeout: Duration) -> Result<Self, TransportError> {
        let http = transport::build_client_with(connect_timeout)?;
        Ok(Self { http, permits: Arc::new(Semaphore::new(MAX_IN_FLIGHT)) })
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
        let _permit = self.permits.acquire().await.map_err(other_error)?;
        let method = Method::from_bytes(request.method().as_bytes()).map_err(user_error)?;
        let body = request.body().bytes().ok_or_else(|| user_error("the request is a stream"))?.to_vec();
        let mut sent = self.http.request(method, request.uri()).body(body);
        for (name, value) in request.headers() {
            sent = sent.header(name, value);
        }
        to_sdk(sent.send().await.map_err(connector_error)?).await
    }
}

impl HttpClient for SdkHttpClient {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for SdkHttpClient {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let client = self.clone();
        HttpConnectorFuture::new(async move { client.send(request).await })
    }
}

/// Reads the whole response; those of DynamoDB have 16 MB at most.
async fn to_sdk(response: Response) -> Result<HttpResponse, ConnectorError> {
    let status = StatusCode::try_from(response.status().as_u16()).map_err(other_error)?;
    let headers = response.headers().clone();
    let body = response.bytes().await.map_err(connector_error)?;
    let mut response = HttpResponse::new(status, SdkBody::from(body));
    for (name, value) in &headers {
        let value = value.to_str().map_err(other_error)?.to_owned();
        response.headers_mut().try_append(name.as_str().to_owned(), value).map_err(other_error)?;
    }
    Ok(response)
}

/// The SDK retries timeouts and interrupted connections.
fn connector_error(error: reqwest::Error) -> ConnectorError {
    if error.is_timeout() {
        ConnectorError::timeout(error.into())
    } else if error.is_builder() {
        user_error(error)
    } else {
        ConnectorError::io(error.into())
    }
}

fn user_error(error: impl Into<BoxError>) -> ConnectorError {
    ConnectorError::user(error.into())
}

fn other_error(error: impl Into<BoxError>) -> ConnectorError {
    ConnectorError::other(error.into(), None)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
    use tokio::time::timeout;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    /// Counts the requests that wait for their responses.
    #[derive(Clone, Default)]
    struct InFlight {
        now: Arc<AtomicUsize>,
        peak: Arc<AtomicUsize>,
    }

    async fn serve(mut stream: TcpStream, in_flight: InFlight, arrived: UnboundedSender<()>, answers: Arc<Semaphore>) {
        let mut request = [0; 4096];
        while stream.read(&mut request).await.is_ok_and(|length| length > 0) {
            in_flight.peak.fetch_max(in_flight.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            arrived.send(()).unwrap();
            answers.acquire().await.unwrap().forget();
            in_flight.now.fetch_sub(1, Ordering::SeqCst);
            stream.write_all(b"HTTP/1.1 201 Created\r\ncontent-length: 2\r\nx-a: b\r\n\r\n{}").await.unwrap();
        }
    }

    fn request(url: &str) -> HttpRequest {
        let mut request = HttpRequest::new(SdkBody::from("{}"));
        request.set_uri(url.to_owned()).unwrap();
        request.set_method("POST").unwrap();
        request
    }

    #[tokio::test]
    async fn f078_requests_in_flight_are_limited() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (in_flight, answers) = (InFlight::default(), Arc::new(Semaphore::new(0)));
        let (sender, mut arrived) = unbounded_channel();
        let (counted, released) = (in_flight.clone(), Arc::clone(&answers));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, counted.clone(), sender.clone(), Arc::clone(&released)));
            }
        });
        let client = SdkHttpClient::new(LIMIT).unwrap();
        let calls = tokio::spawn(join_all((0..300).map(|_| client.call(request(&url)))));
        for _ in 0..MAX_IN_FLIGHT {
            timeout(LIMIT, arrived.recv()).await.unwrap();
        }
        answers.add_permits(300);
        let answered = timeout(LIMIT, calls).await.unwrap().unwrap();
        assert_eq!(answered.len(), 300);
        for answer in answered {
            let answer = answer.unwrap();
            assert_eq!((answer.status().as_u16(), answer.headers().get("x-a")), (201, Some("b")));
            assert_eq!(answer.body().bytes(), Some(b"{}".as_slice()));
        }
        assert_eq!(in_flight.peak.load(Ordering::SeqCst), MAX_IN_FLIGHT);
    }

    #[tokio::test]
    async fn failures_have_the_kinds_that_the_sdk_retries() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}").await.unwrap();
            }
        });
        let client = SdkHttpClient::new(LIMIT).unwrap();
        assert!(client.call(request(&url)).await.unwrap_err().is_io(), "a cut response");
        assert!(client.call(request("http://127.0.0.1:1/")).await.unwrap_err().is_io(), "no server");
        assert!(client.call(request("nonsense")).await.unwrap_err().is_user(), "no address");
    }
}
