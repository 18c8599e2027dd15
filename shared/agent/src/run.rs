use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use calls::Defect;
use conversation::{ErrorCode, Event, Failure, FinishReason, Message, ToolChoice, ToolSpec};
use model::{Finish, ModelClient, ModelError, Prompt, ToolsMode};
use tokio::time::Instant;
use tools::{ToolContext, ToolRegistry, ToolSession};

use crate::alternate::alternate;
use crate::prompt::{self, Offer};
use crate::step::{self, Broken, Reader, Round};
use crate::{Events, estimate, fallback};

/// Rounds with tools when no setting says otherwise.
const TEXT_ROUNDS: u32 = 3;
const NATIVE_ROUNDS: u32 = 10;

/// With less time left than this, or than a quarter of a short turn, no tool is started any more.
const TOOL_RESERVE: Duration = Duration::from_secs(15);

/// Equal calls in one turn after which the model is going in circles.
const MOST_EQUAL_CALLS: usize = 3;

/// Answers turns: its words, its tools and its limits.
#[derive(Clone)]
pub struct Agent {
    /// Replaces the default words of the system prompt.
    pub system_prompt: Option<String>,
    /// What the model may call.
    pub tools: ToolRegistry,
    /// Rounds with tools before the last one without; `None` for the path's default.
    pub max_rounds: Option<u32>,
}

/// What one turn is about.
pub struct Turn<'a> {
    /// The model that answers.
    pub model: &'a ModelClient,
    /// The user's words.
    pub text: String,
    /// Earlier messages, oldest first, already within the budget.
    pub history: Vec<Message>,
    /// Holds for the first round; later ones are free.
    pub tool_choice: ToolChoice,
    /// On whose behalf tools run, and until when the turn may last.
    pub context: ToolContext,
    /// The date, as the model shall know it.
    pub today: String,
    /// A random word that marks the instructions around results.
    pub nonce: String,
}

impl Agent {
    /// Runs the turn to its end and gives the reason why the answer ends there; all events but the first and the last
    /// ones are sent here.
    ///
    /// # Errors
    /// The failure that the client shall see; what was said before it stands in the draft of `events`.
    pub async fn run(&self, turn: &Turn<'_>, events: &Events) -> Result<FinishReason, Failure> {
        let mut run = Run::new(self, turn, events);
        loop {
            let phase = run.phase();
            let ended = match run.round(&phase).await {
                Ok(round) => run.after(round, &phase),
                Err(broken) => run.broken(&broken)?,
            };
            if let Some(reason) = ended {
                return Ok(reason);
            }
        }
    }
}

/// Whether a round has tools, and if not, how the turn then ends.
enum Phase {
    Tools,
    Last(FinishReason),
}

struct Run<'a> {
    agent: &'a Agent,
    turn: &'a Turn<'a>,
    events: &'a Events,
    session: ToolSession,
    specs: Vec<ToolSpec>,
    messages: Vec<Message>,
    /// How many of `messages` come from earlier turns.
    history: usize,
    native: bool,
    rounds: u32,
    reserve: Duration,
    equal_calls: HashMap<String, usize>,
    corrected: bool,
    trimmed: bool,
    ids: AtomicUsize,
}

impl<'a> Run<'a> {
    fn new(agent: &'a Agent, turn: &'a Turn<'a>, events: &'a Events) -> Self {
        let mut messages = turn.history.clone();
        let history = messages.len();
        messages.push(Message::User { text: turn.text.clone() });
        let length = turn.context.deadline.saturating_duration_since(Instant::now());
        Self {
            agent,
            turn,
            events,
            session: agent.tools.session(turn.context.clone()),
            specs: if turn.tool_choice == ToolChoice::None { Vec::new() } else { agent.tools.specs() },
            messages,
            history,
            native: turn.model.config().tools == ToolsMode::Native,
            rounds: 0,
            reserve: TOOL_RESERVE.min(length / 4),
            equal_calls: HashMap::new(),
            corrected: false,
            trimmed: false,
            ids: AtomicUsize::new(0),
        }
    }

    fn phase(&self) -> Phase {
        let most = self.agent.max_rounds.unwrap_or(if self.native { NATIVE_ROUNDS } else { TEXT_ROUNDS });
        let circling = self.equal_calls.values().any(|count| *count >= MOST_EQUAL_CALLS);
        if self.specs.is_empty() {
            Phase::Last(FinishReason::Stop)
        } else if self.turn.context.deadline.saturating_duration_since(Instant::now()) < self.reserve {
            Phase::Last(FinishReason::Deadline)
        } else if self.rounds >= most || circling {
            Phase::Last(FinishReason::ToolLimit)
        } else {
            Phase::Tools
        }
    }

    async fn round(&self, phase: &Phase) -> Result<Round, Broken> {
        let prompt = self.prompt(phase);
        let reply = self.turn.model.reply(&prompt, self.turn.context.deadline).await.map_err(Broken::Model)?;
        let reader = Reader {
            events: self.events,
            session: &self.session,
            declared: &self.specs,
            tools_on: matches!(phase, Phase::Tools),
            native: self.native,
            may_correct: !self.corrected && matches!(phase, Phase::Tools),
            ids: &self.ids,
        };
        self.events.draft().asked = Some(estimate::prompt_tokens(&prompt));
        let read = step::read(reply, &reader).await;
        let counted = read.as_ref().ok().and_then(|round| round.usage);
        self.count(counted);
        read
    }

    fn prompt(&self, phase: &Phase) -> Prompt {
        let format = calls::format_for(&self.turn.model.config().model);
        let choice = if self.rounds == 0 { &self.turn.tool_choice } else { &ToolChoice::Auto };
        let on = matches!(phase, Phase::Tools);
        let offer = match (on, self.native) {
            (false, _) => Offer::Off,
            (true, true) => Offer::Native,
            (true, false) => Offer::Text { format, tools: &self.specs, choice },
        };
        let system = prompt::system(self.agent.system_prompt.as_deref(), &self.turn.today, &offer);
        if self.native {
            let tool_choice = if on { choice.clone() } else { ToolChoice::None };
            let messages = alternate(self.messages.clone());
            return Prompt { system, messages, tools: self.specs.clone(), tool_choice };
        }
        let messages = alternate(prompt::as_text(&self.messages, format, &self.turn.nonce));
        Prompt { system, messages, tools: Vec::new(), tool_choice: ToolChoice::Auto }
    }

    fn count(&self, counted: Option<model::TokenUsage>) {
        let mut draft = self.events.draft();
        match counted {
            Some(counted) => draft.usage.add(counted.input, counted.output, false),
            None => draft.usage = draft.usage(),
        }
        draft.asked = None;
    }

    /// What follows a reply: another round, or the end.
    fn after(&mut self, round: Round, phase: &Phase) -> Option<FinishReason> {
        if !round.calls.is_empty() {
            self.keep(round);
            return None;
        }
        if let Some(malformed) = &round.malformed
            && !self.corrected
            && matches!(phase, Phase::Tools)
        {
            self.correct(&malformed.raw, &malformed.defect);
            return None;
        }
        let reason = match (round.finish, phase) {
            (Finish::Length, _) => FinishReason::Length,
            (Finish::ContentFilter, _) => FinishReason::ContentFilter,
            (_, Phase::Last(reason)) => *reason,
            (_, Phase::Tools) => FinishReason::Stop,
        };
        if !matches!(reason, FinishReason::Length | FinishReason::ContentFilter) && self.said_nothing() {
            self.say_fallback();
        }
        Some(reason)
    }

    /// Keeps a round with calls in the conversation that the model sees.
    fn keep(&mut self, round: Round) {
        self.rounds += 1;
        for call in &round.calls {
            *self.equal_calls.entry(format!("{} {}", call.name, call.arguments)).or_default() += 1;
        }
        let results: Vec<_> = round.results.into_iter().map(|ran| ran.result).collect();
        let mut draft = self.events.draft();
        let (text, thinking) = draft.open_round();
        self.messages.push(Message::Assistant { text, thinking, calls: round.calls.clone() });
        self.messages.extend(results.iter().cloned().map(Message::Tool));
        draft.close_round(round.calls, results);
    }

    /// Gives a call that could not be used back to the model, once in a turn.
    fn correct(&mut self, raw: &str, defect: &Defect) {
        self.corrected = true;
        let (text, thinking) = self.events.draft().open_round();
        let (written, reason) = match defect {
            // What was cut is worth nothing to the model, and may be long.
            Defect::Cut => (text, prompt::CUT),
            Defect::Unreadable(reason) => (format!("{text}{raw}"), reason.as_str()),
        };
        if !written.is_empty() {
            self.messages.push(Message::Assistant { text: written, thinking, calls: Vec::new() });
        }
        self.messages.push(prompt::correction(reason));
    }

    /// What follows a reply that broke off: another try with less history, an answer from what there is, or the error.
    fn broken(&mut self, broken: &Broken) -> Result<Option<FinishReason>, Failure> {
        match broken {
            Broken::Model(ModelError::ContextTooLong) if !self.trimmed && self.trim() => Ok(None),
            Broken::Model(ModelError::Deadline) => self.out_of_time().map(Some),
            other => Err(other.failure()),
        }
    }

    fn out_of_time(&self) -> Result<FinishReason, Failure> {
        if self.said_nothing() {
            if self.events.draft().sources.is_empty() {
                return Err(ErrorCode::Deadline.into());
            }
            self.say_fallback();
        }
        Ok(FinishReason::Deadline)
    }

    /// Drops the older half of the history at the border of a turn; false when there is none to drop.
    fn trim(&mut self) -> bool {
        self.trimmed = true;
        let half = self.history.div_ceil(2);
        let border = (half..=self.history).find(|at| matches!(self.messages[*at], Message::User { .. }));
        let Some(border) = border.filter(|border| *border > 0) else { return false };
        self.messages.drain(..border);
        self.history -= border;
        true
    }

    fn said_nothing(&self) -> bool {
        self.events.draft().open_round().0.trim().is_empty()
    }

    fn say_fallback(&self) {
        let delta = fallback::answer(&self.turn.text, &self.events.draft().sources);
        self.events.send(Event::Text { delta });
    }
}
