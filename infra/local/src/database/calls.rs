//! Queue of the database thread.

use std::sync::Arc;
use std::time::Instant;

use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use dynoxide::Database;
use tokio::sync::{mpsc, oneshot};

use super::answer::Answer;
use super::health::Health;
use super::operations::Operation;
use super::trouble::Trouble;

/// A request in the queue of the database thread.
#[derive(Debug)]
pub(super) struct DatabaseCall {
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

/// Runs calls one after another, each as its own task: a panic ends only that call, and connections run in between.
pub(super) async fn run_calls(mut calls: mpsc::UnboundedReceiver<DatabaseCall>, database: Database, health: Health) {
    let shared = Arc::new((database, health));
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
}

/// The error of a closed connection: the SDK may retry.
fn disconnected() -> ConnectorError {
    ConnectorError::io("the database ended before it answered".into())
}
