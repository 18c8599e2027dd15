//! `evaluate`: questions with known right calls, answered by the whole product in this process, and the share of right
//! calls of each model.

mod command;
mod judge;
mod leaks;
mod product;
mod question;
mod report;

pub use command::EvaluateCommand;
