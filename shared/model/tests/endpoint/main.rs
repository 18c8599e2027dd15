//! The crate against real servers on loopback that play a script.

mod attempts;
mod server;
