use std::panic::AssertUnwindSafe;
use std::time::{Duration, SystemTime};

use agent::{CallRecord, Draft, Events, Turn};
use conversation::{ErrorCode, Event, Failure, FinishReason, Summary, new_id};
use futures_util::FutureExt;
use futures_util::future::join_all;
use store::{
    Answer, ConversationStore, Day, Execution, LeaseError, Question, StoreError, StoredCall, TurnEnd, TurnLease,
};
use time::OffsetDateTime;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout};
use tools::{KnownPages, Progress, ToolContext};

use crate::begin::{Asked, Chosen};
use crate::capabilities::Known;
use crate::running::Place;
use crate::{App, capabilities, executions, outages};

/// The longest that is waited for what may be lost.
const PATIENCE: Duration = Duration::from_secs(2);

/// Characters that are read of earlier turns for a token that may be sent: long results are shortened on the way.
const CHARACTERS: usize = 5;

/// A turn that is stored as running and now runs.
pub(crate) struct TurnTask {
    pub(crate) app: App,
    pub(crate) place: Place,
    pub(crate) lease: TurnLease,
    pub(crate) asked: Asked,
    /// Set for a new conversation.
    pub(crate) title: Option<String>,
    pub(crate) started: Event,
    pub(crate) events: Events,
}

/// How a turn came to its end.
enum Ending {
    Answered(FinishReason),
    Failed(Failure),
    /// The conversation is deleted, or another turn took it over: nothing may be stored.
    Gone,
}

impl TurnTask {
    /// Runs the turn, stores the answer, and only then ends the stream: Lambda freezes the process after the last byte.
    pub(crate) async fn drive(self) {
        let _closing = self.events.closing();
        self.events.send(self.started.clone());
        let ending = self.until_end().await;
        let (ending, ()) = tokio::join!(self.save(ending), self.count());
        if let Some(title) = &self.title {
            self.events.send(Event::Title(title.clone()));
        }
        let usage = self.events.draft().usage();
        self.events.send(Event::Usage(usage));
        self.events.send(terminal(ending));
    }

    /// Answers until there is an answer or something ends the turn from outside.
    async fn until_end(&self) -> Ending {
        tokio::select! {
            answer = AssertUnwindSafe(self.answer()).catch_unwind() => match answer {
                Ok(Ok(reason)) => Ending::Answered(reason),
                Ok(Err(failure)) => Ending::Failed(failure),
                Err(_) => {
                    tracing::error!(turn = %self.lease.turn_id, "the turn panicked");
                    Ending::Failed(ErrorCode::Internal.into())
                }
            },
            () = self.keep_lease() => Ending::Gone,
            () = self.place.stop.cancelled() => Ending::Gone,
            () = self.place.shutdown.cancelled() => Ending::Failed(ErrorCode::Interrupted.into()),
            // The agent keeps the deadline itself; this holds even if something in it does not.
            () = sleep_until(self.asked.deadline + Duration::from_secs(1)) => Ending::Failed(ErrorCode::Deadline.into()),
        }
    }

    async fn answer(&self) -> Result<FinishReason, Failure> {
        let Chosen { agent, models, tool_choice, .. } = &self.asked.chosen;
        let store = &self.app.store;
        let most = usize::try_from(agent.history_tokens).unwrap_or(usize::MAX).saturating_mul(CHARACTERS);
        let history = store.conversations.history(&self.lease, most);
        let capability = join_all(models.first().map(|model| capabilities::known(store, model)));
        let (history, summary, _, ()) =
            tokio::join!(history, self.summary(), capability, outages::learn(store, models));
        let history = history.map_err(|error| crate::chat::storage(&error).0)?;
        let question = self.question().await.map_err(|error| crate::chat::storage(&error).0)?;
        let turn = Turn {
            id: self.lease.turn_id.clone(),
            models,
            paths: &Known(store),
            text: question,
            history,
            summary,
            caller: None,
            tool_choice: tool_choice.clone(),
            context: ToolContext {
                owner: self.asked.owner.clone(),
                deadline: self.asked.deadline,
                pages: KnownPages::default(),
                progress: Progress::default(),
            },
            today: OffsetDateTime::now_utc().date().to_string(),
            nonce: new_id(),
            recorder: self.app.config.recorder.as_deref(),
        };
        let answered = outages::telling(store, models, agent.run(&turn, &self.events)).await;
        for model in models {
            capabilities::remember(store, model).await;
        }
        answered
    }

    /// The user's words, those of the message that is answered again too.
    async fn question(&self) -> Result<String, StoreError> {
        match &self.asked.question {
            Question::Words(words) => Ok(words.clone()),
            Question::Again => self.app.store.conversations.question(&self.lease).await,
        }
    }

    /// What stands for the oldest turns, where the agent wants that; without it they are just left out.
    async fn summary(&self) -> Option<Summary> {
        if !self.asked.chosen.agent.summarise {
            return None;
        }
        let read = self.app.store.conversations.summary(&self.lease).await;
        read.inspect_err(|error| tracing::warn!(%error, "a summary could not be read")).ok().flatten()
    }

    /// Renews the lease for as long as it can; ends when it is lost.
    async fn keep_lease(&self) {
        let period = ConversationStore::LEASE / 3;
        let mut ticks = interval_at(Instant::now() + period, period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            match self.app.store.conversations.renew(&self.lease, SystemTime::now()).await {
                Ok(()) => {}
                Err(LeaseError::Lost) => return,
                // The lease outlives a short fault of the storage; a long one ends it.
                Err(LeaseError::Store(error)) => tracing::warn!(%error, "a lease could not be renewed"),
            }
        }
    }

    /// Adds what the turn used to the day's sums, whatever ended it, also if its conversation is gone: a deletion is no way
    /// around a budget. Sums that cannot be written do not fail the turn.
    async fn count(&self) {
        let usage = self.events.draft().usage();
        let added = self.app.store.ledger.add(&self.asked.owner, Day::of(SystemTime::now()), &usage).await;
        if let Err(error) = added {
            tracing::warn!(%error, turn = %self.lease.turn_id, "what a turn used could not be counted");
        }
    }

    /// Stores what was said, whatever ended the turn.
    async fn save(&self, ending: Ending) -> Ending {
        let end = match &ending {
            Ending::Answered(reason) => TurnEnd::Done(*reason),
            Ending::Failed(failure) => TurnEnd::Failed(failure.code),
            Ending::Gone => return ending,
        };
        let draft = self.events.draft().clone();
        let calls = executions::of_turn(
            &draft.calls,
            &self.lease.turn_id,
            &self.asked.chosen.agent_id,
            &self.lease.conversation_id,
        );
        let (answer, now) = (stored(draft, end), SystemTime::now());
        match self.app.store.conversations.finish(&self.lease, &answer, now).await {
            Ok(()) => {
                // Not before: nothing may be kept under a conversation that is gone.
                self.record(&calls, now).await;
                ending
            }
            Err(LeaseError::Lost) => Ending::Gone,
            Err(LeaseError::Store(error)) => Ending::Failed(crate::chat::storage(&error).0),
        }
    }

    /// Keeps what the tools were called with; a turn does not fail for it.
    async fn record(&self, calls: &[Execution], now: SystemTime) {
        if calls.is_empty() {
            return;
        }
        let recorded = timeout(PATIENCE, self.app.store.executions.record(&self.asked.owner, calls, now)).await;
        if !matches!(recorded, Ok(Ok(()))) {
            tracing::warn!(calls = calls.len(), "the calls of a turn could not be kept");
        }
    }
}

fn terminal(ending: Ending) -> Event {
    match ending {
        Ending::Answered(finish_reason) => Event::Done { finish_reason },
        Ending::Failed(failure) => Event::Failed(failure),
        Ending::Gone => Event::Done { finish_reason: FinishReason::Stopped },
    }
}

fn stored(draft: Draft, end: TurnEnd) -> Answer {
    Answer {
        content: draft.content.clone(),
        thinking: draft.thinking.clone(),
        tool_calls: draft.calls.iter().map(stored_call).collect(),
        sources: draft.sources.clone(),
        end,
        usage: draft.usage(),
        summary: draft.summary.clone(),
        models: draft.models().to_vec(),
        transcript: draft.transcript(),
    }
}

fn stored_call(record: &CallRecord) -> StoredCall {
    let (ok, summary) = match &record.report {
        Some(report) => (report.ok, report.summary.clone()),
        None => (false, "not finished".to_owned()),
    };
    StoredCall {
        id: record.call.id.clone(),
        name: record.call.name.clone(),
        arguments: record.call.arguments.clone(),
        ok,
        summary,
    }
}
