//! Tests of the crate against scripted servers on loopback, in virtual time.
#![expect(clippy::unwrap_used, reason = "what fails to be set up shall fail the test")]

mod amendments;
mod before_bytes;
mod connections;
mod health;
mod in_stream;
mod inquiry;
mod keys;
mod scripts;
mod server;
mod taping;
mod waits;
mod wires;
