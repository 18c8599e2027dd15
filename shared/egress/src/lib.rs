//! Guarded requests to hosts named by data: by a definition, a document, a model or a user.
//!
//! The parser that sends a URL also parses it for the checks. A name is resolved once per request. If any of its
//! addresses is not public, nothing is sent; otherwise the connection can only go to the checked addresses. Redirects
//! are off unless a request enables them, and each one is checked again. There is no proxy, no decompression and no
//! unlimited response.

mod address;
mod body;
mod error;
mod headers;
mod network;
mod policy;
mod redirect;
mod request;
mod response;
mod send;

pub use body::BodyChunk;
pub use error::EgressError;
pub use headers::{HeaderError, is_settable};
pub use network::{Network, SystemNetwork};
pub use policy::{Policy, PolicyViolation};
pub use request::{Limits, OnOversize, Request};
pub use response::Response;
pub use send::Egress;
