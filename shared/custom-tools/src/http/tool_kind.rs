use domain::{Failure, StrictObject};
use serde::Serialize;

/// How the response of a tool arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Whole.
    #[default]
    Invokable,
    /// As a stream, over a longer time.
    Streamable,
    /// From the tools of a Model Context Protocol server.
    Mcp,
}

impl ToolKind {
    /// Parses the field `type` of a definition; `invokable` by default.
    pub(super) fn parse(fields: &mut StrictObject) -> Result<Self, Failure> {
        match fields.take_string("type")?.as_deref() {
            None | Some("invokable") => Ok(Self::Invokable),
            Some("streamable") => Ok(Self::Streamable),
            Some("mcp") => Ok(Self::Mcp),
            Some(_) => Err(fields.field_error("type", "\"invokable\", \"streamable\" or \"mcp\"")),
        }
    }
}
