use serde::{Deserialize, Serialize};

use crate::Message;

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
