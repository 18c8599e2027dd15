use std::fmt;

use domain::{TurnStart, is_id};

/// The length of the id of a conversation or of a message.
const ID_LEN: usize = 26;

/// The id of a response: `resp_`, its conversation and its message. Ids of its items have them too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseId {
    /// The conversation.
    pub conversation_id: String,
    /// The assistant message.
    pub message_id: String,
}

impl ResponseId {
    /// Parses an id; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_ids(text.strip_prefix("resp_")?)
    }

    /// The response of an item's id, such as `msg_…_0`.
    pub fn of_item(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once('_')?;
        let (ids, number) = rest.split_once('_')?;
        number.parse::<usize>().ok().and_then(|_| Self::parse_ids(ids))
    }

    fn parse_ids(ids: &str) -> Option<Self> {
        let (conversation_id, message_id) = ids.split_at_checked(ID_LEN)?;
        let are_ids = is_id(conversation_id) && is_id(message_id);
        are_ids.then(|| Self { conversation_id: conversation_id.to_owned(), message_id: message_id.to_owned() })
    }

    /// The id of a turn that starts. One that is not stored has no conversation: its id names nothing.
    pub(super) fn of_turn(TurnStart { conversation_id, message_id, .. }: &TurnStart) -> Self {
        let conversation_id = if conversation_id.is_empty() { message_id } else { conversation_id };
        Self { conversation_id: conversation_id.clone(), message_id: message_id.clone() }
    }

    pub(super) fn item(&self, kind: &str, index: usize) -> String {
        format!("{kind}_{}{}_{index}", self.conversation_id, self.message_id)
    }
}

impl fmt::Display for ResponseId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "resp_{}{}", self.conversation_id, self.message_id)
    }
}
