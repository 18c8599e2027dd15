//! The only way out to a host that is named by data: by a definition, a document, a model or a user.
//!
//! A URL is checked after it was parsed, by the parser that also sends it. A name is resolved once; if any of its
//! addresses is not public, nothing is sent, and otherwise the connection can go to the checked addresses only. The
//! checks are made anew at every redirect, which are off unless a request asks for them. There is no proxy, no
//! compression and no answer without an end.

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
