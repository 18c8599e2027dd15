//! Runs a recorded turn again: the real agent, model client and tool session, over loopback, against what was recorded.
//!
//! * `score`: what a recording gives to a turn, and in which order
//! * `order`: keeps that order
//! * `server`: plays the models' answers
//! * `calls`: gives what tools gave
//! * `models`: the clients that ask it
//! * `stage`: what the turn tells while it runs
//! * `turn`: puts it together
//! * `compare`: whether clients saw the same

mod calls;
mod command;
mod compare;
mod models;
mod order;
mod score;
mod server;
mod stage;
mod turn;

pub(crate) use command::ReplayCommand;
pub use compare::{Replayed, Verdict};
pub use turn::{ReplayError, Speed, replay};
