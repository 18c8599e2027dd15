//! Checks a new version before callers are routed to it.
//!
//! One binary, two functions. `CodeDeploy` calls the *hook*: it invokes the new version ([`InvokeTransport`]), makes
//! the checks of a deployment (`smoke`), and reports whether all pass. The *model* replaces the model during the
//! checks: a script in the format of an OpenAI-compatible endpoint, at a known speed, with a URL and a key. They are
//! two functions for two reasons. The version needs the model's URL, while the hook needs the version's number. And the
//! function with a public URL should have no permissions.

mod event;
mod frames;
mod hook;
mod invoke;
mod lambda;
mod model;

pub use invoke::InvokeTransport;
pub use lambda::run;
pub use model::{ChatRequest, Script};
