//! The program as its own process, observed from outside.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "what a test expects and does not find ends it")]

mod disk;
mod files;
mod kills;
mod reach;
mod running;
