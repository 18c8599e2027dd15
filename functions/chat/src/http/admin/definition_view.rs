use serde::Serialize;
use serde_json::Value;
use store::Definition;

/// An agent or a tool, as the admin routes return it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DefinitionView {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) document: Value,
    /// Absent for a built-in definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) updated_at: Option<String>,
}

impl From<Definition> for DefinitionView {
    fn from(stored: Definition) -> Self {
        let (created_at, updated_at) = (Some(stored.created_at), Some(stored.updated_at));
        Self { id: stored.id, document: stored.body, created_at, updated_at }
    }
}
