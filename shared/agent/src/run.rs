mod client_tools;
mod deadlines;
mod direct_results;
mod failover;
mod history;
mod missing_call;
mod on_error;
mod prefetch;
mod request;
mod transcript;

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use domain::{ErrorCode, Failure, FinishReason, HistoryTurn, Message, Summary, ToolSpec};
use llm::{Finish, ModelClient, ToolMode};
use tools::{ToolContext, ToolSession};

use self::deadlines::Deadlines;
use crate::attached::with_documents;
use crate::earlier_results::cut_results;
use crate::round::{Correction, Round};
use crate::{Agent, EventLog, PreSearch, Turn, TurnRecorder, compactness};
use prompts::AgentTexts;

/// Default maximum number of rounds with tools, for prompted tools.
const PROMPTED_ROUNDS: u32 = 3;

/// Default maximum number of rounds with tools, for native tools.
const NATIVE_ROUNDS: u32 = 10;

/// Maximum number of rounds with tools of a deep search, unless the agent has its own.
const DEEP_ROUNDS: u32 = 12;

/// Maximum number of rounds in a row in which no call fits the schema of its tool: the first one and two repairs.
const MAX_INVALID_ROUNDS: u32 = 3;

/// Number of equal calls in one turn that ends the rounds with tools.
const MAX_EQUAL_CALLS: usize = 3;

impl Agent {
    /// Runs the turn to its end and returns why the answer ends there. It sends all events but the first and the last
    /// ones.
    ///
    /// # Errors
    /// The failure for the client. The draft of `events` holds the answer until then.
    pub async fn run(&self, turn: &Turn<'_>, events: &EventLog) -> Result<FinishReason, Failure> {
        let Some(first) = turn.models.first() else { return Err(ErrorCode::Internal.into()) };
        let run = Run::new(self, turn, events, turn.tool_modes.tool_mode(first).await);
        let (session, prefetched) = (Arc::clone(&run.session), run.search_call(PreSearch::Concurrent, ""));
        let mut answer = Box::pin(run.run_rounds());
        let answered = async {
            tokio::select! {
                biased;
                answer = &mut answer => answer,
                // It ends with the turn at the latest: nothing runs after that.
                () = prefetch::run(&session, prefetched.as_ref(), events) => answer.await,
            }
        };
        let answered = tokio::select! {
            biased;
            answered = answered => answered,
            () = events.wait_until_full() => Ok(FinishReason::Length),
        };
        // The end of the reply may have arrived together with the text that was dropped.
        if events.is_full() { Ok(FinishReason::Length) } else { answered }
    }
}

/// The earlier turns as prompts need them. Those of earlier releases hold results that were not cut when their turn ended.
fn earlier_turns(turn: &Turn<'_>, texts: &AgentTexts) -> Vec<HistoryTurn> {
    let render = |HistoryTurn { seq, messages }: HistoryTurn| HistoryTurn {
        seq,
        messages: messages.into_iter().map(|message| with_documents(texts, message)).collect(),
    };
    let mut earlier_turns: Vec<_> = turn.history.iter().cloned().map(render).collect();
    if turn.client.is_none() {
        for earlier in &mut earlier_turns {
            cut_results(&mut earlier.messages, turn.context.language);
        }
    }
    earlier_turns
}

/// Whether a round has tools, and if not, how the turn then ends.
enum Phase {
    Tools,
    Last(FinishReason),
}

/// How a prompt has the pictures of its messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pictures {
    /// As they are, if the model takes them as far as is known.
    Sent,
    /// By their names, because the model has refused earlier ones.
    Named,
}

struct Run<'a> {
    agent: &'a Agent,
    turn: &'a Turn<'a>,
    events: &'a EventLog,
    recorder: Option<Arc<dyn TurnRecorder>>,
    session: Arc<ToolSession>,
    specs: Arc<[ToolSpec]>,
    texts: &'static AgentTexts,
    /// The earlier turns, with cut results unless the client keeps the conversation.
    earlier_turns: Vec<HistoryTurn>,
    /// The messages of earlier turns in the prompt.
    history: Vec<Message>,
    /// The messages of this turn: the user message first.
    messages: Vec<Message>,
    summary: Option<Summary>,
    /// How many turns the last requested summary was to cover.
    summarised_turns: usize,
    /// The tokens around a call and its result where they are written as text, for the current model.
    result_frame_tokens: u64,
    /// Maximum number of tokens of a prompt, after one was too long.
    max_prompt_tokens: Option<u64>,
    model_index: usize,
    tool_mode: ToolMode,
    /// The best failure of the models so far (`failover`), for the client if the next one fails too.
    failure: Option<Failure>,
    /// How many bytes of the draft's content `messages` contain.
    text_in_messages: usize,
    rounds: u32,
    /// The last rounds in a row in which no call fitted the schema of its tool.
    invalid_rounds: u32,
    deadlines: Deadlines,
    equal_calls: HashMap<String, usize>,
    /// The kinds of faults that were returned to the model.
    corrected: Vec<Discriminant<Correction>>,
    has_trimmed: bool,
    /// Whether search results follow the user message as reference information: one reply without tools answers it.
    has_reference: bool,
    /// Whether the rounds with tools are over because the model began to answer, and its answer must have a format.
    has_drafted: bool,
    pictures: Pictures,
}

impl<'a> Run<'a> {
    fn new(agent: &'a Agent, turn: &'a Turn<'a>, events: &'a EventLog, tool_mode: ToolMode) -> Self {
        let trailing = turn.client.iter().flat_map(|client| &client.trailing_messages).cloned();
        let (written, text_in_messages) = events.turn_state().finished_rounds();
        let texts = AgentTexts::of(turn.context.language);
        let (text, attachments) = (turn.text.clone(), turn.attachments.clone());
        let question = with_documents(texts, Message::User { text, attachments });
        let messages: Vec<_> = [question].into_iter().chain(trailing).chain(written).collect();
        // Addresses in documents are not the user's own: a document must not make a model carry data out.
        let typed = Message::user(turn.text.clone());
        for message in turn.history.iter().flat_map(|earlier| &earlier.messages).chain([&typed]).chain(&messages[1..]) {
            turn.context.allowed_urls.add_message(message);
        }
        let recorder = turn.recorder.and_then(|factory| factory.begin(agent, turn));
        if let Some(recorder) = &recorder {
            events.record(recorder);
        }
        events.filter_answer(turn.context.sources.clone(), turn.context.redactor.stream_redactor());
        events.turn_state().language = turn.context.language;
        let deadlines = Deadlines::new(turn.context.deadline);
        let specs = turn.specs(agent);
        let result_budget = turn.models.first().map(|first| compactness::result_budget(first.context_tokens()));
        let context = ToolContext {
            deadline: deadlines.tools_until,
            result_budget: result_budget.unwrap_or_default(),
            ..turn.context.clone()
        };
        Self {
            agent,
            turn,
            events,
            recorder,
            session: Arc::new(agent.tools.session(context)),
            specs,
            texts,
            earlier_turns: earlier_turns(turn, texts),
            history: Vec::new(),
            messages,
            summary: turn.summary.clone().filter(|_| agent.summarise),
            summarised_turns: 0,
            result_frame_tokens: 0,
            max_prompt_tokens: None,
            model_index: 0,
            tool_mode,
            failure: None,
            text_in_messages,
            rounds: 0,
            invalid_rounds: 0,
            deadlines,
            equal_calls: HashMap::new(),
            corrected: Vec::new(),
            has_trimmed: false,
            has_reference: false,
            has_drafted: false,
            pictures: Pictures::Sent,
        }
    }

    async fn run_rounds(mut self) -> Result<FinishReason, Failure> {
        self.add_search_context().await?;
        let index = failover::first_able(self.turn.models, &self.turn.attachments);
        if index > 0 {
            self.switch_model(index).await;
        } else {
            self.select_history().await;
        }
        loop {
            let phase = self.phase();
            let end = match self.round(&phase).await {
                Ok(round) => self.end_after(round, &phase),
                Err(error) => self.handle_error(error).await?,
            };
            if let Some(reason) = end {
                return Ok(reason);
            }
        }
    }

    fn phase(&self) -> Phase {
        let default_rounds = match self.is_native() {
            _ if self.agent.searches_deeply => DEEP_ROUNDS,
            true => NATIVE_ROUNDS,
            false => PROMPTED_ROUNDS,
        };
        let max_rounds = self.agent.max_rounds.unwrap_or(default_rounds);
        let is_repeating = self.invalid_rounds >= MAX_INVALID_ROUNDS
            || self.equal_calls.values().any(|count| *count >= MAX_EQUAL_CALLS);
        if self.specs.is_empty() || self.has_reference || self.has_drafted {
            Phase::Last(FinishReason::Stop)
        } else if self.deadlines.is_closing() {
            Phase::Last(FinishReason::Deadline)
        } else if self.rounds >= max_rounds || is_repeating {
            Phase::Last(FinishReason::ToolLimit)
        } else {
            Phase::Tools
        }
    }

    fn model(&self) -> &ModelClient {
        &self.turn.models[self.model_index]
    }

    fn is_native(&self) -> bool {
        self.tool_mode == ToolMode::Native
    }

    /// Whether this kind of fault was not yet returned to the model.
    fn may_correct(&self, correction: &Correction) -> bool {
        !self.corrected.contains(&discriminant(correction))
    }

    /// How the turn ends after a reply; `None` if another round follows.
    fn end_after(&mut self, round: Round, phase: &Phase) -> Option<FinishReason> {
        if !round.calls.is_empty() {
            // Client calls of the same reply are dropped: the model repeats them once it has the results, which only this
            // turn knows.
            return self.end_after_calls(round);
        }
        if !round.client_calls.is_empty() {
            return Some(self.return_client_calls(round.client_calls));
        }
        let is_whole = !matches!(round.finish, Finish::Length | Finish::ContentFilter);
        let forgets_call = || is_whole && matches!(phase, Phase::Tools) && self.forgets_call();
        let correction = round.correction.or_else(|| forgets_call().then(|| Correction::NoCall(String::new())));
        if let Some(correction) = correction
            && self.may_correct(&correction)
            && match correction {
                Correction::ToolsOff => matches!(phase, Phase::Last(_)) && self.has_no_text(),
                _ => matches!(phase, Phase::Tools),
            }
        {
            self.request_correction(&correction);
            return None;
        }
        if matches!(phase, Phase::Tools) && self.formats_last_round() && round.finish != Finish::ContentFilter {
            self.has_drafted = true;
            return None;
        }
        let reason = match (round.finish, phase) {
            (Finish::Length, _) => FinishReason::Length,
            (Finish::ContentFilter, _) => FinishReason::ContentFilter,
            (_, Phase::Last(reason)) => *reason,
            (_, Phase::Tools) => FinishReason::Stop,
        };
        if is_whole && self.has_no_text() {
            self.emit_fallback(|texts| texts.empty_reply);
        }
        Some(reason)
    }
}
