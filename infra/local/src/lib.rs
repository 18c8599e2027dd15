//! The whole product on one machine: every route on one port, DynamoDB in the process, demo endpoints for what is not
//! configured.
//!
//! [`Server::start`] is what `cargo run` calls, and what the tests call.

mod banner;
mod command_line;
mod database;
mod demo;
mod error;
mod keys;
mod open_files;
mod server;
mod store_place;
mod users;

pub use command_line::run;
pub use database::Data;
pub use error::StartError;
pub use server::{Options, Server};
