//! Tests of the crate against scripted servers on loopback, in virtual time.
#![expect(clippy::unwrap_used, reason = "what fails to be set up shall fail the test")]

mod before_bytes;
mod clouds;
mod compat_fixes;
mod connections;
mod context_window;
mod failed_calls;
mod health;
mod in_stream;
mod keys;
mod recorder;
mod responses;
mod retries;
mod scripts;
mod server;
mod tool_probe;
mod wires;
