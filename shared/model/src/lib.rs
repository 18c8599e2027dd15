//! Talks to a model endpoint; knows no tools' code and no storage.
//!
//! [`Models`] are read from the settings once. [`ModelClient::reply`] owns all retrying: it returns at the first delta.
//! From then on [`Reply::next`] returns each delta as it arrives. Bursts of chunks are read ahead (`read_ahead`).
//! Differences between endpoints are data: a file under `wire` (a protocol) or a row under `providers` (one provider).

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
