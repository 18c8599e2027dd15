//! Adding and searching articles, against the embedded database and an embeddings server on loopback.

#![expect(clippy::unwrap_used, reason = "what a test stands on must hold, or the test has failed")]

mod embeddings_server;
mod filling;
mod killed;
mod recall;
mod searching;
mod support;
mod vector_index;
mod vectors_server;
