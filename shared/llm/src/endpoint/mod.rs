//! Calls of one model at its endpoint: connections, time, attempts and the reply as it arrives.

mod attempt_log;
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
mod timeouts;

pub use attempt_log::{AttemptLog, AttemptRecord};
pub use call_options::CallOptions;
pub use client::ModelClient;
pub(crate) use deps::ClientDeps;
pub use recorder::{AttemptEnd, ResponseRecorder};
pub use reply::Reply;
pub(crate) use timeouts::Timeouts;
