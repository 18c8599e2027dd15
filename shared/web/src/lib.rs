//! The HTTP layer that all functions share: errors, request ids, bodies, origins, event streams.
//!
//! [`wrap_routes`] applies all of it to a function's routes. The crates above return [`ApiError`] and never build error
//! bodies themselves.

mod auth;
mod body;
mod error;
mod lambda;
mod loopback_guard;
mod origins;
mod request_layer;
mod single_header;
mod sse;

pub use auth::{
    Administrator, Auth, AuthConfig, Caller, Credentials, Platform, RejectedCredential, SignIn, SourceHeader, SourceIp,
    authenticate, limit_reads, network_prefix,
};
pub use body::{BodyError, read_body_up_to, read_json_body, read_json_body_up_to, read_optional_json_body};
pub use error::{ApiError, ErrorFormat, ErrorId, status_of};
pub use lambda::{LambdaSettings, run};
pub use origins::Origins;
pub use request_layer::{Exposure, wrap_routes};
pub use sse::{collect, stream_response, wait_for_first_content};
