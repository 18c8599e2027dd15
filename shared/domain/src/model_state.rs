//! What processes find out about models and their endpoints, and share.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// How tools are passed to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolMode {
    /// In the wire's own fields.
    Native,
    /// In the prompt; the model writes its calls as text.
    #[serde(rename = "text")]
    Prompted,
}

/// The source of a model's tool mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSupportSource {
    /// The operator's settings.
    Settings,
    /// A table of families, or the wire's default for models of other families.
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

/// The state of an endpoint as processes publish it; the latest change wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointHealth {
    /// When the state changed.
    pub changed_at: SystemTime,
    /// The end of the outage; `None` when the endpoint is up.
    pub down_until: Option<SystemTime>,
}
