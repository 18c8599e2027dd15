//! Talks to a model endpoint; knows no tools' code and no storage.

use std::time::Duration;

use conversation::{Message, ToolChoice, ToolSpec};
use secrets::Secret;
use serde::{Deserialize, Serialize};
use settings::{SettingError, Settings};
use tokio::time::Instant;

/// What a model is asked.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    /// The system prompt; empty for none.
    pub system: String,
    /// Oldest first; ends with what the model shall answer.
    pub messages: Vec<Message>,
    /// Sent as native tools; empty on the text path and with tools off.
    pub tools: Vec<ToolSpec>,
    /// Sent only together with `tools`.
    pub tool_choice: ToolChoice,
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// More of the answer, raw: it may hold calls and thinking tags.
    Text(String),
    /// More of the reasoning that came in a field of its own.
    Thinking(String),
    /// A complete native call.
    Call(NativeCall),
    /// What the provider counted; the last one holds.
    Usage(TokenUsage),
    /// The end, always the last delta.
    Finish(Finish),
}

/// A native call as the provider sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeCall {
    /// The provider's id; empty if it gave none.
    pub id: String,
    /// Never empty.
    pub name: String,
    /// JSON text, not yet parsed.
    pub arguments: String,
}

/// Tokens as counted by the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Tokens read.
    pub input: u64,
    /// Tokens written, reasoning included.
    pub output: u64,
}

/// Why the model ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It was done.
    Stop,
    /// It wants its calls answered.
    ToolCalls,
    /// Its output limit was reached.
    Length,
    /// The provider cut it for its content.
    ContentFilter,
}

/// Why there is no (further) reply, named by what the caller does next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Too fast: wait.
    #[error("rate limited")]
    RateLimited {
        /// As the provider asked.
        retry_after: Option<Duration>,
    },
    /// An allowance is used up: nothing helps but an operator.
    #[error("quota exhausted")]
    QuotaExhausted,
    /// Unreachable or overloaded, also after the retries.
    #[error("unavailable")]
    Unavailable,
    /// The request is wrong.
    #[error("rejected")]
    Rejected,
    /// The key is wrong.
    #[error("not authorised")]
    Auth,
    /// The provider refused the content.
    #[error("content filtered")]
    ContentFiltered,
    /// The prompt is too long.
    #[error("context too long")]
    ContextTooLong,
    /// The model takes no native tools: ask again by text.
    #[error("tools unsupported")]
    ToolsUnsupported,
    /// What came is not an answer.
    #[error("bad response")]
    BadResponse,
    /// Nothing (or nothing of use) came for too long.
    #[error("stalled")]
    Stalled,
    /// The connection broke, or the stream ended without a finish.
    #[error("disconnected")]
    Disconnected,
    /// The turn's time is over.
    #[error("deadline")]
    Deadline,
}

/// The protocol that an endpoint speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wire {
    /// `POST {base}/chat/completions`, server-sent events.
    #[default]
    Openai,
    /// Ollama's `POST {base}/api/chat`, JSON lines.
    Ollama,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `streamGenerateContent`.
    Gemini,
}

/// How a model's tools are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolsMode {
    /// As the capability map knows.
    #[default]
    Auto,
    /// Native tool calling.
    Native,
    /// Calls written as text.
    Prompt,
}

/// One configured model.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    /// The name by which requests choose it.
    pub name: String,
    /// Without a trailing slash.
    pub base_url: String,
    /// Absent for endpoints without authentication.
    pub api_key: Option<Secret>,
    /// The endpoint's own name for the model.
    pub model: String,
    /// The protocol.
    pub wire: Wire,
    /// As configured.
    pub tools: ToolsMode,
    /// The name of the model that takes over when this one fails.
    pub fallback: Option<String>,
    /// Whether this is the built-in demonstration.
    pub demo: bool,
}

/// All configured models and the default one.
#[derive(Clone)]
pub struct Models;

impl Models {
    /// Reads `ARK_*`, `OPENAI_*`, `OLLAMA_*`, `MODELS`, `DEFAULT_MODEL` and the timers; never makes a call.
    pub fn from_settings(_settings: &Settings, _http: reqwest::Client) -> Result<Self, SettingError> {
        todo!()
    }
    /// The client of that name.
    pub fn get(&self, _name: &str) -> Option<&ModelClient> {
        todo!()
    }
    /// The default; `None` when no model is configured.
    pub fn default_model(&self) -> Option<&ModelClient> {
        todo!()
    }
    /// All, in the order of the settings.
    pub fn iter(&self) -> std::slice::Iter<'_, ModelClient> {
        todo!()
    }
}

/// Speaks to one model.
#[derive(Clone)]
pub struct ModelClient;

impl ModelClient {
    /// How it is configured.
    pub fn config(&self) -> &ModelConfig {
        todo!()
    }

    /// Asks the model. Returns once the first delta is there (retrying before that as far as `deadline` allows), so
    /// that an error after this point is final.
    pub async fn reply(&self, _prompt: &Prompt, _deadline: Instant) -> Result<Reply, ModelError> {
        todo!()
    }
}

/// A reply on its way.
pub struct Reply;

impl Reply {
    /// The next delta; `None` after `Finish` or an error. Dropping the reply closes the connection.
    pub async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        todo!()
    }
}
