use std::panic::AssertUnwindSafe;
use std::time::{Duration, SystemTime};

use agent::{Caller, EventLog, Recorder, Turn};
use conversation::{ErrorCode, Failure, FinishReason, PastTurn, Summary, new_id};
use futures_util::FutureExt;
use futures_util::future::join_all;
use store::{Day, Execution, Owner, ReadError, Store, StoreError};
use time::OffsetDateTime;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tools::{CalculationBudget, KnownPages, Outgoing, Progress, ToolContext};

use crate::begin::Chosen;
use crate::capabilities::Known;
use crate::{App, capabilities, executions, outages};

/// The longest that is waited for what may be lost.
const PATIENCE: Duration = Duration::from_secs(2);

/// A turn while it is answered, wherever its conversation is kept.
pub(crate) struct Answering<'a> {
    pub(crate) app: &'a App,
    pub(crate) owner: &'a Owner,
    pub(crate) chosen: &'a Chosen,
    pub(crate) deadline: Instant,
    pub(crate) turn_id: &'a str,
    pub(crate) events: &'a EventLog,
}

/// What is asked, and after what.
#[derive(Default)]
pub(crate) struct Past {
    pub(crate) text: String,
    pub(crate) history: Vec<PastTurn>,
    pub(crate) summary: Option<Summary>,
    pub(crate) caller: Option<Caller>,
}

impl Answering<'_> {
    /// Has the work done until it ends, panics, or the process or the time does.
    pub(crate) async fn within(
        &self,
        shutdown: &CancellationToken,
        work: impl Future<Output = Result<FinishReason, Failure>>,
    ) -> Result<FinishReason, Failure> {
        // The agent keeps the deadline itself; this holds even if something in it does not.
        tokio::select! {
            biased;
            answered = AssertUnwindSafe(work).catch_unwind() => answered.unwrap_or_else(|_| {
                tracing::error!(turn = %self.turn_id, "the turn panicked");
                Err(ErrorCode::Internal.into())
            }),
            () = shutdown.cancelled() => Err(ErrorCode::Interrupted.into()),
            () = sleep_until(self.deadline + Duration::from_secs(1)) => Err(ErrorCode::Deadline.into()),
        }
    }

    /// Learns what is known of the models.
    pub(crate) async fn learn(&self) {
        let (store, models) = (&self.app.store, &self.chosen.models);
        let capability = join_all(models.first().map(|model| capabilities::known(store, model)));
        tokio::join!(capability, outages::learn(store, models));
    }

    /// Has the agent answer.
    pub(crate) async fn answer(&self, past: Past, recorder: Option<&dyn Recorder>) -> Result<FinishReason, Failure> {
        let Chosen { agent, models, tool_choice, .. } = self.chosen;
        let store = &self.app.store;
        let Past { text, history, summary, caller } = past;
        let turn = Turn {
            id: self.turn_id.to_owned(),
            models,
            paths: &Known(store),
            text,
            history,
            summary,
            caller,
            tool_choice: tool_choice.clone(),
            context: self.context(),
            today: OffsetDateTime::now_utc().date().to_string(),
            nonce: new_id(),
            recorder,
        };
        let answered = outages::telling(store, models, agent.run(&turn, self.events)).await;
        for model in models {
            capabilities::remember(store, model).await;
        }
        answered
    }

    fn context(&self) -> ToolContext {
        ToolContext {
            owner: self.owner.clone(),
            deadline: self.deadline,
            pages: KnownPages::default(),
            progress: Progress::default(),
            outgoing: Outgoing::new(self.app.config.redactor.clone()),
            calculations: CalculationBudget::default(),
        }
    }

    /// Adds what the turn used to the day's sums, whatever ended it, also if its conversation is gone: a deletion is no way
    /// around a budget. Sums that cannot be written do not fail the turn.
    pub(crate) async fn count(&self) {
        let usage = self.events.draft().usage();
        let added = self.app.store.ledger.add(self.owner, Day::of(SystemTime::now()), &usage).await;
        if let Err(error) = added {
            tracing::warn!(%error, turn = %self.turn_id, "what a turn used could not be counted");
        }
    }

    /// Keeps what the tools were called with for an answer; a turn does not fail for it.
    pub(crate) async fn record(&self, conversation_id: &str, message_id: &str) {
        let calls: Vec<Execution> = {
            let draft = self.events.draft();
            let redactor = &self.app.config.redactor;
            executions::of_answer(&draft.calls, redactor, message_id, &self.chosen.agent_id, conversation_id)
        };
        if calls.is_empty() {
            return;
        }
        if !matches!(timeout(PATIENCE, self.keep(conversation_id, &calls)).await, Ok(Ok(()))) {
            tracing::warn!(calls = calls.len(), "the calls of a turn could not be kept");
        }
    }

    /// Keeps calls, unless a deletion came between the answer and this: it cannot have seen them.
    async fn keep(&self, conversation_id: &str, calls: &[Execution]) -> Result<(), StoreError> {
        let Store { conversations, executions, .. } = &self.app.store;
        executions.record(self.owner, calls, SystemTime::now()).await?;
        match conversations.get(self.owner, conversation_id).await {
            Err(ReadError::NotFound) => executions.forget(self.owner, conversation_id).await,
            _ => Ok(()),
        }
    }
}
