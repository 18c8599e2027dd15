//! Tools that are defined as data: a request to a public host, described by a document.
//!
//! Data chooses what is asked, never where an answer may come from: scheme, host and port are fixed text of the
//! definition and are held to the deployment's [`egress::Policy`]; arguments are encoded so that they stay within their
//! place; secrets are named, are resolved when they are sent, and are masked in whatever comes back.
//!
//! What a `streamable` tool sends is told as it comes, and given to the model as one text at the end.

mod arguments;
mod auth;
mod credentials;
mod definition;
mod endpoint;
pub(crate) mod failure;
mod import;
mod inline;
pub(crate) mod mask;
pub(crate) mod parameters;
mod request;
mod secrets;
mod telling;
pub(crate) mod template;
pub(crate) mod tool;
mod transform;
pub(crate) mod trial;

#[cfg(test)]
pub(crate) mod tests;

pub use auth::Auth;
pub(crate) use credentials::Credentials;
pub use definition::{Rules, ToolDefinition, ToolKind};
pub use endpoint::{Endpoint, Internal, ServerEndpoint, WebEndpoint};
pub use import::{Imported, Unusable, import};
pub use secrets::{SecretReference, ToolSecrets};
pub use tool::{Defined, HttpTool, defined};
pub use transform::Transform;
pub use trial::{Trial, TrialRequest, TrialResponse};
