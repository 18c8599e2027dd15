//! The function's binary as Lambda runs it: real events from a Runtime API on loopback, responses read chunk by chunk.
//!
//! `CHAT_BINARY` names another build to be tested instead.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what a test expects and does not find ends the test")]

mod access;
mod buffered;
mod concurrency;
mod deadline;
mod deployment_checks;
mod event_formats;
#[cfg(feature = "files")]
mod files;
mod instance;
mod lifecycle;
mod rest_api;
mod streamed;
mod telemetry;
