//! The binary as Lambda runs it, between stand-ins for Lambda, `CodeDeploy` and the new version: the product itself, and
//! versions of it that are broken on purpose.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what a test expects and does not find ends the test")]

mod aws;
mod door;
mod hook;
mod model;
mod world;
