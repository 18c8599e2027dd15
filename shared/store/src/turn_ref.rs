/// A reference to a turn and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRef {
    /// The turn.
    pub turn_id: String,
    /// Its conversation.
    pub conversation_id: String,
    /// The seq of its answer there.
    pub answer_seq: u64,
}

impl TurnRef {
    pub(crate) fn new(turn_id: impl Into<String>, conversation_id: impl Into<String>, answer_seq: u64) -> Self {
        Self { turn_id: turn_id.into(), conversation_id: conversation_id.into(), answer_seq }
    }
}
