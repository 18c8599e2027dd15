mod ahead;
mod callers;
pub(crate) mod count;
mod direct;
mod ending;
mod failover;
mod measured;
mod memory;
mod round;
mod times;

use std::collections::HashMap;
use std::sync::Arc;

use domain::{ErrorCode, Failure, FinishReason, HistoryTurn, Message, Summary, ToolChoice, ToolSpec};
use futures_util::future::BoxFuture;
use llm::{Finish, ModelClient, ToolMode};
use tool_calls::MalformedReason;
use tools::{ToolContext, ToolRegistry, ToolSession};

pub use self::measured::Measured;
use self::times::Times;
use crate::fallback::Silence;
use crate::step::Round;
use crate::{Caller, EventLog, Recorder, Recording, prompt};

/// Rounds with tools when no setting says otherwise.
const TEXT_ROUNDS: u32 = 3;
const NATIVE_ROUNDS: u32 = 10;

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
    /// The most tokens of earlier turns in a prompt, by estimate.
    pub history_tokens: u64,
    /// Whether the turns for which there is no room are summarised.
    pub summarise: bool,
    /// Whether a search for the user's words begins beside the first call of the model, which may then want it.
    pub pre_search: bool,
    /// What its tools take in a prompt: one for all turns whose agents share their tools.
    pub measured: Measured,
}

/// What one turn is about.
pub struct Turn<'a> {
    /// Names the turn.
    pub id: String,
    /// The model that answers, then those that take over when it fails; never empty.
    pub models: &'a [ModelClient],
    /// How they are given tools.
    pub paths: &'a dyn ToolPaths,
    /// The user's words.
    pub text: String,
    /// Earlier turns, oldest first.
    pub history: Vec<HistoryTurn>,
    /// What stands for the oldest of them, and for those before, if anything does.
    pub summary: Option<Summary>,
    /// What the caller brings along who keeps the conversation himself; `None` where it is stored.
    pub caller: Option<Caller>,
    /// Holds for the first round; later ones are free.
    pub tool_choice: ToolChoice,
    /// On whose behalf tools run, and until when the turn may last.
    pub context: ToolContext,
    /// The date, as the model shall know it.
    pub today: String,
    /// A random word that marks the instructions around results.
    pub nonce: String,
    /// What takes the turn down, if anything does.
    pub recorder: Option<&'a dyn Recorder>,
}

/// Knows how models are given tools.
pub trait ToolPaths: Sync {
    /// How this one is, as far as is known; an endpoint that refuses tools is asked by text within the turn.
    fn path<'a>(&'a self, model: &'a ModelClient) -> BoxFuture<'a, ToolMode>;
}

impl Turn<'_> {
    /// What the model may call, of the agent's tools and of the caller's.
    fn specs(&self, agents: &ToolRegistry) -> Arc<[ToolSpec]> {
        match (&self.tool_choice, &self.caller) {
            (ToolChoice::None, _) => Arc::default(),
            (_, Some(caller)) if !caller.tools.is_empty() => caller.beside(agents),
            _ => Arc::clone(agents.specs()),
        }
    }
}

impl Agent {
    /// Appends text to the system prompt.
    pub fn append_system_prompt(&mut self, text: &str) {
        self.system_prompt = Some(prompt::joined(self.system_prompt.as_deref(), text));
    }

    /// Runs the turn to its end and gives the reason why the answer ends there; all events but the first and the last
    /// ones are sent here.
    ///
    /// # Errors
    /// The failure that the client shall see; what was said before it stands in the draft of `events`.
    pub async fn run(&self, turn: &Turn<'_>, events: &EventLog) -> Result<FinishReason, Failure> {
        let Some(first) = turn.models.first() else { return Err(ErrorCode::Internal.into()) };
        let run = Run::new(self, turn, events, turn.paths.path(first).await);
        let (session, expected) = (Arc::clone(&run.session), run.expected_search());
        let mut answer = Box::pin(run.answered());
        let answered = async {
            tokio::select! {
                biased;
                answer = &mut answer => answer,
                // It ends with the turn at the latest: nothing runs after that.
                () = ahead::run(&session, expected.as_ref(), events) => answer.await,
            }
        };
        let answered = tokio::select! {
            biased;
            answered = answered => answered,
            () = events.wait_until_full() => Ok(FinishReason::Length),
        };
        // The rest of the reply may have come with the text that was dropped.
        if events.is_full() { Ok(FinishReason::Length) } else { answered }
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
    events: &'a EventLog,
    recording: Option<Arc<dyn Recording>>,
    session: Arc<ToolSession>,
    specs: Arc<[ToolSpec]>,
    measured: Measured,
    /// What is told of earlier turns.
    history: Vec<Message>,
    /// The running turn: the question first.
    messages: Vec<Message>,
    summary: Option<Summary>,
    /// How many turns a summary was asked for.
    summarised: usize,
    /// The most tokens of a prompt, since one was found too long.
    most: Option<u64>,
    /// The place of the model that is asked now among those of the turn.
    at: usize,
    path: ToolMode,
    /// Of the models that failed, what the client is told if the next one fails too.
    failure: Option<Failure>,
    /// How much of the draft's content `messages` hold.
    spoken: usize,
    rounds: u32,
    times: Times,
    equal_calls: HashMap<String, usize>,
    corrected: bool,
    trimmed: bool,
}

impl<'a> Run<'a> {
    fn new(agent: &'a Agent, turn: &'a Turn<'a>, events: &'a EventLog, path: ToolMode) -> Self {
        let since = turn.caller.iter().flat_map(|caller| &caller.since).cloned();
        let messages: Vec<_> = [Message::User { text: turn.text.clone() }].into_iter().chain(since).collect();
        for message in turn.history.iter().flat_map(|past| &past.messages).chain(&messages) {
            turn.context.allowed_urls.add_message(message);
        }
        let recording = turn.recorder.and_then(|recorder| recorder.begin(agent, turn));
        if let Some(recording) = &recording {
            events.record(recording);
        }
        let times = Times::until(turn.context.deadline);
        let specs = turn.specs(&agent.tools);
        let are_its_own = Arc::ptr_eq(&specs, agent.tools.specs());
        Self {
            agent,
            turn,
            events,
            recording,
            session: Arc::new(agent.tools.session(ToolContext { deadline: times.closing, ..turn.context.clone() })),
            measured: if are_its_own { agent.measured.clone() } else { Measured::default() },
            specs,
            history: Vec::new(),
            messages,
            summary: turn.summary.clone().filter(|_| agent.summarise),
            summarised: 0,
            most: None,
            at: 0,
            path,
            failure: None,
            spoken: 0,
            rounds: 0,
            times,
            equal_calls: HashMap::new(),
            corrected: false,
            trimmed: false,
        }
    }

    async fn answered(mut self) -> Result<FinishReason, Failure> {
        let at = failover::choose(self.turn.models);
        if at > 0 {
            self.ask_from(at).await;
        } else {
            self.remember().await;
        }
        loop {
            let phase = self.phase();
            let ended = match self.round(&phase).await {
                Ok(round) => self.after(round, &phase),
                Err(broken) => self.broken(broken).await?,
            };
            if let Some(reason) = ended {
                return Ok(reason);
            }
        }
    }

    fn phase(&self) -> Phase {
        let most = self.agent.max_rounds.unwrap_or(if self.is_native() { NATIVE_ROUNDS } else { TEXT_ROUNDS });
        let circling = self.equal_calls.values().any(|count| *count >= MOST_EQUAL_CALLS);
        if self.specs.is_empty() {
            Phase::Last(FinishReason::Stop)
        } else if self.times.are_short() {
            Phase::Last(FinishReason::Deadline)
        } else if self.rounds >= most || circling {
            Phase::Last(FinishReason::ToolLimit)
        } else {
            Phase::Tools
        }
    }

    fn model(&self) -> &ModelClient {
        &self.turn.models[self.at]
    }

    fn is_native(&self) -> bool {
        self.path == ToolMode::Native
    }

    /// What follows a reply: another round, or the end.
    fn after(&mut self, round: Round, phase: &Phase) -> Option<FinishReason> {
        if !round.calls.is_empty() {
            // Calls of the caller's tools in the same reply are let go: the model makes them again once it knows the
            // results, which nobody but this turn could remember.
            return self.conclude(round);
        }
        if !round.callers.is_empty() {
            return Some(self.call_back(round.callers));
        }
        if let Some(malformed) = &round.malformed
            && !self.corrected
            && matches!(phase, Phase::Tools)
        {
            self.correct(&malformed.raw, &malformed.reason);
            return None;
        }
        let reason = match (round.finish, phase) {
            (Finish::Length, _) => FinishReason::Length,
            (Finish::ContentFilter, _) => FinishReason::ContentFilter,
            (_, Phase::Last(reason)) => *reason,
            (_, Phase::Tools) => FinishReason::Stop,
        };
        if !matches!(reason, FinishReason::Length | FinishReason::ContentFilter) && self.said_nothing() {
            self.say_fallback(Silence::Own);
        }
        Some(reason)
    }

    /// Keeps a round with calls; ends the turn if what they gave is the answer.
    fn conclude(&mut self, round: Round) -> Option<FinishReason> {
        let answer = direct::answer(&round);
        self.keep(round);
        answer.map(|answer| self.say_directly(&answer))
    }

    /// Keeps a round with calls in the conversation that the model sees.
    fn keep(&mut self, round: Round) {
        let said = self.said();
        self.rounds += 1;
        for call in &round.calls {
            *self.equal_calls.entry(format!("{} {}", call.name, call.arguments)).or_default() += 1;
        }
        let results: Vec<_> = round.results.into_iter().map(|ran| ran.result).collect();
        let mut draft = self.events.draft();
        let (_, thinking) = draft.open_round();
        self.messages.push(Message::Assistant { text: said, thinking, calls: round.calls.clone() });
        self.messages.extend(results.iter().cloned().map(Message::Tool));
        draft.close_round(round.calls, results);
        self.spoken = draft.content.len();
    }

    /// Gives a call that could not be used back to the model, once in a turn.
    fn correct(&mut self, raw: &str, defect: &MalformedReason) {
        self.corrected = true;
        let (text, (_, thinking)) = (self.said(), self.events.draft().open_round());
        self.spoken += text.len();
        let (written, reason) = match defect {
            // What was cut is worth nothing to the model, and may be long.
            MalformedReason::Truncated => (text, prompt::CUT),
            MalformedReason::Unreadable(reason) => (format!("{text}{raw}"), reason.as_str()),
        };
        if !written.is_empty() {
            self.messages.push(Message::Assistant { text: written, thinking, calls: Vec::new() });
        }
        self.messages.push(prompt::correction(reason));
    }
}
