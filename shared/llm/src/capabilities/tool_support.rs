use std::time::SystemTime;

use crate::ToolMode;

/// The source of a model's tool mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSupportSource {
    /// The operator's settings.
    Settings,
    /// The table of families in this crate, or the wire's default for models of other families.
    Table,
    /// The provider's list of models.
    Provider,
    /// A rejection of tools by the endpoint.
    Rejection,
}

/// How tools are passed to a model, and the source of that decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolSupport {
    /// The mode.
    pub mode: ToolMode,
    /// The source.
    pub source: ToolSupportSource,
}

/// A discovered tool support with an expiry time; processes share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachedToolSupport {
    /// The tool support, from [`ToolSupportSource::Provider`] or [`ToolSupportSource::Rejection`].
    pub tools: ToolSupport,
    /// The context window in the provider's list, in tokens; 0 if the list shows none, `None` if it was not read.
    pub context_tokens: Option<u64>,
    /// When it expires.
    pub expires_at: SystemTime,
}
