use std::sync::{Arc, OnceLock};

use domain::{Language, ToolExample, ToolSpec};
use serde_json::{Map, Value};

use crate::{Tool, ToolContext, ToolMetadata, ToolSession};

/// A tool that an agent uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolBinding {
    /// The tool's name.
    pub name: String,
    /// Arguments that are fixed for every call; models neither see nor choose them.
    pub fixed: Map<String, Value>,
    /// Whether its result is the final answer, which no model rephrases.
    pub direct: bool,
}

/// A value for each language, built at its first use: most functions need one language.
type PerLanguage<T> = [OnceLock<T>; 2];

fn of_language<T>(values: &PerLanguage<T>, language: Language, build: impl FnOnce() -> T) -> &T {
    let [zh, en] = values;
    match language {
        Language::Zh => zh.get_or_init(build),
        Language::En => en.get_or_init(build),
    }
}

/// A tool as an agent uses it, with its descriptions.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) tool: Arc<dyn Tool>,
    /// Arguments that are fixed for every call; models neither see nor choose them.
    pub(crate) fixed: Map<String, Value>,
    /// Whether its result is the final answer.
    pub(crate) direct: bool,
    specs: PerLanguage<ToolSpec>,
}

impl From<Arc<dyn Tool>> for Entry {
    fn from(tool: Arc<dyn Tool>) -> Self {
        let (language, specs) = (Language::default(), PerLanguage::default());
        let name = of_language(&specs, language, || tool.spec(language)).name.clone();
        Self { name, tool, fixed: Map::new(), direct: false, specs }
    }
}

impl Entry {
    fn bound_by(&self, binding: &ToolBinding) -> Self {
        let specs = if binding.fixed.is_empty() { self.specs.clone() } else { PerLanguage::default() };
        let fixed = binding.fixed.clone().into_iter().chain(self.fixed.clone()).collect();
        Self { direct: binding.direct, fixed, specs, ..self.clone() }
    }

    /// The description without the fixed arguments.
    pub(crate) fn spec(&self, language: Language) -> &ToolSpec {
        let chosen = |name: &str| !self.fixed.contains_key(name);
        of_language(&self.specs, language, || {
            let mut spec = self.tool.spec(language);
            if let Some(properties) = spec.parameters.get_mut("properties").and_then(Value::as_object_mut) {
                properties.retain(|name, _| chosen(name));
            }
            if let Some(required) = spec.parameters.get_mut("required").and_then(Value::as_array_mut) {
                required.retain(|name| name.as_str().is_none_or(chosen));
            }
            for ToolExample { arguments, .. } in &mut spec.examples {
                arguments.as_object_mut().into_iter().for_each(|arguments| arguments.retain(|name, _| chosen(name)));
            }
            spec
        })
    }
}

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
