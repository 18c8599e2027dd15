//! What tries a new version before anybody is sent to it.
//!
//! One binary and two functions. The *hook* is called by `CodeDeploy`: it invokes the new version ([`Invoke`]), makes the
//! checks of a deployment (`smoke`), and tells whether all of them hold. The *model* plays the model meanwhile: a script
//! in the words of an OpenAI-compatible endpoint, at a known pace, behind a URL and a key. They are two functions because
//! the version needs the model's address and the hook the version's number, and because the one that everybody can reach
//! should be allowed nothing.

mod code_deploy;
mod event;
mod frames;
mod head;
mod hook;
mod invoke;
mod lambda;
mod model;
mod script;

pub use invoke::Invoke;
pub use lambda::run;
pub use script::{Question, Script};
