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

pub use body::Part;
pub use error::EgressError;
pub use headers::{HeaderRefusal, is_free};
pub use network::{Network, SystemNetwork};
pub use policy::{Policy, Refusal};
pub use request::{Limits, OverCap, Request};
pub use response::Response;
pub use send::Egress;
