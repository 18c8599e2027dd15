//! Calls of one model at its endpoint: connections, time, attempts and the reply as it arrives.

mod attempt_log;
mod authentication;
mod body;
mod call_options;
mod client;
mod deps;
mod network;
mod recorder;
mod reply;
mod response;
mod retry_loop;
mod retry_policy;

pub use attempt_log::{AttemptLog, AttemptRecord};
pub(crate) use authentication::Identities;
pub use call_options::CallOptions;
pub use client::ModelClient;
pub(crate) use deps::{ClientDeps, Timeouts};
pub use recorder::{AttemptEnd, ResponseRecorder};
pub use reply::Reply;
