//! The demo of a machine without an account: a scripted model, a search with built-in pages, and these pages for people.

mod demo;

pub use demo::{page_routes, router, with_own_addresses, write_documents};
