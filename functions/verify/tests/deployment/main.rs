//! Tests of the binary as Lambda runs it, with fakes of Lambda, `CodeDeploy` and the new version: the product itself,
//! and versions with deliberate defects.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what a test expects and does not find ends the test")]

mod aws;
mod hook;
mod invocation;
mod model;
mod world;
