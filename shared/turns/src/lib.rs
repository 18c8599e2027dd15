//! The life of a turn. A turn answers one user message: it is admitted, started, run to its end whether or not its client
//! stays, logged for readers on other instances, and measured.
//!
//! * `request`, `handle`: what starts a turn, and what its client reads
//! * `admission`, `budgets`: which turns may start, and until when they run
//! * `start`: the stored turn that starts, or the one that an equal request started
//! * `locale`: the language and the time zone of prompts
//! * `runner`: what stateful and stateless turns share; `stateful`, `stateless`: the two kinds; `stored_answer`: what the first kind
//!   stores
//! * `prompt_parts`: what a stored turn answers, and what precedes that; `files`: what its prompt has of files
//! * `title`: titles of conversations
//! * `registry`, `completed`: the turns of this process, running and finished
//! * `deletion`: deleting conversations and messages with their turns
//! * `replay`: subscribing again, also to a turn of another instance
//! * `sync`: what instances discover about models and share
//! * `telemetry`: metrics, traces, logged stages, and records of tool calls
//!
//! This crate knows no routes and no settings but its own; `functions/chat` parses requests and renders streams.

mod admission;
mod budgets;
mod closing_events;
mod completed;
mod deletion;
mod files;
mod handle;
mod locale;
mod prompt_parts;
mod registry;
mod replay;
mod request;
mod runner;
mod services;
mod start;
mod stateful;
mod stateless;
mod stored_answer;
mod sync;
mod telemetry;
mod title;

pub use admission::{TurnLimits, deadline};
pub use budgets::{Budget, Budgets};
pub use deletion::{delete_conversation, delete_message, erase};
pub use handle::TurnStream;
pub use locale::PromptLocale;
pub use registry::TurnRegistry;
pub use replay::{FrameId, LOG_FLUSH_INTERVAL, LOG_GRACE_PERIOD, current, events_of_answer, repeated, resume};
pub use request::{ClientTurn, PromptInput, ResolvedAgent, StartStatelessTurn, StartTurn, StatelessInput};
pub use services::{ServiceParts, TurnServices};
pub use start::{IdempotencyKey, start_or_replay};
pub use stateless::start_stateless;
pub use sync::{known_image_support, known_tool_support};
pub use telemetry::{Metrics, STAGES, Traces};
