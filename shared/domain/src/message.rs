use serde::{Deserialize, Serialize};

use crate::{Attachment, ProviderData, ToolCall, ToolMessage};

/// One message of a prompt: from the user, from the model, or from a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// A user message.
    User {
        /// Plain text, never scanned for calls.
        text: String,
        /// The files of the message.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
    /// A model's reply.
    Assistant {
        /// The text shown to the user, without any call.
        text: String,
        /// The reasoning of the reply; empty if there was none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        thinking: String,
        /// The calls of this reply, in the order in which the model wrote them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
        /// What the model that made the reply must receive back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider_data: Option<Box<ProviderData>>,
    },
    /// The result of one call of the preceding assistant message.
    Tool(ToolMessage),
}

impl Message {
    /// A user message without files.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), attachments: Vec::new() }
    }

    /// The files of a user message.
    pub fn attachments(&self) -> &[Attachment] {
        match self {
            Self::User { attachments, .. } => attachments,
            Self::Assistant { .. } | Self::Tool(_) => &[],
        }
    }

    /// The files of a user message.
    pub fn attachments_mut(&mut self) -> &mut [Attachment] {
        match self {
            Self::User { attachments, .. } => attachments,
            Self::Assistant { .. } | Self::Tool(_) => &mut [],
        }
    }
}

/// An earlier turn of a conversation, as prompts read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryTurn {
    /// The `seq` of the turn's answer in the conversation; later turns have higher ones.
    #[serde(rename = "place")]
    pub seq: u64,
    /// The user message first, then the model's replies, calls and tool results.
    pub messages: Vec<Message>,
}

/// A summary that replaces the oldest turns of a conversation in prompts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The `seq` of the last turn that the summary covers.
    #[serde(rename = "through")]
    pub up_to_seq: u64,
    /// Text written by a model.
    pub text: String,
}
