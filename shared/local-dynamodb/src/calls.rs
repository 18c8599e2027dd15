//! The database thread and its queue.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_types::SdkConfig;
use dynoxide::Database;
use tokio::sync::oneshot;

use super::answer::{Answer, Trouble};
use super::health::Health;
use super::operations::{self, Operation, TARGET};
use super::socket;

/// Interval for removing expired items; readers check the expiry themselves in between.
const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

/// A request in the queue of the database thread.
#[derive(Debug)]
struct DatabaseCall {
    operation: Operation,
    body: SdkBody,
    answer: oneshot::Sender<Answer>,
}

impl DatabaseCall {
    /// Runs the call, unless its caller gave up while it was queued.
    fn run(self, database: &Database, health: &Health) {
        if self.answer.is_closed() {
            return;
        }
        let answer = match health.check() {
            Some(trouble) => trouble.into(),
            None => self.execute(database, health),
        };
        health.record(&answer, database, Instant::now());
        // The caller may be gone by now.
        let _received = self.answer.send(answer);
    }

    fn execute(&self, database: &Database, health: &Health) -> Answer {
        let body = self.body.bytes().unwrap_or_default();
        let execute = || (self.operation.execute)(database, body);
        match (execute(), &health.reserve) {
            (answer, Some(reserve)) if answer.trouble == Some(Trouble::Full) && (self.operation.is_deletion)(body) => {
                reserve.delete(execute)
            }
            (answer, _) => answer,
        }
    }
}

/// The database thread, so that no response waits while it writes to its file. Dropping this ends it: it has run what was
/// queued, and closed the file.
pub(super) struct DatabaseThread {
    calls: CallSender,
    thread: Option<JoinHandle<()>>,
}

impl DatabaseThread {
    pub(super) fn start(database: Database, health: Health) -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let run = move || run_calls(&receiver, &database, &health);
        let thread = thread::Builder::new().name("dynamodb".to_owned()).spawn(run)?;
        Ok(Self { calls: CallSender(sender), thread: Some(thread) })
    }

    pub(super) fn calls(&self) -> CallSender {
        self.calls.clone()
    }
}

impl Drop for DatabaseThread {
    fn drop(&mut self) {
        let _ended = self.calls.0.send(None);
        // A panic of the thread was already logged.
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

/// Runs calls one after another until the first `None`, and removes expired items in between. A panic ends only its call.
fn run_calls(calls: &Receiver<Option<DatabaseCall>>, database: &Database, health: &Health) {
    let mut next_sweep = Instant::now();
    loop {
        match calls.recv_timeout(next_sweep.saturating_duration_since(Instant::now())) {
            Ok(Some(call)) => drop(catch_unwind(AssertUnwindSafe(|| call.run(database, health)))),
            Err(RecvTimeoutError::Timeout) => {
                next_sweep = Instant::now() + SWEEP_INTERVAL;
                if let Err(error) = database.sweep_ttl() {
                    tracing::warn!(%error, "expired items could not be removed; they are tried again later");
                }
            }
            Ok(None) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// The sending end of the channel to the database thread.
///
/// It needs no bound: a queued call holds only memory that its caller holds anyway, and opens no connection.
#[derive(Clone, Debug)]
pub(super) struct CallSender(Sender<Option<DatabaseCall>>);

impl CallSender {
    /// Returns the database's answer; an error when the call or the database ended without one.
    pub(super) async fn call(&self, operation: Operation, body: SdkBody) -> Result<Answer, ConnectorError> {
        let (answer, answered) = oneshot::channel();
        self.0.send(Some(DatabaseCall { operation, body, answer })).map_err(|_| disconnected())?;
        answered.await.map_err(|_| disconnected())
    }
}

/// The error of a closed connection: the SDK may retry.
fn disconnected() -> ConnectorError {
    ConnectorError::io("the database ended before it answered".into())
}

/// Route of requests to the database: the SDK's HTTP client, which uses no TCP port.
///
/// The SDK encodes and decodes every request as for any other DynamoDB; only the transport differs, and requests are not
/// signed. A channel avoids the cost of TCP in the kernel and of HTTP on both sides, which is more than that of the
/// database.
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
        config.http_client(self.clone()).build()
    }

    async fn response(&self, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
        let answer = match self {
            Self::Channel(calls) => {
                let operation = operations::operation_named(request.headers().get(TARGET).unwrap_or_default());
                let body = request.body().try_clone().ok_or_else(|| other_error("the request is a stream".into()))?;
                calls.call(operation, body).await?
            }
            Self::Socket(folder) => socket::send(folder, request).await.map_err(ConnectorError::io)?,
        };
        answer.into_response().map_err(|error| other_error(error.into()))
    }
}

fn other_error(error: Box<dyn std::error::Error + Send + Sync>) -> ConnectorError {
    ConnectorError::other(error, None)
}

impl HttpClient for Route {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Route {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let route = self.clone();
        HttpConnectorFuture::new(async move { route.response(request).await })
    }
}
