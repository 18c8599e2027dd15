//! The route handlers, a file for each group of routes: each parses its request, makes one call and renders the response.

pub(crate) mod account;
pub(crate) mod admin;
pub(crate) mod ai_sdk;
pub(crate) mod catalog;
pub(crate) mod chat;
pub(crate) mod conversations;
pub(crate) mod documents;
mod extract;
pub(crate) mod openai;
pub(crate) mod page;
mod paging;
pub(crate) mod regenerate;
mod render;
pub(crate) mod resume;
pub(crate) mod stop;
pub(crate) mod usage;
