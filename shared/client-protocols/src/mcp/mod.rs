//! The Model Context Protocol for a server without sessions: revision 2026-07-28, in which each request names its
//! version, and the revisions before it, whose clients begin with `initialize`. Source: "Streamable HTTP", "Tools" and
//! "Versioning" of the specification at <https://modelcontextprotocol.io/specification/>, 2026-11-27.

mod error;
mod request;
mod response;
mod stream;

pub use error::{McpError, render_mcp_error};
pub use request::{McpCall, McpHeaders, McpMethod, McpRequest};
pub use response::{mcp_response, mcp_result, mcp_tool};
pub use stream::McpStream;

/// The revision without a handshake.
const STATELESS_VERSION: &str = "2026-07-28";

/// Earlier revisions without batches, newest first.
const EARLIER_VERSIONS: [&str; 2] = ["2025-11-25", "2025-06-18"];

/// All versions, newest first.
fn supported_versions() -> Vec<&'static str> {
    [STATELESS_VERSION].into_iter().chain(EARLIER_VERSIONS).collect()
}
