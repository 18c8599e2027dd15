//! Conversations and their turns in the data table.
//!
//! A turn is one transaction at its begin (head, the user's message, a running answer) and one at its end (head, answer,
//! what models will read of it beyond that, the end of its log). What runs is said by a lease in the head; order is the
//! head's sequence and never a clock.

mod aside;
mod begin;
mod bounds;
mod chat;
pub(crate) mod cursor;
mod edit;
mod finish;
mod head;
mod history;
mod message;
mod page;
mod past;
mod read;
mod stop;
mod transcript;
mod turn;

pub(crate) use chat::{CHAT, CHAT_PREFIX, LEADS_TO, chat_key_in};
pub(crate) use head::{HEAD_PREFIX, is_head};
pub(crate) use message::{is_message, place_in};
pub use page::{Conversation, Page, ReadError, Role, Status, StoredCall, StoredMessage};
pub use turn::{Answer, BeginError, LeaseError, NewTurn, Question, Renewed, StoredTurn, Tally, TurnEnd, TurnLease};

use std::time::Duration;

use crate::table::Table;

/// Conversations in the data table.
#[derive(Clone)]
pub struct ConversationStore {
    table: Table,
}

impl ConversationStore {
    /// How long a lease holds unless renewed.
    ///
    /// A holder renews every [`RENEWAL`](Self::RENEWAL), so that clocks that differ by seconds and a lost renewal do no harm.
    pub const LEASE: Duration = Duration::from_secs(15);

    /// How often a holder renews its lease, and so the longest that a stop takes to reach it.
    ///
    /// Each is one write of the head: in an answer of half a minute ten of them, where a third of the lease would be six and
    /// somebody who wants to stop might wait for five seconds.
    pub const RENEWAL: Duration = Duration::from_secs(3);

    pub(crate) fn new(table: Table) -> Self {
        Self { table }
    }
}
