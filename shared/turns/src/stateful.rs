use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use agent::EventLog;
use domain::{ErrorCode, Event, Failure, FinishReason, Note, NumberedSources, Summary};
use store::{
    Answer, ConversationStore, LeaseError, LeaseState, ReadError, StoreError, TurnEnd, TurnLease, UsageScope, UserInput,
};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;
use tools::SourceNumbers;

use crate::registry::TurnGuard;
use crate::replay::LogWriter;
use crate::request::{PromptInput, StartTurn};
use crate::runner::TurnRunner;
use crate::services::TurnServices;
use crate::stored_answer::stored_answer;

/// Characters read of earlier turns for each token that may be sent: long results are shortened afterwards.
const CHARS_PER_TOKEN: usize = 5;

/// Timeout for recovering the text of a turn that died, which the next turn can do without.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(2);

/// A turn that is stored as running.
pub(crate) struct StatefulTurn {
    pub(crate) services: TurnServices,
    pub(crate) guard: TurnGuard,
    pub(crate) lease: TurnLease,
    pub(crate) request: StartTurn,
    /// Set for a new conversation.
    pub(crate) title: Option<String>,
    pub(crate) started: Event,
    /// The answer's id.
    pub(crate) message_id: String,
    pub(crate) events: EventLog,
    /// The numbers of the conversation's pages, once they are loaded.
    pub(crate) sources: OnceLock<SourceNumbers>,
}

/// How a turn ended.
enum Ending {
    Answered(FinishReason),
    Failed(Failure),
    /// The conversation is deleted: nothing may be stored.
    Deleted,
    /// Another turn acquired the lease: nothing may be stored, and no stop of this turn was requested.
    Superseded,
}

/// The user stopped the turn; the partial answer is its answer.
const STOPPED: Ending = Ending::Answered(FinishReason::Stopped);

impl Ending {
    /// How metrics count it. A user who deletes a conversation stops its turn.
    fn outcome(&self) -> Result<FinishReason, ErrorCode> {
        match self {
            Self::Answered(reason) => Ok(*reason),
            Self::Failed(failure) => Err(failure.code),
            Self::Deleted => Ok(FinishReason::Stopped),
            Self::Superseded => Err(ErrorCode::Interrupted),
        }
    }

    fn terminal_event(&self) -> Event {
        match self {
            Self::Answered(finish_reason) => Event::End(Ok(*finish_reason)),
            Self::Failed(failure) => Event::End(Err(Box::new(failure.clone()))),
            Self::Deleted => Event::End(Ok(FinishReason::Stopped)),
            Self::Superseded => Event::End(Err(Box::new(ErrorCode::Interrupted.into()))),
        }
    }
}

impl StatefulTurn {
    /// Runs the turn, stores the answer with the rest of its log, and only then ends the stream: Lambda freezes the process
    /// after the last byte.
    pub(crate) async fn run(self) {
        let started_at = Instant::now();
        let runner = self.runner(started_at);
        let mut log = LogWriter::new(&self.services.store.streams, &self.request.owner, &self.lease, &self.events);
        self.events.send(self.started.clone());
        runner.log_accepted();
        let ended = CancellationToken::new();
        let answered = async {
            let ending = Box::pin(self.run_until_end(&runner)).await;
            ended.cancel();
            ending
        };
        let (ending, ()) = tokio::join!(answered, log.follow(&ended));
        let stored = Box::pin(self.store_end(ending, &mut log, &runner));
        let ((ending, title), ()) = tokio::join!(stored, runner.record_usage(UsageScope::Global));
        runner.report(ending.outcome());
        let closing = self.closing_events(&ending, title);
        if matches!(ending, Ending::Deleted) {
            log.discard().await;
        } else {
            log.finish(&closing).await;
            self.cache_completed(&mut log).await;
        }
        for event in closing {
            self.events.send(event);
        }
    }

    fn runner(&self, started_at: Instant) -> TurnRunner<'_> {
        TurnRunner {
            services: &self.services,
            owner: &self.request.owner,
            agent: &self.request.agent,
            language: self.request.agent.locale.language.unwrap_or(self.lease.language),
            deadline: self.request.deadline,
            turn_id: &self.lease.turn_id,
            events: &self.events,
            request: &self.request.request,
            conversation_id: &self.lease.conversation_id,
            started_at,
        }
    }

    /// Answers until there is an answer, or the lease, a deletion or a stop ends the turn.
    async fn run_until_end(&self, runner: &TurnRunner<'_>) -> Ending {
        tokio::select! {
            biased;
            answered = runner.run_guarded(&self.guard.shutdown, Box::pin(self.answer(runner))) => match answered {
                Ok(reason) => Ending::Answered(reason),
                Err(failure) => Ending::Failed(failure),
            },
            ending = self.keep_lease() => ending,
            () = self.guard.deleted.cancelled() => Ending::Deleted,
            () = self.guard.stop.cancelled() => STOPPED,
        }
    }

    async fn answer(&self, runner: &TurnRunner<'_>) -> Result<FinishReason, Failure> {
        self.recover_interrupted().await;
        let tokens = self.request.agent.agent.history_tokens;
        let max_chars = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(CHARS_PER_TOKEN);
        let history = self.services.store.conversations.history(&self.lease, max_chars);
        let earlier_sources = self.services.store.conversations.sources(&self.lease);
        let (history, summary, earlier_sources, ()) =
            tokio::join!(history, self.summary(), earlier_sources, runner.load_model_state());
        let history = history.map_err(|error| log_failure(&error))?;
        let earlier_sources = earlier_sources.map_err(|error| log_failure(&error))?;
        let sources = self.sources.get_or_init(|| SourceNumbers::continuing(&earlier_sources)).clone();
        let text = self.message().await.map_err(|error| log_failure(&error))?;
        let input = PromptInput { text, history, summary, client: None, sources };
        runner.answer(input, self.services.recorder.as_deref()).await
    }

    /// Recovers the text of the turn that died before this one, so that the history has it.
    async fn recover_interrupted(&self) {
        let Some(turn) = &self.lease.interrupted else { return };
        let recovered = self.services.store.recover_turn(&self.request.owner, turn, SystemTime::now());
        if !matches!(timeout(RECOVERY_TIMEOUT, recovered).await, Ok(Ok(_))) {
            tracing::warn!(turn = %turn.turn_id, "an interrupted answer was not recovered");
        }
    }

    /// The user message, also that of an answer that is regenerated.
    async fn message(&self) -> Result<String, StoreError> {
        match &self.request.question {
            UserInput::Message(message) => Ok(message.clone()),
            UserInput::Regenerate => self.services.store.conversations.load_user_message(&self.lease).await,
        }
    }

    /// The summary of the oldest turns, if the agent wants one; without it they are left out.
    async fn summary(&self) -> Option<Summary> {
        if !self.request.agent.agent.summarise {
            return None;
        }
        let read = self.services.store.conversations.summary(&self.lease).await;
        read.inspect_err(|error| tracing::warn!(%error, "a summary could not be read")).ok().flatten()
    }

    /// Renews the lease; returns when it is lost, or when another instance requests a stop.
    async fn keep_lease(&self) -> Ending {
        let period = ConversationStore::RENEWAL;
        let mut ticks = interval_at(Instant::now() + period, period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            match self.services.store.conversations.renew(&self.lease, SystemTime::now()).await {
                Ok(LeaseState::Active) => {}
                Ok(LeaseState::StopRequested) => return STOPPED,
                Err(LeaseError::Lost | LeaseError::Renamed) => return self.lost_lease().await,
                // The lease outlives a short fault of the store; a long one ends it.
                Err(LeaseError::Store(error)) => tracing::warn!(%error, "a lease could not be renewed"),
            }
        }
    }

    /// The ending of a turn that no longer holds its conversation.
    async fn lost_lease(&self) -> Ending {
        if self.guard.deleted.is_cancelled() || self.is_deleted().await {
            return Ending::Deleted;
        }
        tracing::warn!(turn = %self.lease.turn_id, "another turn acquired the lease; its clock may be ahead");
        Ending::Superseded
    }

    async fn is_deleted(&self) -> bool {
        let found = self.services.store.conversations.get(&self.request.owner, &self.lease.conversation_id).await;
        matches!(found, Err(ReadError::NotFound))
    }

    /// Stores the answer, however the turn ended, and the end of its log with it. Returns how the turn ended, and the title
    /// that it announces.
    async fn store_end(
        &self,
        ending: Ending,
        log: &mut LogWriter<'_>,
        runner: &TurnRunner<'_>,
    ) -> (Ending, Option<String>) {
        let own_usage = || runner.record_usage(UsageScope::User(&self.request.owner));
        let end = match &ending {
            Ending::Answered(reason) => TurnEnd::Done(*reason),
            Ending::Failed(failure) => TurnEnd::Failed(failure.code),
            Ending::Deleted | Ending::Superseded => {
                own_usage().await;
                return (ending, self.title.clone());
            }
        };
        let mut answer = stored_answer(self.events.turn_state().clone(), end, self.added_sources());
        answer.title.clone_from(&self.title);
        answer.error_message = match &ending {
            Ending::Failed(failure) if failure.message != failure.code.message() => Some(failure.message.clone()),
            _ => None,
        };
        let mut stored = self.finish(&answer, &ending, log, runner).await;
        if matches!(stored, Err(LeaseError::Renamed)) {
            // The user has named the conversation: there is no title to announce.
            answer.title = None;
            stored = self.finish(&answer, &ending, log, runner).await;
        }
        if stored != Ok(true) {
            own_usage().await;
        }
        let ending = match stored {
            Ok(together) => {
                self.guard.mark_stored();
                runner.log_stored();
                if !together {
                    // Not before: no record may be stored under a conversation that is deleted.
                    runner.record_executions(&self.message_id).await;
                }
                ending
            }
            Err(LeaseError::Lost | LeaseError::Renamed) => self.lost_lease().await,
            Err(LeaseError::Store(error)) => Ending::Failed(log_failure(&error)),
        };
        (ending, answer.title)
    }

    /// The numbered pages that the conversation lacks.
    fn added_sources(&self) -> Option<NumberedSources> {
        let sources = self.sources.get()?;
        Some(if self.lease.has_numbered_sources() { sources.added() } else { sources.all() })
    }

    /// Whether the usage and the calls were stored in the answer's transaction, and the end of the log if there is one.
    async fn finish(
        &self,
        answer: &Answer,
        ending: &Ending,
        log: &mut LogWriter<'_>,
        runner: &TurnRunner<'_>,
    ) -> Result<bool, LeaseError> {
        let tail = log.end(&self.closing_events(ending, answer.title.clone()));
        let has_tail = tail.is_some();
        let records = runner.prepare_records(&self.message_id);
        let mut writes =
            records.inspect_err(|error| tracing::warn!(%error, "records were not prepared")).unwrap_or_default();
        writes.extend(tail);
        let conversations = &self.services.store.conversations;
        let together = conversations.finish_with(&self.lease, answer, writes, SystemTime::now()).await?;
        log.mark_stored(together && has_tail);
        Ok(together)
    }

    /// The events that follow once the turn is stored.
    fn closing_events(&self, ending: &Ending, title: Option<String>) -> Vec<Event> {
        let usage = self.events.turn_state().usage();
        let title = title.map(|title| Event::Note(Note::Title(title.into())));
        title.into_iter().chain([Event::Note(Note::Usage(Box::new(usage))), ending.terminal_event()]).collect()
    }

    /// Caches the turn for clients that return, unless its conversation was deleted since its end was stored: that deletion
    /// cannot have seen what was logged afterwards.
    async fn cache_completed(&self, log: &mut LogWriter<'_>) {
        self.guard.cache_completed(&self.events);
        if log.may_outlive_deletion() && self.is_deleted().await || self.guard.deleted.is_cancelled() {
            self.services.registry.forget_completed(&self.request.owner, &self.lease.conversation_id);
            log.discard().await;
        }
    }
}

/// Logs a failure of the store within a turn; the embedded database itself logs that its disk is full or its file damaged.
fn log_failure(error: &StoreError) -> Failure {
    if !matches!(error, StoreError::Full | StoreError::Damaged) {
        tracing::error!(%error, "the storage failed");
    }
    error.code().into()
}
