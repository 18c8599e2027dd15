//! The stores against the embedded database, through the real SDK.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what a test stands on must hold, or the test has failed")]

mod again;
mod backup;
mod backup_lines;
mod backup_over;
mod cache;
mod chats;
mod conditions;
mod definitions;
mod deletion;
mod erase;
mod executions;
mod faults;
mod history;
mod idempotency;
mod keys;
mod ledger;
mod limits;
mod lists;
mod logged_ends;
mod outages;
mod owners;
mod races;
mod search_credits;
mod shapes;
mod size;
mod stop;
mod stream_log;
mod support;
mod tables;
mod tool_facts;
mod transcripts;
mod turns;
mod wire;
