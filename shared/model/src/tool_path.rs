use std::time::SystemTime;

/// How tools are passed to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolPath {
    /// In the wire's own fields.
    Native,
    /// In the prompt; the model writes its calls as text.
    Text,
}

/// The source of a model's tool mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolsFrom {
    /// The operator's settings.
    Settings,
    /// The table in this crate; models that are not in it use the prompt.
    Table,
    /// The provider's list of models.
    Provider,
    /// A rejection of tools by the endpoint.
    Learned,
}

/// How tools are passed to a model, and the source of that decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolUse {
    /// The mode.
    pub path: ToolPath,
    /// The source.
    pub from: ToolsFrom,
}

/// A discovered tool support with an expiry time; processes share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The tool support, from [`ToolSupportSource::Provider`] or [`ToolSupportSource::Rejection`].
    pub tools: ToolUse,
    /// When it expires.
    pub until: SystemTime,
}
