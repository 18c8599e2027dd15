use std::time::SystemTime;

/// How a model is given tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolPath {
    /// Through the wire's own fields.
    Native,
    /// In the prompt; the model writes its calls as text.
    Text,
}

/// From where it is known how a model is given tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolsFrom {
    /// The operator said so.
    Settings,
    /// The table that this crate brings; what it does not name goes by text.
    Table,
    /// The provider's list of models.
    Provider,
    /// The endpoint refused tools.
    Learned,
}

/// How a model is given tools, and from where that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolUse {
    /// The path.
    pub path: ToolPath,
    /// The source.
    pub from: ToolsFrom,
}

/// Something that was found out about a model's tools and holds for a while; worth telling other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is, [`ToolsFrom::Provider`] or [`ToolsFrom::Learned`].
    pub tools: ToolUse,
    /// Until when it holds.
    pub until: SystemTime,
}
