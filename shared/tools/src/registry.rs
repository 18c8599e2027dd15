use std::sync::Arc;

use domain::{Language, ToolSpec};

use crate::entry::{Entry, PerLanguage, ToolBinding, of_language};
use crate::{Tool, ToolContext, ToolMetadata, ToolSession};

/// The tools of a deployment.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    entries: Arc<Vec<Entry>>,
    specs: Arc<PerLanguage<Arc<[ToolSpec]>>>,
}

impl ToolRegistry {
    /// Creates the registry of these tools. A later tool replaces an earlier one of the same name.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self::from_entries(tools.into_iter().map(Entry::from))
    }

    fn from_entries(all: impl Iterator<Item = Entry>) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for entry in all {
            match entries.iter_mut().find(|known| known.name == entry.name) {
                Some(known) => *known = entry,
                None => entries.push(entry),
            }
        }
        Self { entries: Arc::new(entries), specs: Arc::default() }
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Returns the tools of these names, in that order, as an agent uses them. Names without a tool are skipped.
    #[must_use]
    pub fn restricted_to(&self, bindings: &[ToolBinding]) -> Self {
        let bind = |binding: &ToolBinding| Some(self.entry(&binding.name)?.bound_by(binding));
        Self::from_entries(bindings.iter().filter_map(bind))
    }

    /// Returns these tools and `more`; on equal names the tools of `self` win.
    #[must_use]
    pub fn extended_with(&self, more: Vec<Arc<dyn Tool>>) -> Self {
        Self::from_entries(more.into_iter().map(Entry::from).chain(self.entries.iter().cloned()))
    }

    /// Returns these tools and the one of that name among `others`; `None` if there is none.
    pub fn with_one_of(&self, others: &Self, name: &str) -> Option<Self> {
        let added = others.entry(name)?;
        Some(Self::from_entries(self.entries.iter().chain([added]).cloned()))
    }

    /// Returns these tools except those of these names.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        Self::from_entries(self.entries.iter().filter(|entry| !names.contains(&entry.name.as_str())).cloned())
    }

    /// Whether there is a tool of that name.
    pub fn has(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// Whether the result of the tool of that name is the final answer.
    pub fn is_direct(&self, name: &str) -> bool {
        self.entry(name).is_some_and(|entry| entry.direct)
    }

    /// The descriptions for models, in order. It is the same list until the tools change.
    pub fn specs(&self, language: Language) -> &Arc<[ToolSpec]> {
        let build = || self.entries.iter().map(|entry| entry.spec(language).clone()).collect();
        of_language(&self.specs, language, build)
    }

    /// What each tool is, in the order of the descriptions.
    pub fn metadata(&self) -> impl Iterator<Item = ToolMetadata> {
        self.entries.iter().map(|entry| entry.tool.metadata())
    }

    /// The names of the tools, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// Creates the state of one turn: its memo of calls.
    pub fn session(&self, context: ToolContext) -> ToolSession {
        ToolSession::new(Arc::clone(&self.entries), context)
    }
}
