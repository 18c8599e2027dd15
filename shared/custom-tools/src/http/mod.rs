//! Tools defined as data: each definition describes a request to a public host.
//!
//! A definition cannot choose its target by its arguments. Scheme, host and port are fixed text and are checked against
//! the deployment's [`egress::Policy`]; arguments are encoded so that they stay in their slots. Secrets are named,
//! resolved when the request is sent, and masked in every response.
//!
//! The response of a `streamable` tool is forwarded as progress while it arrives, and the model gets it as one text at
//! the end.

mod auth;
mod definition;
mod endpoint;
mod envelope;
mod import;
pub(crate) mod parameters;
mod progress_relay;
mod request;
mod schema_refs;
pub(crate) mod secret_mask;
mod secrets;
pub(crate) mod template;
pub(crate) mod test_call;
mod token_variables;
pub(crate) mod tool;
mod transform;

#[cfg(test)]
pub(crate) mod tests;

pub use auth::Auth;
pub(crate) use auth::Credentials;
pub use definition::{Rules, ToolDefinition};
pub use endpoint::{BuiltinTool, Endpoint, ServerEndpoint, ToolKind, WebEndpoint};
pub use import::{ImportedTools, UnusableOperation, import};
pub use secrets::{SecretReference, ToolSecrets};
pub use test_call::TestCall;
pub use tool::HttpTool;
pub use transform::Transform;
