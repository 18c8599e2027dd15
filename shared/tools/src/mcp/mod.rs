//! The tools of servers that speak the Model Context Protocol over streamable HTTP.
//!
//! A row names a server; the server says which tools it has, and each appears as `ROW_tool`. Both generations of the
//! protocol are spoken: first the stateless one (2026-07-28), and where a server refuses that, the one with a handshake
//! and sessions (up to 2025-11-25). Every request goes through [`egress::Egress`], follows no redirect and has an end.
//! What a server sends is data: schemas and descriptions are bounded, results are untrusted text.

mod connection;
mod content;
mod exchange;
mod failure;
mod headers;
mod listening;
mod listing;
mod server;
mod tool;

#[cfg(test)]
mod tests;

pub use server::McpServer;
