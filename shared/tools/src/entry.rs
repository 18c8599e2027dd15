use std::sync::Arc;

use domain::ToolSpec;
use serde_json::Value;

use crate::{Tool, memo};

/// A tool with its description, which is read once.
pub(crate) struct Entry {
    pub(crate) spec: ToolSpec,
    pub(crate) tool: Arc<dyn Tool>,
    /// Whether its result is the final answer.
    pub(crate) direct: bool,
}

impl Entry {
    /// Returns a key that is equal for equivalent calls.
    pub(crate) fn call_key(&self, arguments: &Value) -> String {
        memo::memo_key(&self.spec.name, &self.tool.dedup_key(arguments))
    }
}

impl From<Arc<dyn Tool>> for Entry {
    fn from(tool: Arc<dyn Tool>) -> Self {
        Self { spec: tool.spec(), tool, direct: false }
    }
}
