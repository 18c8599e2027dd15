use serde::Deserialize;
use settings::{SettingError, Settings};

use super::{Found, fallback, key, url};
use crate::{ModelConfig, Options, ToolsMode, Wire};

const VARIABLE: &str = "MODELS";

const ACCEPTED: &str = "a JSON array of objects with \"name\", \"model\", \"baseUrl\" or \"apiKeyVar\" or both, and at \
                        will \"wire\" (openai, ollama, anthropic or gemini), \"tools\" (auto, native or prompt), \
                        \"fallback\" and \"onlyFor\", a caller's name";

/// One element of `MODELS`; a field that is not known is a mistake rather than a wish for later.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Entry {
    name: String,
    model: String,
    base_url: Option<String>,
    api_key_var: Option<String>,
    #[serde(default)]
    wire: Wire,
    #[serde(default)]
    tools: ToolsMode,
    fallback: Option<String>,
    only_for: Option<String>,
}

/// Adds the models of `MODELS`, and checks the names of all.
pub(super) fn read(settings: &Settings, found: &mut Found) -> Result<(), SettingError> {
    let entries = settings.parsed(VARIABLE, ACCEPTED, |text| serde_json::from_str::<Vec<Entry>>(text).ok())?;
    for entry in entries.unwrap_or_default() {
        let name = entry.name.trim();
        if name.is_empty() || found.configs.iter().any(|other| other.name == name) {
            return Err(SettingError::new(VARIABLE, "a \"name\" in each element that is not blank and not used twice"));
        }
        entry.add(settings, found)?;
    }
    match fallback::wrong(&found.configs) {
        Some(_) => Err(SettingError::new(VARIABLE, format!("as \"fallback\" {}", fallback::ACCEPTED))),
        None => Ok(()),
    }
}

impl Entry {
    fn add(self, settings: &Settings, found: &mut Found) -> Result<(), SettingError> {
        let name = self.name.trim().to_owned();
        let nobody = self.only_for.as_ref().is_some_and(|owner| owner.trim().is_empty());
        if self.model.trim().is_empty() || nobody || (self.base_url.is_none() && self.api_key_var.is_none()) {
            return Err(SettingError::new(VARIABLE, ACCEPTED));
        }
        let api_key = self.api_key_var.as_deref().map(|variable| key(settings, variable)).transpose()?.flatten();
        if self.api_key_var.is_some() && api_key.is_none() {
            // The variable's name is not repeated: the key itself may have been written there.
            found.notes.push(format!("MODELS: the variable in \"apiKeyVar\" of `{name}` is not set"));
            if self.base_url.is_none() {
                found.left_out.push(name);
                return Ok(());
            }
        }
        let base_url = self.base_url()?;
        let Self { model, wire, tools, fallback, only_for, .. } = self;
        found.configs.push(ModelConfig {
            name,
            base_url,
            api_key,
            model: model.trim().to_owned(),
            wire,
            tools,
            fallback,
            only_for,
            options: Options::default(),
            demo: false,
        });
        Ok(())
    }

    fn base_url(&self) -> Result<String, SettingError> {
        let base = match &self.base_url {
            Some(text) => url::base(text.trim(), self.wire),
            None => url::default_base(self.wire).map(str::to_owned),
        };
        base.ok_or_else(|| SettingError::new(VARIABLE, format!("as \"baseUrl\" {}", url::ACCEPTED)))
    }
}
