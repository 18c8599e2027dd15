//! The stores against the embedded database, through the real SDK.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what a test stands on must hold, or the test has failed")]

mod administrators;
mod answer_writes;
mod articles;
mod audit;
mod branches;
mod breakers;
mod cache;
mod chats;
mod conditions;
mod conversation_search;
mod definitions;
mod deleted_branches;
mod deletion;
mod erase;
mod executions;
mod faults;
mod flags;
mod history;
mod idempotency;
mod keys;
mod ledger;
mod limits;
mod lists;
mod outside;
mod owners;
mod races;
mod recovery;
mod regeneration;
mod schema_versions;
mod search_credits;
mod size;
mod sources;
mod stop;
mod stored_form;
mod stored_transcripts;
mod stream_log;
mod support;
mod tables;
mod temporary;
mod tool_support;
mod transcript_faults;
mod transcripts;
mod turns;
mod wire;
