use std::sync::Arc;

use domain::{Attachment, Event, HistoryTurn, Language, Message, Summary, ToolCall, ToolChoice, ToolMessage, ToolSpec};
use futures_util::future::BoxFuture;
use llm::{GenerationParams, ModelClient, ResponseRecorder, ToolMode};
use tools::{ToolContext, ToolRegistry, ToolRun};

use crate::prompt_cache::PromptCache;

/// Answers turns: its system prompt, its tools and its limits.
#[derive(Clone)]
pub struct Agent {
    /// Replaces the built-in system prompt.
    pub system_prompt: Option<String>,
    /// The built-in system prompt by language; `None` for the default one.
    pub built_in_prompt: Option<BuiltInPrompt>,
    /// Follows the system prompt.
    pub added_prompt: Option<String>,
    /// Whether its prompt requires several searches and pages, which it may make in more rounds.
    pub searches_deeply: bool,
    /// Tools that the model may call.
    pub tools: ToolRegistry,
    /// Maximum number of rounds with tools, before the last round without; `None` for the default of the tool mode.
    pub max_rounds: Option<u32>,
    /// Maximum number of tokens of earlier turns in a prompt, estimated.
    pub history_tokens: u64,
    /// Whether turns that do not fit are summarised.
    pub summarise: bool,
    /// Whether a search for the user message starts before the model requests it.
    pub pre_search: PreSearch,
    /// What its prompts have in common. Agents with the same tools share one cache.
    pub prompts: PromptCache,
}

/// Returns a built-in system prompt in a language.
pub type BuiltInPrompt = fn(Language) -> &'static str;

impl Agent {
    /// Its system prompt in a language; `None` for the default one.
    pub fn system_prompt_in(&self, language: Language) -> Option<&str> {
        self.system_prompt.as_deref().or_else(|| self.built_in_prompt.map(|prompt| prompt(language)))
    }
}

/// Whether a search for the user message starts before the model requests it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreSearch {
    /// It does not.
    #[default]
    Off,
    /// It runs concurrently with the first model call, which may request it.
    Concurrent,
    /// Its results are in the prompt of the one model call that answers.
    Context,
}

/// The input of one turn.
pub struct Turn<'a> {
    /// The turn's id.
    pub id: String,
    /// The model that answers, then the failover models; never empty.
    pub models: &'a [ModelClient],
    /// How these models are given tools.
    pub tool_modes: &'a dyn ToolModes,
    /// The user message.
    pub text: String,
    /// Its files, with what the prompt has of them.
    pub attachments: Vec<Attachment>,
    /// Earlier turns, oldest first.
    pub history: Vec<HistoryTurn>,
    /// Represents the oldest earlier turns, if there is one.
    pub summary: Option<Summary>,
    /// What the user wants of all answers; empty if nothing.
    pub instructions: String,
    /// Input of a client that keeps the conversation itself; `None` for a stored conversation.
    pub client: Option<ClientContext>,
    /// Applies to the first round; later rounds are free to call tools or not.
    pub tool_choice: ToolChoice,
    /// The owner for whom tools run, and the turn's deadline.
    pub context: ToolContext,
    /// The date that the model is given.
    pub today: String,
    /// Records the turn, if set.
    pub recorder: Option<&'a dyn TurnRecorderFactory>,
}

impl Turn<'_> {
    /// The tools that the model may call: the agent's and the client's; none if there are no rounds with tools.
    pub(crate) fn specs(&self, agent: &Agent) -> Arc<[ToolSpec]> {
        let own = agent.tools.specs(self.context.language);
        match (&self.tool_choice, &self.client) {
            _ if agent.max_rounds == Some(0) => Arc::default(),
            (ToolChoice::None, _) => Arc::default(),
            (_, Some(client)) if !client.tools.is_empty() => {
                own.iter().filter(|spec| !client.has_tool(&spec.name)).chain(&client.tools).cloned().collect()
            }
            _ => Arc::clone(own),
        }
    }
}

/// Knows how models are given tools.
pub trait ToolModes: Sync {
    /// The tool mode of a model, as far as is known. An endpoint that rejects tools falls back to text within the turn.
    fn tool_mode<'a>(&'a self, model: &'a ModelClient) -> BoxFuture<'a, ToolMode>;
}

/// Creates recorders of turns, so that turns can be replayed. It never fails a turn.
pub trait TurnRecorderFactory: Send + Sync {
    /// Starts recording a turn that is about to run; `None` to skip it.
    fn begin(&self, agent: &Agent, turn: &Turn<'_>) -> Option<Arc<dyn TurnRecorder>>;
}

/// Records one turn. Its methods are called in the order of what happens, and must not block.
pub trait TurnRecorder: Send + Sync {
    /// Records an event that clients receive.
    fn on_event(&self, event: &Event);

    /// Records that a model is about to be called with tools in this mode; returns the recorder of its response, if any.
    fn on_model_call(&self, model: &ModelClient, tool_mode: ToolMode) -> Option<Arc<dyn ResponseRecorder>>;

    /// Records the end of a call; `run` is `None` if the call ends the turn.
    fn on_tool_result(&self, _call: &ToolCall, _run: Option<&ToolRun>) {}
}

/// Input of a client that keeps its conversation itself.
#[derive(Clone, Debug, Default)]
pub struct ClientContext {
    /// Messages after the user message: calls of the client's tools, and their results.
    pub trailing_messages: Vec<Message>,
    /// Tools that the client runs. They take precedence over tools of the agent with the same name.
    pub tools: Vec<ToolSpec>,
    /// Whether only one of them may be called at a time.
    pub one_call: bool,
    /// Overrides the operator's options.
    pub params: GenerationParams,
}

impl ClientContext {
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|spec| spec.name == name)
    }

    /// The message with results of the client's tools escaped, for prompts in which calls are written as text. Unlike
    /// results of the agent's own tools, they are not escaped yet.
    pub(crate) fn sanitised(&self, message: Message, agent_tools: &ToolRegistry) -> Message {
        match message {
            Message::Tool(result) if self.has_tool(&result.name) || !agent_tools.has(&result.name) => {
                Message::Tool(ToolMessage { content: tool_calls::escape(&result.content), ..result })
            }
            other => other,
        }
    }
}
