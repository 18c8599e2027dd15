//! `lambda-chat check`, `evaluate` and `articles` against scripted models, searches and pages: their whole output.

#![expect(clippy::unwrap_used, reason = "what a test stands on must hold, or the test has failed")]

mod articles;
mod check;
mod check_embeddings;
mod evaluate;
mod evaluate_documents;
mod pdf;
mod program;
