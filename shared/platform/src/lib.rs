//! What every process needs of its surroundings: settings, the HTTP client, signed AWS requests, and secrets. This crate
//! knows nothing of chats, models or tools.

pub mod aws;
mod credential;
pub mod secrets;
pub mod settings;
pub mod tokens;
pub mod transport;
