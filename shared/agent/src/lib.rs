//! The loop: ask the model, run what it calls, ask again, until there is an answer.
//!
//! The agent knows models and tools but no storage: the history comes in with the [`Turn`], what happens goes out through
//! [`EventLog`], and what is worth keeping stands in the [`Draft`], also when the turn is cut off.
//!
//! * `run`: the rounds and their limits
//! * `step`: one reply, read while its calls already run
//! * `run/failover`, `seam`: what follows when a model fails, and how two models' words become one answer
//! * `run/ahead`: a search beside the first call of the model
//! * `run/times`: what the time of a turn is for
//! * `run/direct`: results that are the answer
//! * `prompt`, `replay`, `call_ids`, `alternate`: what the model reads
//! * `context`: what of a conversation fits a prompt
//! * `draft`, `event_log`: what has been said so far, and those who follow it
//! * `caller`, `run/callers`: what a caller brings along who keeps the conversation himself, tools of his own too
//! * `recording`: what takes a turn down
//! * `tokens`, `estimate`: how many tokens something has
//! * `fallback`: for when a model says nothing

mod alternate;
mod call_ids;
mod caller;
mod context;
mod draft;
mod estimate;
mod event_log;
mod failure;
mod fallback;
mod prompt;
mod recording;
mod replay;
mod run;
mod seam;
mod step;
mod tokens;

pub use caller::Caller;
pub use draft::{CallRecord, Draft};
pub use event_log::{CloseGuard, EventLog, Subscriber};
pub use recording::{Recorder, Recording};
pub use run::{Agent, Measured, ToolPaths, Turn};
