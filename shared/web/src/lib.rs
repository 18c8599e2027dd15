//! The HTTP layer that all functions share: errors, request ids, bodies, origins, event streams.
//!
//! [`wrap_routes`] applies all of it to a function's routes. The crates above return [`ApiError`] and never build error
//! bodies themselves.

mod auth;
mod body;
mod edge;
mod error;
mod guard;
mod header_value;
mod lambda;
mod origins;
mod sse;
mod store_error;

pub use auth::{
    Administrator, Auth, AuthConfig, Caller, Credentials, Place, SourceHeader, SourceIp, authenticate, network,
};
pub use body::{BodyError, json_body, json_body_of, optional_json_body};
pub use edge::{Arrival, ErrorShape, Reach, RequestId, edge};
pub use error::{ApiError, status};
pub use guard::is_loopback_host;
pub use lambda::{Front, Invocation, run};
pub use origins::Origins;
pub use sse::{collect, opened, stream};
