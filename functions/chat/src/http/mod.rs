//! The route handlers, a file for each group of routes: each parses its request, makes one call and renders the response.

pub(crate) mod account;
pub(crate) mod admin;
pub(crate) mod ai_sdk;
pub(crate) mod attachments;
pub(crate) mod audit;
pub(crate) mod catalog;
pub(crate) mod chat;
pub(crate) mod conversations;
pub(crate) mod documents;
pub(crate) mod embeddings;
pub(crate) mod export;
mod extract;
pub(crate) mod feedback;
pub(crate) mod import;
pub(crate) mod mcp;
pub(crate) mod openai;
pub(crate) mod page;
mod render;
pub(crate) mod responses;
pub(crate) mod routing;
pub(crate) mod shares;
pub(crate) mod usage;
