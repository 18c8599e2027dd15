use std::sync::OnceLock;
use std::time::SystemTime;

use agent::{ClientContext, EventLog};
use domain::{ErrorCode, Event, Failure, FinishReason, Message, NumberedSources, Summary};
use store::{Answer, ConversationStore, LeaseError, LeaseState, StoreError, TurnEnd, TurnLease, UsageScope, UserInput};
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;
use tools::SourceNumbers;

use crate::closing_events::closing_events;
use crate::files;
use crate::prompt_parts::prompt_parts;
use crate::registry::TurnGuard;
use crate::replay::LogWriter;
use crate::request::{PromptInput, StartTurn};
use crate::runner::TurnRunner;
use crate::services::TurnServices;
use crate::stored_answer::stored_answer;
use crate::telemetry::{log_accepted, log_stored};
use crate::title;

/// A turn that is stored as running.
pub(crate) struct StatefulTurn {
    pub(crate) services: TurnServices,
    pub(crate) guard: TurnGuard,
    pub(crate) lease: TurnLease,
    pub(crate) request: StartTurn,
    /// What the user wants of all answers.
    pub(crate) instructions: String,
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
    /// With an answer or a failure, which is stored.
    Ended(Result<FinishReason, Failure>),
    /// The conversation or the answer is deleted: nothing may be stored.
    Deleted,
    /// Another turn acquired the lease: nothing may be stored, and no stop of this turn was requested.
    Superseded,
}

/// The user stopped the turn; the partial answer is its answer.
const STOPPED: Ending = Ending::Ended(Ok(FinishReason::Stopped));

impl Ending {
    /// What metrics and clients see. A user who deletes a conversation stops its turn.
    fn outcome(&self) -> Result<FinishReason, Failure> {
        match self {
            Self::Ended(outcome) => outcome.clone(),
            Self::Deleted => Ok(FinishReason::Stopped),
            Self::Superseded => Err(ErrorCode::Interrupted.into()),
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
        log_accepted(&self.request.agent);
        let ended = CancellationToken::new();
        let answered = async {
            let (answer, title) = (Box::pin(self.run_until_end(&runner)), Box::pin(self.request_title(&runner)));
            let ending = title::with_title(answer, title).await;
            ended.cancel();
            ending
        };
        let ((ending, new_title), ()) = tokio::join!(answered, log.follow(&ended));
        let stored = Box::pin(self.store_end(ending, new_title, &mut log, &runner));
        let ((ending, title), ()) = tokio::join!(stored, runner.record_shared_usage());
        runner.report(ending.outcome().map_err(|failure| failure.code), matches!(ending, Ending::Deleted));
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
            membership: &self.request.membership,
            agent: &self.request.agent,
            language: self.request.agent.locale.language.unwrap_or(self.lease.language),
            deadline: self.request.deadline,
            turn_id: &self.lease.turn_id,
            events: &self.events,
            request: &self.request.request,
            conversation_id: &self.lease.conversation_id,
            earlier_calls: self.lease.continued.as_ref().map_or(0, |continued| continued.message.tool_calls.len()),
            started_at,
            keeps_text: !self.lease.is_temporary(),
            is_task: false,
            question: OnceLock::new(),
        }
    }

    /// Answers until there is an answer, or the lease, a deletion or a stop ends the turn.
    async fn run_until_end(&self, runner: &TurnRunner<'_>) -> Ending {
        tokio::select! {
            biased;
            answered = runner.run_guarded(&self.guard.shutdown, Box::pin(self.answer(runner))) => Ending::Ended(answered),
            ending = self.keep_lease() => ending,
            () = self.guard.deleted.cancelled() => Ending::Deleted,
            () = self.guard.stop.cancelled() => STOPPED,
        }
    }

    async fn answer(&self, runner: &TurnRunner<'_>) -> Result<FinishReason, Failure> {
        self.recover_interrupted().await;
        let (owner, agent) = (&self.request.owner, &self.request.agent);
        let conversations = &self.services.store.conversations;
        let (history, earlier_sources) =
            (conversations.history(&self.lease, agent.history_chars()), conversations.sources(&self.lease));
        let (history, summary, earlier_sources, continued, ()) = tokio::join!(
            history,
            self.summary(),
            earlier_sources,
            conversations.continued_transcript(&self.lease),
            runner.load_model_state()
        );
        let mut recorder = self.services.recorder.as_deref().filter(|_| !self.lease.is_temporary());
        if self.lease.continued.is_some() {
            self.events.turn_state().restore_rounds(continued.map_err(|error| log_failure(&error))?);
            // A recording begins with the question.
            recorder = None;
        }
        let mut history = history.map_err(|error| log_failure(&error))?;
        let earlier_sources = earlier_sources.map_err(|error| log_failure(&error))?;
        let sources = self.sources.get_or_init(|| SourceNumbers::continuing(&earlier_sources)).clone();
        let mut question = self.question().await.map_err(|error| log_failure(&error))?;
        let is_temporary = self.lease.is_temporary();
        if let Some(attachments) = self.services.attachments.as_ref().filter(|_| !is_temporary) {
            attachments.keep_all(owner, &self.request.attachments).await.map_err(files::logged)?;
        }
        let tools = files::load(&self.services, owner, agent, &mut history, &mut question).await?;
        if history.iter().flat_map(|turn| &turn.messages).chain(&question).any(|one| !one.attachments().is_empty()) {
            // A recording has texts only.
            recorder = None;
        }
        let (history, (text, attachments), trailing_messages) = prompt_parts(history, question);
        let context = self.request.client.as_ref().map(|client| client.context.clone());
        let has_input = context.is_some() || !trailing_messages.is_empty();
        let client = has_input.then(|| ClientContext { trailing_messages, ..context.unwrap_or_default() });
        let instructions = self.instructions.clone();
        let input = PromptInput { text, attachments, history, summary, instructions, client, sources, tools };
        runner.answer(input, recorder).await
    }

    /// A model's title for the conversation, if it has none yet and this turn may request one.
    async fn request_title(&self, runner: &TurnRunner<'_>) -> Option<String> {
        let before = self.lease.replaceable_title.as_ref()?;
        let text = match &self.request.question {
            UserInput::Message(message) if self.lease.is_first() => message.clone(),
            UserInput::Message(message) => format!("{before}\n{message}"),
            UserInput::Regenerate => before.clone(),
            UserInput::Continue => return None,
        };
        title::request(runner, &text).await
    }

    /// Recovers the text of the turn that died before this one, so that the history has it.
    async fn recover_interrupted(&self) {
        let Some(turn) = &self.lease.interrupted else { return };
        self.services.recover_turn(&self.request.owner, turn).await;
    }

    /// The user's input, also that of an answer that is regenerated or continued.
    async fn question(&self) -> Result<Vec<Message>, StoreError> {
        let client = self.request.client.as_ref().filter(|client| !client.request.input.is_empty());
        match (&self.request.question, client) {
            (UserInput::Message(_), Some(client)) => Ok(client.request.input.clone()),
            (UserInput::Message(text), None) => {
                let (text, attachments) = (text.clone(), self.request.attachments.clone());
                Ok(vec![Message::User { text, attachments }])
            }
            (UserInput::Regenerate | UserInput::Continue, _) => {
                self.services.store.conversations.load_input(&self.lease).await
            }
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
        let TurnLease { conversation_id, answer_seq, .. } = &self.lease;
        let deleted = self.services.store.conversations.is_deleted(&self.request.owner, conversation_id, *answer_seq);
        deleted.await.is_ok_and(|deleted| deleted)
    }

    /// Stores the answer, however the turn ended, and the end of its log with it. Returns how the turn ended, and the title
    /// that it announces.
    async fn store_end(
        &self,
        ending: Ending,
        new_title: Option<String>,
        log: &mut LogWriter<'_>,
        runner: &TurnRunner<'_>,
    ) -> (Ending, Option<String>) {
        let own_usage = || runner.record_usage(UsageScope::User(&self.request.owner));
        let Ending::Ended(outcome) = &ending else {
            own_usage().await;
            return (ending, self.title.clone());
        };
        let end =
            outcome.as_ref().map_or_else(|failure| TurnEnd::Failed(failure.code), |reason| TurnEnd::Done(*reason));
        let (state, continued) = (self.events.turn_state().clone(), self.lease.continued.as_deref());
        let mut answer = stored_answer(state, continued, end, self.added_sources());
        answer.title = new_title.as_ref().and(self.lease.replaceable_title.clone()).or_else(|| self.title.clone());
        answer.new_title = new_title;
        let failure = outcome.as_ref().err().filter(|failure| failure.message != failure.code.message());
        answer.outcome.error_message = failure.map(|failure| failure.message.clone());
        let mut stored = self.finish(&answer, &ending, log, runner).await;
        if matches!(stored, Err(LeaseError::Renamed)) {
            // The user has named the conversation: there is no title to announce.
            (answer.title, answer.new_title) = (None, None);
            stored = self.finish(&answer, &ending, log, runner).await;
        }
        if stored != Ok(true) {
            own_usage().await;
        }
        let ending = match stored {
            Ok(together) => {
                self.guard.mark_stored();
                log_stored(runner.started_at);
                if !together {
                    // Not before: no record may be stored under a conversation that is deleted.
                    runner.record_executions(&self.message_id).await;
                }
                ending
            }
            Err(LeaseError::Lost | LeaseError::Renamed) => self.lost_lease().await,
            Err(LeaseError::Store(error)) => Ending::Ended(Err(log_failure(&error))),
        };
        (ending, answer.new_title.or(answer.title))
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
        let title = answer.new_title.as_ref().or(answer.title.as_ref());
        let tail = log.end(&self.closing_events(ending, title.cloned()));
        let has_tail = tail.is_some();
        let mut writes = runner.prepare_records(&self.message_id);
        writes.extend(tail);
        let conversations = &self.services.store.conversations;
        let together = conversations.finish_with(&self.lease, answer, writes, SystemTime::now()).await?;
        log.mark_stored(together && has_tail);
        Ok(together)
    }

    /// The events that follow once the turn is stored.
    fn closing_events(&self, ending: &Ending, title: Option<String>) -> Vec<Event> {
        closing_events(&self.events, title, ending.outcome())
    }

    /// Caches the turn for clients that return, unless its conversation or answer was deleted since its end was stored: that deletion
    /// cannot have seen what was logged afterwards.
    async fn cache_completed(&self, log: &mut LogWriter<'_>) {
        self.guard.cache_completed(self.lease.answer_seq, &self.events);
        if log.may_outlive_deletion() && self.is_deleted().await || self.guard.deleted.is_cancelled() {
            self.services.registry.forget_completed(&self.request.owner, Some(&self.lease.conversation_id));
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
