//! Talks to a model endpoint; knows no tools' code and no storage.
//!
//! [`Models`] are read from the settings once. [`ModelClient::reply`] owns all retrying: it returns when the model has
//! begun to answer, and from then on [`Reply::next`] gives out what comes as it comes; what comes fast is read ahead
//! (`read_ahead`). What differs between endpoints
//! is a file under `wire` (a protocol) or a row under `providers` (the particulars of one of them).

mod attempts;
mod body;
mod breaker;
mod capability;
mod client;
mod config;
mod delta;
mod dialect;
mod error;
mod fault;
mod health;
mod learned;
mod limits;
mod listing;
mod models;
mod network;
mod options;
mod parameters;
mod pool;
mod prompt;
mod providers;
mod refusal;
mod reply;
mod response;
mod retry;
mod sse;
mod tape;
mod timers;
mod tool_path;
mod trace;
mod wire;
mod wishes;

pub use breaker::EndpointHealth;
pub use client::ModelClient;
pub use config::{ModelConfig, ToolsMode, Wire};
pub use delta::{Delta, Finish, NativeCall, TokenUsage};
pub use error::ModelError;
pub use limits::Limits;
pub use models::Models;
pub use options::{Effort, Options, Price, Sampling, Thinking};
pub use prompt::Prompt;
pub use reply::Reply;
pub use tape::{AttemptEnd, Tape};
pub use tool_path::{Finding, ToolPath, ToolUse, ToolsFrom};
pub use trace::{AttemptMade, Attempts};
pub use wishes::Wishes;
