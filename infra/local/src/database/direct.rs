//! The way from the server's own SDK client to the database in the same process: a channel, without sockets.
//!
//! Over TCP a call costs more in the kernel and in HTTP on both sides than in the database. The SDK stays, and writes
//! and reads every request as for any other DynamoDB; only what carries it is another, and it is not signed: nobody else
//! can hand in a call. What is not in `operations`, and what cannot be read, goes over HTTP, so that every answer is the
//! one that the HTTP server gives.

use std::sync::Arc;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_types::SdkConfig;
use dynoxide::Database;
use tokio::sync::{mpsc, oneshot};

use super::operations::{self, Answer, Operation, Served};
use super::tokens::Tokens;

/// A request on its way to the database's thread.
#[derive(Debug)]
pub(super) struct Call {
    operation: Operation,
    body: SdkBody,
    answer: oneshot::Sender<Option<Answer>>,
}

impl Call {
    /// What was given up while it waited is not done any more.
    fn perform(self, served: &Served) {
        if self.answer.is_closed() {
            return;
        }
        let answer = self.body.bytes().and_then(|body| (self.operation)(served, body));
        // Whoever asked may have gone meanwhile.
        let _taken = self.answer.send(answer);
    }
}

/// Performs calls one after another, each as a task of its own: a panic ends the one call alone, and connections have
/// their turn in between.
pub(super) async fn perform(mut calls: mpsc::UnboundedReceiver<Call>, database: Database) {
    let served = Arc::new(Served { database, tokens: Tokens::default() });
    while let Some(call) = calls.recv().await {
        let served = Arc::clone(&served);
        tokio::spawn(async move { call.perform(&served) });
    }
}

/// Where calls are handed in.
///
/// The channel needs no bound: a call that waits in it holds what its caller holds anyway, and opens no connection.
#[derive(Clone, Debug)]
pub(super) struct Calls(mpsc::UnboundedSender<Call>);

impl Calls {
    pub(super) fn channel() -> (Self, mpsc::UnboundedReceiver<Call>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// The database's answer, `None` where HTTP has to give it; an error when the call or the database ended without.
    pub(super) async fn ask(&self, operation: Operation, body: SdkBody) -> Result<Option<Answer>, ConnectorError> {
        let (answer, answered) = oneshot::channel();
        self.0.send(Call { operation, body, answer }).map_err(|_| gone())?;
        answered.await.map_err(|_| gone())
    }

    /// The same configuration for clients that come this way, where they can.
    pub(super) fn carry(&self, config: SdkConfig) -> SdkConfig {
        let Some(http) = config.http_client() else { return config };
        let mut config = config.into_builder();
        config.set_credentials_provider(None);
        config.http_client(Direct { calls: self.clone(), http }).build()
    }

    async fn response(&self, request: &HttpRequest) -> Result<Option<HttpResponse>, ConnectorError> {
        let operation = request.headers().get("x-amz-target").and_then(operations::named);
        let (Some(operation), Some(body)) = (operation, request.body().try_clone()) else { return Ok(None) };
        let answer = self.ask(operation, body).await?;
        answer.map(Answer::into_response).transpose().map_err(|error| ConnectorError::other(error.into(), None))
    }
}

/// The HTTP server reads no signature, and refuses what has none.
fn as_if_signed(mut request: HttpRequest) -> HttpRequest {
    let headers = request.headers_mut();
    headers.insert("authorization", "AWS4-HMAC-SHA256 Credential=local, SignedHeaders=host, Signature=none");
    headers.insert("x-amz-date", "19700101T000000Z");
    request
}

/// As a closed connection would be: the SDK may try again.
fn gone() -> ConnectorError {
    ConnectorError::io("the database ended before it answered".into())
}

/// The SDK's HTTP client.
#[derive(Debug)]
struct Direct {
    calls: Calls,
    http: SharedHttpClient,
}

impl HttpClient for Direct {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        let http = self.http.http_connector(settings, components);
        SharedHttpConnector::new(DirectConnector { calls: self.calls.clone(), http })
    }
}

#[derive(Debug)]
struct DirectConnector {
    calls: Calls,
    http: SharedHttpConnector,
}

impl HttpConnector for DirectConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (calls, http) = (self.calls.clone(), self.http.clone());
        HttpConnectorFuture::new(async move {
            match calls.response(&request).await? {
                Some(response) => Ok(response),
                None => http.call(as_if_signed(request)).await,
            }
        })
    }
}
