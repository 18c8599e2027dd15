//! SDK connector for the embedded database: a channel within the server's process, a Unix socket from the processes of
//! commands. No TCP port is involved.
//!
//! The SDK encodes and decodes every request as for any other DynamoDB; only the transport differs, and requests are not
//! signed. A channel avoids the cost of TCP in the kernel and of HTTP on both sides, which is more than that of the
//! database.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_types::SdkConfig;
use tokio::sync::{mpsc, oneshot};

use super::operations::{self, Answer, Operation, ServedDatabase, TARGET};
use super::trouble::Health;

/// A request in the queue of the database thread.
#[derive(Debug)]
pub(super) struct DatabaseCall {
    operation: Operation,
    body: SdkBody,
    answer: oneshot::Sender<Answer>,
}

impl DatabaseCall {
    /// Runs the call, unless its caller gave up while it was queued.
    fn run(self, served: &ServedDatabase, health: &Health) {
        if self.answer.is_closed() {
            return;
        }
        let answer = match health.check() {
            Some(trouble) => trouble.answer(),
            None => (self.operation)(served, self.body.bytes().unwrap_or_default()),
        };
        health.record(&answer, &served.database, Instant::now());
        // The caller may be gone by now.
        let _received = self.answer.send(answer);
    }
}

/// Runs calls one after another, each as its own task: a panic ends only that call, and connections run in between.
pub(super) async fn run_calls(
    mut calls: mpsc::UnboundedReceiver<DatabaseCall>,
    served: ServedDatabase,
    health: Health,
) {
    let shared = Arc::new((served, health));
    while let Some(call) = calls.recv().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move { call.run(&shared.0, &shared.1) });
    }
}

/// The sending end of the channel to the database thread.
///
/// It needs no bound: a queued call holds only memory that its caller holds anyway, and opens no connection.
#[derive(Clone, Debug)]
pub(super) struct CallSender(mpsc::UnboundedSender<DatabaseCall>);

impl CallSender {
    pub(super) fn channel() -> (Self, mpsc::UnboundedReceiver<DatabaseCall>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Returns the database's answer; an error when the call or the database ended without one.
    pub(super) async fn call(&self, operation: Operation, body: SdkBody) -> Result<Answer, ConnectorError> {
        let (answer, answered) = oneshot::channel();
        self.0.send(DatabaseCall { operation, body, answer }).map_err(|_| disconnected())?;
        answered.await.map_err(|_| disconnected())
    }

    async fn response(&self, request: &HttpRequest) -> Result<Answer, ConnectorError> {
        let operation = operations::operation_named(request.headers().get(TARGET).unwrap_or_default());
        let body = request.body().try_clone().ok_or_else(|| other_error("the request is a stream".into()))?;
        self.call(operation, body).await
    }
}

/// The error of a closed connection: the SDK may retry.
fn disconnected() -> ConnectorError {
    ConnectorError::io("the database ended before it answered".into())
}

fn other_error(error: Box<dyn std::error::Error + Send + Sync>) -> ConnectorError {
    ConnectorError::other(error, None)
}

/// Route of requests to the database.
#[derive(Clone, Debug)]
pub(super) enum Route {
    /// The database is in this process.
    Channel(CallSender),
    /// A server has it open in this data folder.
    Socket(PathBuf),
}

impl Route {
    /// Returns the same configuration for clients that use this route.
    pub(super) fn configure(&self, config: SdkConfig) -> SdkConfig {
        let mut config = config.into_builder();
        config.set_credentials_provider(None);
        config.http_client(InprocClient(self.clone())).build()
    }

    async fn response(&self, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
        let answer = match self {
            Self::Channel(calls) => calls.response(&request).await?,
            Self::Socket(folder) => super::socket::send(folder, request).await.map_err(ConnectorError::io)?,
        };
        answer.into_response().map_err(|error| other_error(error.into()))
    }
}

/// The SDK's HTTP client, and its only connector.
#[derive(Clone, Debug)]
struct InprocClient(Route);

impl HttpClient for InprocClient {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for InprocClient {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let route = self.0.clone();
        HttpConnectorFuture::new(async move { route.response(request).await })
    }
}
