//! `lambda-chat check`, `evaluate`, `articles`, `users` and `health` against scripted servers: their whole output.

#![expect(clippy::unwrap_used, reason = "what a test stands on must hold, or the test has failed")]

mod articles;
mod check;
mod check_embeddings;
mod check_search;
mod check_unreachable;
mod evaluate;
mod evaluate_documents;
mod pdf;
mod program;
mod smoke;
mod users;
