//! Requests to start a turn. Every name in them is resolved and checked.

use std::sync::Arc;

use agent::{Agent, ClientContext};
use domain::{Attachment, HistoryTurn, Membership, Message, Owner, RequestOrigin, Summary, ToolCall, ToolChoice};
use llm::ModelClient;
use store::{StoredRequest, StoredResponse, Target, UserInput};
use tokio::time::Instant;
use tools::{SourceNumbers, Tool};

use crate::locale::PromptLocale;

/// Characters read of earlier turns for each token that may be sent: long results are shortened afterwards.
const CHARS_PER_TOKEN: usize = 5;

/// A turn to be started in a stored conversation.
pub struct StartTurn {
    /// The owner of the conversation.
    pub owner: Owner,
    /// The caller's groups, which decide what tools may use and which budgets count.
    pub membership: Membership,
    /// The agent that answers.
    pub agent: ResolvedAgent,
    /// `None` for a new conversation.
    pub conversation_id: Option<String>,
    /// For a new conversation, the id by which its client knows it, if it has one.
    pub chat_id: Option<String>,
    /// The files of a new message, which the owner has.
    pub attachments: Vec<Attachment>,
    /// A new message, another answer, or more of one.
    pub question: UserInput,
    /// The message of the conversation that it refers to.
    pub target: Target,
    /// Whether the conversation is or must be temporary: in no list, and deleted after 24 hours.
    pub temporary: bool,
    /// What a client with tools of its own adds; stored with the message.
    pub client: Option<Box<ClientTurn>>,
    /// When the turn must be over.
    pub deadline: Instant,
    /// The request that starts it.
    pub request: RequestOrigin,
}

/// What a client with tools of its own adds to a turn in a stored conversation.
pub struct ClientTurn {
    /// Its tools and parameters; the messages after the user's come from the conversation.
    pub context: ClientContext,
    /// What is stored of the request.
    pub request: StoredRequest,
}

/// A turn to be started in a conversation that the client keeps.
pub struct StartStatelessTurn {
    /// The owner on whose behalf tools run.
    pub owner: Owner,
    /// The caller's groups, which decide what tools may use and which budgets count.
    pub membership: Membership,
    /// The agent that answers.
    pub agent: ResolvedAgent,
    /// What is answered.
    pub input: StatelessInput,
    /// When the turn must be over.
    pub deadline: Instant,
    /// The request that starts it.
    pub request: RequestOrigin,
}

/// What a turn answers in a conversation that the client keeps.
pub enum StatelessInput {
    /// A message, with the conversation before it.
    Message(Box<PromptInput>),
    /// The same for a task that no person wrote, such as questions that may follow; its usage counts as no turn.
    Task(Box<PromptInput>),
    /// Messages that follow a stored answer.
    After {
        /// The answer.
        answer: Box<StoredResponse>,
        /// The messages, of which a user's is one.
        messages: Vec<Message>,
        /// What the client adds to the prompt.
        context: Box<ClientContext>,
    },
    /// A call of one of the agent's tools, whose result is the answer.
    Call(ToolCall),
}

/// The agent that answers, with its models.
pub struct ResolvedAgent {
    /// The agent's id.
    pub id: String,
    /// Its prompt, tools and limits.
    pub agent: Agent,
    /// The model that answers, then those that take over when it fails; never empty.
    pub models: Vec<ModelClient>,
    /// The model that writes titles of stored conversations; `None` if they keep their first message as title.
    pub title_model: Option<ModelClient>,
    /// Whether tools may, must or must not be called.
    pub tool_choice: ToolChoice,
    /// How its models are prompted.
    pub locale: PromptLocale,
}

impl ResolvedAgent {
    /// The name of the model that answers first.
    pub(crate) fn model_name(&self) -> &str {
        self.models.first().map(|model| model.config().name.as_str()).unwrap_or_default()
    }

    /// How much is read of the earlier turns of a stored conversation, in characters: no more than a model can.
    pub(crate) fn history_chars(&self) -> usize {
        let window = self.models.iter().map(ModelClient::context_tokens).max().unwrap_or_default();
        usize::try_from(self.agent.history_tokens.min(window)).unwrap_or(usize::MAX).saturating_mul(CHARS_PER_TOKEN)
    }
}

/// The parts of the first prompt.
#[derive(Default)]
pub struct PromptInput {
    /// The user message.
    pub text: String,
    /// Its files.
    pub attachments: Vec<Attachment>,
    /// Earlier turns, oldest first.
    pub history: Vec<HistoryTurn>,
    /// The summary of the oldest turns, if there is one.
    pub summary: Option<Summary>,
    /// What the user wants of all answers; empty if nothing.
    pub instructions: String,
    /// What a client that keeps the conversation itself adds to it.
    pub client: Option<ClientContext>,
    /// The numbers of the conversation's pages.
    pub sources: SourceNumbers,
    /// Tools of this turn in addition to those of its agent.
    pub tools: Vec<Arc<dyn Tool>>,
}
