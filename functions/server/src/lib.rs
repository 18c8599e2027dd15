//! The whole product on one machine: every route on one port, DynamoDB in the process, demo endpoints for all that is
//! not configured.
//!
//! `cargo run` and the tests call [`Server::start`]. The server's own requests to its database use no socket.

mod articles;
mod backup;
mod banner;
mod command_line;
mod connections;
mod keys;
mod server;
mod smoke_command;
mod store_location;
mod users;

pub use command_line::run;
pub use commands::CommandError;
pub use local_dynamodb::Data;
pub use server::{Options, Server};
