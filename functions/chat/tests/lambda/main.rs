//! The function's binary as Lambda runs it: real events from a Runtime API on loopback, answers taken chunk by chunk.
//!
//! `CHAT_BINARY` names another build to be held to the same.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what a test expects and does not find ends the test")]

mod access;
mod buffered;
mod deadline;
mod instance;
mod life;
mod many;
mod observed;
mod rest;
mod shapes;
mod streamed;
mod tried;
