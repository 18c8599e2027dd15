use serde::{Deserialize, Serialize};

use crate::Message;

/// An earlier turn of a conversation, as prompts read it.
#[derive(Clone, Debug, PartialEq)]
pub struct PastTurn {
    /// The place of its answer in the conversation; later turns have higher ones.
    pub place: u64,
    /// The user's message first, then what the model said, called and read.
    pub messages: Vec<Message>,
}

/// What stands in prompts for the oldest turns of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The place of the last turn that it covers.
    pub through: u64,
    /// A model's words.
    pub text: String,
}
