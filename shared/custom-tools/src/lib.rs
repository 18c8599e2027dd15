//! Custom tools: definitions that an administrator stores as data.
//!
//! A [`ToolDefinition`] describes a request to a public host, a built-in tool under another name, or a Model Context
//! Protocol server with tools of its own; [`build`] turns it into a [`CustomTool`].

mod call_error;
mod custom_tool;
mod event_stream;
#[cfg(test)]
mod fuzz;
mod http;
mod mcp;

pub use custom_tool::{CustomTool, build};
pub use http::{
    Auth, BuiltinTool, Endpoint, HttpTool, ImportedTools, Rules, SecretReference, ServerEndpoint, TestCall,
    ToolDefinition, ToolKind, ToolSecrets, Transform, UnusableOperation, WebEndpoint, import,
};
pub use mcp::McpServer;
