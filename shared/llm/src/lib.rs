//! Talks to a model endpoint; knows no tools' code and no storage.
//!
//! [`Models`] are read from the settings once. [`ModelClient::reply`] owns all retrying: it returns at the first delta.
//! From then on [`Reply::next`] returns each delta as it arrives.
//! Differences between endpoints are data: a folder under `wire` (a protocol) or a row under `providers` (one provider).

mod capabilities;
mod config;
mod delta;
mod endpoint;
mod errors;
mod health;
mod lax;
mod models;
mod params;
mod prompt;
mod providers;
mod wire;

pub use config::{Auth, Cloud, ModelConfig, OnlyFor, Wire};
pub use delta::{Delta, Finish, NativeCall, TokenUsage};
pub use domain::{CachedToolSupport, EndpointHealth, ToolMode, ToolSupport, ToolSupportSource};
pub use endpoint::{AttemptEnd, AttemptLog, AttemptRecord, CallOptions, ModelClient, Reply, ResponseRecorder};
pub use errors::ModelError;
pub use models::Models;
pub use params::{Effort, GenerationParams, Options, Price, Thinking};
pub use prompt::Prompt;
