use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};

use super::{ParsedModels, url};
use crate::{ModelConfig, Wire, providers, wire};

/// A model with its own variables.
struct Builtin {
    name: &'static str,
    key: Option<&'static str>,
    model: &'static str,
    base: &'static str,
    /// The base URL without the variable, if it is not that of the wire.
    default_base: Option<&'static str>,
    wire: Wire,
}

/// The built-in models; the first configured one becomes the default.
const BUILTIN: [Builtin; 3] = [
    Builtin {
        name: "volcano",
        key: Some("ARK_API_KEY"),
        model: "ARK_MODEL",
        base: "ARK_BASE_URL",
        // Source: documentation and SDK of Ark, 2026-11-21.
        default_base: Some("https://ark.cn-beijing.volces.com/api/v3"),
        wire: Wire::Openai,
    },
    Builtin {
        name: "openai",
        key: Some("OPENAI_API_KEY"),
        model: "OPENAI_MODEL",
        base: "OPENAI_BASE_URL",
        default_base: None,
        wire: Wire::Openai,
    },
    Builtin {
        name: "local",
        key: None,
        model: "OLLAMA_MODEL",
        base: "OLLAMA_API_URL",
        default_base: None,
        wire: Wire::Ollama,
    },
];

/// Adds the built-in models that have a model and a key or a base URL.
pub(super) fn read(settings: &Settings, parsed: &mut ParsedModels) -> Result<(), SettingError> {
    BUILTIN.iter().try_for_each(|builtin| builtin.add_to(settings, parsed))
}

impl Builtin {
    fn add_to(&self, settings: &Settings, parsed: &mut ParsedModels) -> Result<(), SettingError> {
        let api_key = self.key.map(|variable| Secret::from_settings(settings, variable)).transpose()?.flatten();
        let base = settings.parse(self.base, url::ACCEPTED, |text| url::parse_base(text, self.wire))?;
        let reachable = api_key.is_some() || base.is_some();
        let base = base.or_else(|| self.default_base.or(wire::default_base(self.wire)).map(str::to_owned));
        let (Some(model), Some(base_url), true) = (settings.var(self.model), base, reachable) else {
            parsed.notes.extend(self.partial_note(settings));
            parsed.left_out.push(self.name.to_owned());
            return Ok(());
        };
        let wire = if self.wire == Wire::Openai { providers::default_wire(&base_url, model) } else { self.wire };
        parsed.configs.push(ModelConfig { api_key, ..ModelConfig::new(self.name, &base_url, model, wire) });
        Ok(())
    }

    /// Returns a note if only a part of the variables is set.
    fn partial_note(&self, settings: &Settings) -> Option<String> {
        let is_set = |name: &&str| settings.var(name).is_some();
        let key = self.key.map(|key| [key.to_owned(), format!("{key}_PARAMETER"), format!("{key}_SECRET")]);
        let external = key.as_ref().and_then(|forms| forms[1..].iter().map(String::as_str).find(is_set));
        let address: Vec<&str> = external.or(self.key).into_iter().chain([self.base]).collect();
        let set = address.iter().copied().find(is_set).or_else(|| Some(self.model).filter(is_set))?;
        let missing = if set == self.model { address.join(" or ") } else { self.model.to_owned() };
        Some(format!("{set} is set without {missing}: there is no model `{}`", self.name))
    }
}
