//! Talks to a model endpoint; knows no tools' code and no storage.
//!
//! [`Models`] are read from the settings once. [`ModelClient::reply`] owns all retrying: it returns at the first delta.
//! From then on [`Reply::next`] returns each delta as it arrives.
//! Differences between endpoints are data: a file under `wire` (a protocol) or a row under `providers` (one provider).

mod attempt_error;
mod attempt_log;
mod body;
mod breaker;
mod call_options;
mod client;
mod client_deps;
mod config;
mod context_window;
mod delta;
mod dialect;
mod endpoint_compat;
mod endpoint_error;
mod error;
mod generation_params;
mod health;
mod idle_connections;
mod lax;
mod model_list;
mod models;
mod native_families;
mod network;
mod options;
mod prompt;
mod providers;
mod recorder;
mod reply;
mod resolved_params;
mod response;
mod retry_loop;
mod retry_policy;
mod timeouts;
mod tool_support;
mod tool_support_cache;
mod wire;

pub use attempt_log::{AttemptLog, AttemptRecord};
pub use breaker::EndpointHealth;
pub use call_options::CallOptions;
pub use client::ModelClient;
pub use config::{ModelConfig, ToolsSetting, Wire};
pub use delta::{Delta, Finish, NativeCall, TokenUsage};
pub use error::ModelError;
pub use generation_params::GenerationParams;
pub use models::Models;
pub use options::{Effort, Options, Price, Sampling, Thinking};
pub use prompt::Prompt;
pub use recorder::{AttemptEnd, ResponseRecorder};
pub use reply::Reply;
pub use tool_support::{CachedToolSupport, ToolMode, ToolSupport, ToolSupportSource};
