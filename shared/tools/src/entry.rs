use std::sync::{Arc, OnceLock};

use domain::{Language, ToolExample, ToolSpec};
use serde_json::{Map, Value};

use crate::Tool;

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
pub(crate) type PerLanguage<T> = [OnceLock<T>; 2];

pub(crate) fn of_language<T>(values: &PerLanguage<T>, language: Language, build: impl FnOnce() -> T) -> &T {
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
    pub(crate) specs: PerLanguage<ToolSpec>,
}

impl From<Arc<dyn Tool>> for Entry {
    fn from(tool: Arc<dyn Tool>) -> Self {
        let (language, specs) = (Language::default(), PerLanguage::default());
        let name = of_language(&specs, language, || tool.spec(language)).name.clone();
        Self { name, tool, fixed: Map::new(), direct: false, specs }
    }
}

impl Entry {
    pub(crate) fn bound_by(&self, binding: &ToolBinding) -> Self {
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
