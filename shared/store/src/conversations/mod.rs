//! Conversations and their turns in the data table.
//!
//! A turn is one transaction at its begin (head, the user's message, a running answer) and one at its end (head,
//! answer, the transcript, the end of its log). A lease in the head identifies the running turn. Messages are ordered
//! by the head's sequence and never by a clock.

mod begin;
mod bounds;
mod chat_id;
pub(crate) mod cursor;
mod edit;
mod ended_turn;
mod finish;
mod head;
mod history;
mod history_builder;
mod message;
mod page;
mod read;
mod recovered;
mod sort_keys;
mod sources;
mod stop;
mod superseded;
mod transcript;
mod turn;

pub(crate) use head::HEAD_PREFIX;
pub use page::{Conversation, MessageError, Page, ReadError, Role, Status, StoredCall, StoredMessage};
pub(crate) use read::AllMessages;
pub use turn::{
    Answer, BeginError, LeaseError, LeaseState, NewTurn, StoredTurn, TurnEnd, TurnLease, TurnOutcome, UserInput,
};

use std::time::Duration;

use crate::table::Table;

/// Conversations in the data table.
#[derive(Clone)]
pub struct ConversationStore {
    pub(crate) table: Table,
}

impl ConversationStore {
    /// How long a lease is valid unless it is renewed.
    ///
    /// A holder renews it every [`RENEWAL`](Self::RENEWAL), so that clock differences of seconds and a lost renewal do
    /// no harm.
    pub const LEASE: Duration = Duration::from_secs(15);

    /// The renewal interval of a lease, and the maximum delay of a stop request.
    ///
    /// Each renewal is one write of the head: ten in an answer of 30 seconds. An interval of a third of the lease would
    /// need six, but a stop might then take 5 seconds.
    pub const RENEWAL: Duration = Duration::from_secs(3);
}
