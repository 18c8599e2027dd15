use serde::Serialize;

/// What a tool is, for people and clients; models do not read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolMetadata {
    /// The kind of its work, such as `search`.
    pub category: &'static str,
    /// Whether it is part of the product and not defined by an administrator.
    pub internal: bool,
    /// The version of its arguments and results; absent for a tool that an administrator defines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<&'static str>,
    /// The name of the folder to which the paths in its arguments are relative, never a path of the machine; absent for a
    /// tool without paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

impl ToolMetadata {
    /// A tool of the product in this category.
    pub fn built_in(category: &'static str) -> Self {
        Self { category, internal: true, version: Some("1.0.0"), cwd: None }
    }

    /// This tool with paths relative to the folder of that name.
    #[must_use]
    pub fn in_folder(self, cwd: impl Into<String>) -> Self {
        Self { cwd: Some(cwd.into()), ..self }
    }

    /// A tool that an administrator defines.
    pub fn custom() -> Self {
        Self { category: "custom", internal: false, version: None, cwd: None }
    }
}
