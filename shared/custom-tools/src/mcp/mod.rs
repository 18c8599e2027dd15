//! Tools of Model Context Protocol servers, over streamable HTTP.
//!
//! A row names a server; the server lists its tools, and each appears as `ROW_tool`. Both generations of the protocol
//! are supported: first the stateless one (2026-07-28), and if a server rejects it, the one with a handshake and
//! sessions (up to 2025-11-25). Every request uses [`egress::Egress`], follows no redirect and has a timeout. All data
//! of a server is untrusted: schemas and descriptions are bounded, results are escaped.

mod exchange;
mod handshake;
mod headers;
mod listing;
mod reply_reader;
mod server;
mod tool;

#[cfg(test)]
mod tests;

pub use server::McpServer;
