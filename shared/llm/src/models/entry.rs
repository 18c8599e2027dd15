use std::collections::BTreeMap;

use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};
use serde::Deserialize;

use super::{ACCEPTED_FALLBACK, ParsedModels, url};
use crate::{ModelConfig, ToolMode, Wire, providers, wire};

const VARIABLE: &str = "MODELS";

/// Additional rows of the same format, which `template.yaml` adds by itself.
const EXTRA_VARIABLE: &str = "EXTRA_MODELS";

const ACCEPTED: &str = "a JSON array of objects with \"name\", \"model\", \"baseUrl\" or \"apiKeyVar\" or both, and at \
                        will \"wire\" (openai, responses, ollama, anthropic or gemini), \"tools\" (auto, native, prompt or prompt:FORMAT), \
                        \"fallback\" and \"onlyFor\", a caller's name";

/// One element of `MODELS` or `EXTRA_MODELS`; an unknown field is an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Entry {
    name: String,
    model: String,
    base_url: Option<String>,
    api_key_var: Option<String>,
    wire: Option<Wire>,
    #[serde(default)]
    tools: ToolsField,
    fallback: Option<String>,
    only_for: Option<String>,
}

/// The field `tools`: `auto`, `native`, `prompt`, or `prompt:FORMAT` with the name of a text call format.
#[derive(Default, Deserialize)]
#[serde(try_from = "String")]
struct ToolsField {
    mode: Option<ToolMode>,
    call_format: Option<String>,
}

impl TryFrom<String> for ToolsField {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let (mode, call_format) = match text.as_str() {
            "auto" => (None, None),
            "native" => (Some(ToolMode::Native), None),
            "prompt" => (Some(ToolMode::Prompted), None),
            other => {
                let format = other.strip_prefix("prompt:").ok_or(ACCEPTED)?;
                (Some(ToolMode::Prompted), Some(format.to_owned()))
            }
        };
        Ok(Self { mode, call_format })
    }
}

/// Adds the models of `MODELS` and `EXTRA_MODELS`, and checks all names.
pub(super) fn read(settings: &Settings, parsed: &mut ParsedModels) -> Result<(), SettingError> {
    let mut variable_of = BTreeMap::new();
    for variable in [VARIABLE, EXTRA_VARIABLE] {
        let entries = settings.parse(variable, ACCEPTED, |text| serde_json::from_str::<Vec<Entry>>(text).ok())?;
        for entry in entries.unwrap_or_default() {
            let name = entry.name.trim();
            if name.is_empty() || parsed.configs.iter().any(|other| other.name == name) {
                let accepted = "a \"name\" in each element that is not blank and not used twice";
                return Err(SettingError::new(variable, accepted));
            }
            variable_of.insert(name.to_owned(), variable);
            entry.add(variable, settings, parsed)?;
        }
    }
    let Some(config) = parsed.invalid_fallback() else { return Ok(()) };
    let variable = variable_of.get(&config.name).copied().unwrap_or(VARIABLE);
    Err(SettingError::new(variable, format!("as \"fallback\" {ACCEPTED_FALLBACK}")))
}

impl Entry {
    fn add(self, variable: &str, settings: &Settings, parsed: &mut ParsedModels) -> Result<(), SettingError> {
        let name = self.name.trim().to_owned();
        let has_blank_owner = self.only_for.as_ref().is_some_and(|owner| owner.trim().is_empty());
        if self.model.trim().is_empty() || has_blank_owner || (self.base_url.is_none() && self.api_key_var.is_none()) {
            return Err(SettingError::new(variable, ACCEPTED));
        }
        let api_key =
            self.api_key_var.as_deref().map(|name| Secret::from_settings(settings, name)).transpose()?.flatten();
        if self.api_key_var.is_some() && api_key.is_none() {
            // The variable's name is not repeated: it may contain the key itself by mistake.
            parsed.notes.push(format!("{variable}: the variable in \"apiKeyVar\" of `{name}` is not set"));
            if self.base_url.is_none() {
                parsed.left_out.push(name);
                return Ok(());
            }
        }
        let accepted = || SettingError::new(variable, format!("as \"baseUrl\" {}", url::ACCEPTED));
        let base_url = self.base_url().ok_or_else(accepted)?;
        let Self { model, wire, tools, fallback, only_for, .. } = self;
        let wire = wire.unwrap_or_else(|| providers::default_wire(&base_url, model.trim()));
        let ToolsField { mode: tools, call_format } = tools;
        let defaults = ModelConfig::new(&name, &base_url, model.trim(), wire);
        parsed.configs.push(ModelConfig { api_key, tools, call_format, fallback, only_for, ..defaults });
        Ok(())
    }

    fn base_url(&self) -> Option<String> {
        let wire = self.wire.unwrap_or_default();
        match &self.base_url {
            Some(text) => url::parse_base(text.trim(), wire),
            None => wire::default_base(wire).map(str::to_owned),
        }
    }
}
