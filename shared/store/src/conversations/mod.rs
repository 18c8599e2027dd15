//! Conversations and their turns in the data table.
//!
//! A turn is one transaction at its begin (head, the user's message, a running answer) and one at its end (head,
//! answer, the transcript, the end of its log). A lease in the head identifies the running turn. Messages are ordered
//! by the head's sequence and never by a clock. Each follows another one, so that they form branches; the head has the tree
//! (`tree`) and the end of the branch that is shown.

mod begin;
mod bounds;
mod branches;
mod chat_id;
mod continued;
pub(crate) mod cursor;
mod edit;
mod feedback;
mod finish;
mod head;
mod history;
mod history_builder;
mod import;
mod list;
mod lookup;
mod message;
mod next_turn;
mod outside;
mod page;
mod read;
mod recovered;
mod search;
mod seq_ranges;
mod shares;
mod sort_keys;
mod sources;
mod stop;
mod transcript;
mod tree;
mod turn;

pub use branches::DeletedMessages;
pub use edit::ConversationEdit;
pub(crate) use head::HEAD_PREFIX;
pub(crate) use import::IMPORTING_PREFIX;
pub use import::{NewConversation, NewMessage};
pub use list::ConversationFilter;
pub use lookup::StoredResponse;
pub use page::{
    Conversation, Feedback, MessageError, Page, Rating, ReadError, Role, Status, StoredCall, StoredMessage, TitleSource,
};
pub use read::{AllMessages, MessageQuery};
pub use search::{ConversationQuery, FoundConversation, FoundMessage};
pub use shares::Share;
pub use transcript::{drop_open_calls, pair_calls, results_as_message};
pub use turn::{
    Answer, BeginError, Continued, LeaseError, LeaseState, NewTurn, StoredRequest, StoredTurn, Target, TurnEnd,
    TurnLease, TurnOutcome, UserInput,
};

use std::time::Duration;

use crate::table::Table;

/// Conversations in the data table.
#[derive(Clone)]
pub struct ConversationStore {
    pub(crate) table: Table,
    /// Holds what others than the owner may read: copies of shared branches, and ratings.
    pub(crate) ephemeral: Table,
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
