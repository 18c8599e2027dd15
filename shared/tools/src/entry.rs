use std::sync::{Arc, OnceLock};

use domain::{Language, ToolSpec};
use serde_json::Value;

use crate::{Tool, memo};

/// A tool with its descriptions, each of which is read once.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) tool: Arc<dyn Tool>,
    /// Whether its result is the final answer.
    pub(crate) direct: bool,
    pub(crate) specs: PerLanguage<ToolSpec>,
}

impl Entry {
    pub(crate) fn spec(&self, language: Language) -> &ToolSpec {
        self.specs.get_or_init(language, || self.tool.spec(language))
    }

    /// Returns a key that is equal for equivalent calls.
    pub(crate) fn call_key(&self, arguments: &Value) -> String {
        memo::memo_key(&self.name, &self.tool.dedup_key(arguments))
    }
}

impl From<Arc<dyn Tool>> for Entry {
    fn from(tool: Arc<dyn Tool>) -> Self {
        let (language, specs) = (Language::default(), PerLanguage::default());
        let name = specs.get_or_init(language, || tool.spec(language)).name.clone();
        Self { name, tool, direct: false, specs }
    }
}

/// A value for each language, built at its first use: most functions need one language.
#[derive(Clone, Debug)]
pub(crate) struct PerLanguage<T> {
    zh: OnceLock<T>,
    en: OnceLock<T>,
}

impl<T> PerLanguage<T> {
    pub(crate) fn get_or_init(&self, language: Language, build: impl FnOnce() -> T) -> &T {
        match language {
            Language::Zh => self.zh.get_or_init(build),
            Language::En => self.en.get_or_init(build),
        }
    }
}

impl<T> Default for PerLanguage<T> {
    fn default() -> Self {
        Self { zh: OnceLock::new(), en: OnceLock::new() }
    }
}
