use std::sync::Arc;

use conversation::ToolSpec;
use serde_json::{Map, Value};

use crate::bound::Bound;
use crate::memo;
use crate::{Tool, ToolContext, ToolSession};

/// A tool and what it says of itself, asked once.
pub(crate) struct Entry {
    pub(crate) spec: ToolSpec,
    pub(crate) tool: Arc<dyn Tool>,
    /// Whether what it gives is the answer.
    pub(crate) direct: bool,
}

impl Entry {
    /// Equal for calls that mean the same.
    pub(crate) fn key(&self, arguments: &Value) -> String {
        memo::key(&self.spec.name, &self.tool.meaning(arguments))
    }
}

impl From<Arc<dyn Tool>> for Entry {
    fn from(tool: Arc<dyn Tool>) -> Self {
        Self { spec: tool.spec(), tool, direct: false }
    }
}

/// A tool that an agent uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolBinding {
    /// The tool's name.
    pub name: String,
    /// Arguments that hold for every call; models neither see nor choose them.
    pub fixed: Map<String, Value>,
    /// Whether what it gives is the answer, which no model words anew.
    pub direct: bool,
}

/// The tools of a deployment.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    entries: Arc<Vec<Entry>>,
    specs: Arc<[ToolSpec]>,
}

impl ToolRegistry {
    /// The registry of these tools; a later one of the same name replaces an earlier one.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self::of(tools.into_iter().map(Entry::from))
    }

    fn of(all: impl Iterator<Item = Entry>) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for entry in all {
            match entries.iter_mut().find(|known| known.spec.name == entry.spec.name) {
                Some(known) => *known = entry,
                None => entries.push(entry),
            }
        }
        let specs = entries.iter().map(|entry| entry.spec.clone()).collect();
        Self { entries: Arc::new(entries), specs }
    }

    /// The tools of these names, in that order, as an agent uses them; names that no tool has are passed over.
    #[must_use]
    pub fn bound(&self, bindings: &[ToolBinding]) -> Self {
        let bind = |binding: &ToolBinding| {
            let entry = self.entries.iter().find(|entry| entry.spec.name == binding.name)?;
            let tool = Arc::clone(&entry.tool);
            let bound: Arc<dyn Tool> =
                if binding.fixed.is_empty() { tool } else { Arc::new(Bound { tool, fixed: binding.fixed.clone() }) };
            Some(Entry { direct: binding.direct, ..Entry::from(bound) })
        };
        Self::of(bindings.iter().filter_map(bind))
    }

    /// These tools and further ones, as far as their names are free.
    #[must_use]
    pub fn beside(&self, more: Vec<Arc<dyn Tool>>) -> Self {
        let own = self.entries.iter().map(|entry| Arc::clone(&entry.tool));
        Self::new(more.into_iter().chain(own).collect())
    }

    /// Whether there is a tool of that name.
    pub fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.spec.name == name)
    }

    /// Whether what the tool of that name gives is the answer.
    pub fn is_direct(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.spec.name == name && entry.direct)
    }

    /// What models are told, in order: the same list for as long as these are the tools.
    pub fn specs(&self) -> &Arc<[ToolSpec]> {
        &self.specs
    }

    /// What they are called, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.spec.name.as_str())
    }

    /// The state of one turn: its memo of calls.
    pub fn session(&self, context: ToolContext) -> ToolSession {
        ToolSession::new(Arc::clone(&self.entries), context)
    }
}
