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
