use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use agent::{Agent, EventLog, PromptCache, Turn, TurnRecorderFactory};
use domain::{ErrorCode, Failure, FinishReason, Language, Membership, Owner, RequestOrigin, Usage};
use futures_util::FutureExt;
use futures_util::future::join_all;
use jiff::Timestamp;
use store::{AnswerWrites, Day, Execution, ReadError, Store, StoreError, TurnUsage, UsageScope};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tools::{CalculationBudget, OutboundRedactor, Progress, ResultBudget, SourceNumbers, ToolContext, UrlAllowlist};

use crate::request::{PromptInput, ResolvedAgent};
use crate::services::TurnServices;
use crate::sync::{StoredToolSupport, known_tool_support, publish_health_while, publish_support, pull_health};
use crate::telemetry::{StageLog, TurnContent, TurnReport, log_end, redaction};

/// Timeout for storing records of tool calls, which a turn can do without.
const RECORD_TIMEOUT: Duration = Duration::from_secs(2);

/// How long after its deadline a turn is ended that has not ended itself.
const DEADLINE_GRACE: Duration = Duration::from_secs(1);

/// Runs the agent for a turn, whether or not the conversation is stored.
pub(crate) struct TurnRunner<'a> {
    pub(crate) services: &'a TurnServices,
    pub(crate) owner: &'a Owner,
    pub(crate) membership: &'a Membership,
    pub(crate) agent: &'a ResolvedAgent,
    /// The language of the prompts.
    pub(crate) language: Language,
    pub(crate) deadline: Instant,
    pub(crate) turn_id: &'a str,
    pub(crate) events: &'a EventLog,
    pub(crate) request: &'a RequestOrigin,
    /// Empty for a stateless turn.
    pub(crate) conversation_id: &'a str,
    /// The number of calls of the answer that the turn continues.
    pub(crate) earlier_calls: usize,
    pub(crate) started_at: Instant,
    /// Whether traces and records of calls may have its text: not for a temporary conversation.
    pub(crate) keeps_text: bool,
    /// Whether no person wrote its question; it then counts as no turn.
    pub(crate) is_task: bool,
    /// The user message, once it is known and if traces have text.
    pub(crate) question: OnceLock<String>,
}

impl TurnRunner<'_> {
    /// Awaits the work until it ends or panics, the process shuts down, or the deadline has passed.
    pub(crate) async fn run_guarded(
        &self,
        shutdown: &CancellationToken,
        work: impl Future<Output = Result<FinishReason, Failure>>,
    ) -> Result<FinishReason, Failure> {
        tokio::select! {
            biased;
            answered = AssertUnwindSafe(work).catch_unwind() => answered.unwrap_or_else(|_| {
                tracing::error!(turn = %self.turn_id, "the turn panicked");
                Err(ErrorCode::Internal.into())
            }),
            () = shutdown.cancelled() => Err(ErrorCode::Interrupted.into()),
            // The agent keeps the deadline itself; this holds even if a part of it does not.
            () = sleep_until(self.deadline + DEADLINE_GRACE) => Err(ErrorCode::Deadline.into()),
        }
    }

    /// Loads what other instances know of the models.
    pub(crate) async fn load_model_state(&self) {
        let (store, models) = (&self.services.store, &self.agent.models);
        let support = join_all(models.first().map(|model| known_tool_support(store, model)));
        tokio::join!(support, pull_health(store, models));
    }

    /// Runs the agent to its end.
    pub(crate) async fn answer(
        &self,
        input: PromptInput,
        recorder: Option<&dyn TurnRecorderFactory>,
    ) -> Result<FinishReason, Failure> {
        let ResolvedAgent { models, tool_choice, .. } = self.agent;
        let store = &self.services.store;
        let PromptInput { text, attachments, history, summary, instructions, client, sources, tools } = input;
        let agent = &self.agent.agent;
        let with_tools = (!tools.is_empty()).then(|| Agent {
            tools: agent.tools.extended_with(tools),
            prompts: PromptCache::default(),
            ..agent.clone()
        });
        let agent = with_tools.as_ref().unwrap_or(agent);
        if self.captures_content() {
            self.question.get_or_init(|| text.clone());
        }
        let turn = Turn {
            id: self.turn_id.to_owned(),
            models,
            tool_modes: &StoredToolSupport(store),
            text,
            attachments,
            history,
            summary,
            instructions,
            client,
            tool_choice: tool_choice.clone(),
            context: self.tool_context(sources),
            today: self.today(),
            recorder: Some(&StageLog { started_at: self.started_at, recorder }),
        };
        let answered = publish_health_while(store, models, agent.run(&turn, self.events)).await;
        for model in models {
            publish_support(store, model).await;
        }
        answered
    }

    /// The date in the user's time zone.
    fn today(&self) -> String {
        Timestamp::now().to_zoned(self.agent.locale.time_zone.rule()).date().to_string()
    }

    pub(crate) fn tool_context(&self, sources: SourceNumbers) -> ToolContext {
        ToolContext {
            language: self.language,
            time_zone: self.agent.locale.time_zone.clone(),
            owner: self.owner.clone(),
            membership: self.membership.clone(),
            deadline: self.deadline,
            allowed_urls: UrlAllowlist::default(),
            sources,
            progress: Progress::default(),
            redactor: OutboundRedactor::new(self.services.redactor.clone()),
            calculation_budget: CalculationBudget::default(),
            result_budget: ResultBudget::default(),
        }
    }

    /// Adds the usage of the turn to one of the day's totals, however it ended, even if its conversation is deleted: a deletion
    /// is no way around a budget. A failure to write them does not fail the turn.
    pub(crate) async fn record_usage(&self, scope: UsageScope<'_>) {
        let (ledger, day) = (&self.services.store.ledger, Day::of(SystemTime::now()));
        let (usage, model) = self.usage();
        let turn = self.counted(&usage, &model);
        if let Err(error) = ledger.add(scope, day, &turn).await {
            tracing::warn!(%error, turn = %self.turn_id, "the usage of a turn could not be recorded");
        }
    }

    /// Adds the usage of the turn to the day's totals of all owners and of groups with a budget. At the same time lists its
    /// owner for tables of usage.
    pub(crate) async fn record_shared_usage(&self) {
        let listed = self.services.store.ledger.list_owner(self.owner, Day::of(SystemTime::now()));
        let groups = self.services.limits.budgets.of_groups(&self.membership.groups);
        let scopes = groups.map(|(name, _)| UsageScope::Group(name)).chain([UsageScope::Global]);
        let (_, listed) = tokio::join!(join_all(scopes.map(|scope| self.record_usage(scope))), listed);
        if let Err(error) = listed {
            tracing::warn!(%error, turn = %self.turn_id, "the owner of a turn could not be listed");
        }
    }

    /// The usage so far, and the name of the model that wrote last.
    fn usage(&self) -> (Usage, String) {
        let state = self.events.turn_state();
        let model = state.models().last().map_or(self.agent.model_name(), String::as_str).to_owned();
        (state.usage(), model)
    }

    fn counted<'b>(&'b self, usage: &'b Usage, model: &'b str) -> TurnUsage<'b> {
        TurnUsage { usage, model, groups: &self.membership.groups, is_task: self.is_task }
    }

    /// What is stored with an answer: its owner's usage, and the records of its tool calls.
    pub(crate) fn prepare_records(&self, message_id: &str) -> AnswerWrites {
        let (store, now) = (&self.services.store, SystemTime::now());
        let (usage, model) = self.usage();
        let mut writes = store.ledger.prepare(self.owner, Day::of(now), &self.counted(&usage, &model));
        writes.extend([store.executions.prepare(self.owner, &self.executions(message_id), now)]);
        writes
    }

    fn executions(&self, message_id: &str) -> Vec<Execution> {
        if !self.keeps_text {
            return Vec::new();
        }
        let (state, redactor) = (self.events.turn_state(), &self.services.redactor);
        redaction::executions(
            state.calls(),
            self.earlier_calls,
            redactor,
            message_id,
            &self.agent.id,
            self.conversation_id,
        )
    }

    /// Stores records of the tool calls of an answer that was stored without them; a failure does not fail the turn.
    pub(crate) async fn record_executions(&self, message_id: &str) {
        let executions = self.executions(message_id);
        if executions.is_empty() {
            return;
        }
        if !matches!(timeout(RECORD_TIMEOUT, self.store_executions(&executions)).await, Ok(Ok(()))) {
            tracing::warn!(calls = executions.len(), "the tool calls of a turn could not be recorded");
        }
    }

    /// Stores records, and deletes them if the conversation was deleted between the answer and this.
    async fn store_executions(&self, records: &[Execution]) -> Result<(), StoreError> {
        let Store { conversations, executions, .. } = &self.services.store;
        executions.record(self.owner, records, SystemTime::now()).await?;
        match conversations.get(self.owner, self.conversation_id).await {
            Err(ReadError::NotFound) => executions.delete_for_conversation(self.owner, self.conversation_id).await,
            _ => Ok(()),
        }
    }

    /// Whether traces of the turn have text: not those of a temporary conversation.
    fn captures_content(&self) -> bool {
        self.keeps_text && self.services.traces.captures_content()
    }

    /// Writes metrics and keeps traces of the turn, without text if it `is_deleted`; must be called before the last byte leaves.
    pub(crate) fn report(&self, outcome: Result<FinishReason, ErrorCode>, is_deleted: bool) {
        let state = self.events.turn_state().clone();
        let report = TurnReport {
            request: self.request,
            owner: self.owner,
            agent: &self.agent.id,
            conversation_id: self.conversation_id,
            turn_id: self.turn_id,
            model: self.agent.model_name(),
            models: &self.agent.models,
            tools: self.agent.agent.tools.names().map(str::to_owned).collect(),
            attempts: state.attempts.records(),
            usage: state.usage(),
            state: &state,
            started_at: self.started_at,
            ended_at: Instant::now(),
            outcome,
            content: (self.captures_content() && !is_deleted).then(|| TurnContent {
                question: self.question.get().map(String::as_str).unwrap_or_default(),
                redactor: &self.services.redactor,
            }),
        };
        log_end(&report);
        let now = SystemTime::now();
        self.services.metrics.turn(&report, now);
        self.services.traces.turn(&report, now);
    }
}
