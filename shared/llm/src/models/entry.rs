use std::collections::BTreeMap;

use platform::aws::{self, AwsCredentials};
use platform::secrets::{Secret, SecretPrefix, SecretService};
use platform::settings::{JsonFields, SettingError, Settings};
use platform::transport::is_protected;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::{ACCEPTED_FALLBACK, ParsedModels, url};
use crate::{Auth, Cloud, ModelConfig, OnlyFor, Options, ToolMode, Wire, providers, wire};

const VARIABLE: &str = "MODELS";

/// Additional rows of the same format, which `template.yaml` adds by itself.
const EXTRA_VARIABLE: &str = "EXTRA_MODELS";

const ACCEPTED: &str = "a JSON array of objects with \"name\", \"model\" and more";

/// What the fields of a row accept.
const FIELDS: &JsonFields = &[
    ("name", "a text that is not blank and not used twice"),
    ("model", "the endpoint's own name of the model"),
    ("baseUrl", url::ACCEPTED),
    ("apiKeyVar", "the name of the variable with the key"),
    ("apiKeyParameter", "the name of an SSM parameter that begins with the value of MODEL_KEYS_UNDER"),
    ("wire", "one of openai, responses, ollama, anthropic, gemini or converse"),
    ("auth", "key, aws, azure or google"),
    ("region", "the name of an AWS region, such as eu-central-1"),
    ("provider", "bedrock, azure or vertex"),
    ("tools", "auto, native, prompt or prompt:FORMAT"),
    ("images", "true or false"),
    ("fallback", ACCEPTED_FALLBACK),
    ("onlyFor", "a caller's name, or an array of names of groups"),
];

const ACCEPTED_ADDRESS: &str = "a URL, or where neither \"auth\" nor \"provider\" is given \"apiKeyVar\" or \
                                \"apiKeyParameter\" instead";

const ACCEPTED_AUTH: &str =
    "aws only on the wires converse, openai, responses and anthropic, and for converse only aws or key";

/// A key of Amazon Bedrock, which replaces signatures where there are no credentials.
// https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html, 2026-11-26.
const BEDROCK_KEY: &str = "AWS_BEARER_TOKEN_BEDROCK";

/// One element of `MODELS` or `EXTRA_MODELS`; an unknown field is an error.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Entry {
    name: String,
    model: String,
    base_url: Option<String>,
    api_key_var: Option<String>,
    api_key_parameter: Option<String>,
    wire: Option<Wire>,
    auth: Option<Auth>,
    region: Option<String>,
    provider: Option<Cloud>,
    #[serde(default, deserialize_with = "parse_tools")]
    tools: ToolsField,
    images: Option<bool>,
    fallback: Option<String>,
    only_for: Option<OnlyFor>,
}

/// The location of a row: the setting, and the element in it.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) variable: &'static str,
    pub(super) path: String,
}

type ToolsField = (Option<ToolMode>, Option<String>);

/// Parses the field `tools`: `auto`, `native`, `prompt`, or `prompt:FORMAT` with the name of a text call format.
fn parse_tools<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ToolsField, D::Error> {
    match &*String::deserialize(deserializer)? {
        "auto" => Ok((None, None)),
        "native" => Ok((Some(ToolMode::Native), None)),
        "prompt" => Ok((Some(ToolMode::Prompted), None)),
        other => match other.strip_prefix("prompt:") {
            Some(format) => Ok((Some(ToolMode::Prompted), Some(format.to_owned()))),
            None => Err(D::Error::custom("another text")),
        },
    }
}

/// Adds the models of `MODELS` and `EXTRA_MODELS`, and checks all names.
pub(super) fn read(settings: &Settings, parsed: &mut ParsedModels) -> Result<(), SettingError> {
    let mut row_of = BTreeMap::new();
    for variable in [VARIABLE, EXTRA_VARIABLE] {
        let entries: Option<Vec<Entry>> = settings.parse_json(variable, ACCEPTED, FIELDS)?;
        for (index, entry) in entries.unwrap_or_default().into_iter().enumerate() {
            let row = Row { variable, path: format!("[{index}]") };
            let name = entry.name.trim();
            if name.is_empty() || parsed.configs.iter().any(|other| other.name == name) {
                return Err(row.error("name"));
            }
            row_of.insert(name.to_owned(), row.clone());
            entry.add(&row, settings, parsed)?;
        }
    }
    let Some(config) = parsed.invalid_fallback() else { return Ok(()) };
    let error = row_of.get(&config.name).map(|row: &Row| row.error("fallback"));
    Err(error.unwrap_or_else(|| SettingError::new(VARIABLE, ACCEPTED_FALLBACK)))
}

impl Row {
    /// An error for a field that does not have what [`FIELDS`] accept.
    fn error(&self, field: &str) -> SettingError {
        let accepted = FIELDS.iter().find(|(name, _)| *name == field).map(|(_, accepted)| *accepted);
        self.error_with(field, accepted.unwrap_or(ACCEPTED))
    }

    fn error_with(&self, field: &str, accepted: &str) -> SettingError {
        SettingError::new(self.variable, accepted).at(format!("{}.{field}", self.path))
    }
}

impl Entry {
    pub(super) fn new(name: &str, model: &str, wire: Wire) -> Self {
        Self { name: name.to_owned(), model: model.to_owned(), wire: Some(wire), ..Self::default() }
    }

    pub(super) fn add(self, row: &Row, settings: &Settings, parsed: &mut ParsedModels) -> Result<(), SettingError> {
        let name = self.name.trim().to_owned();
        if self.model.trim().is_empty() {
            return Err(row.error("model"));
        }
        if self.only_for.as_ref().is_some_and(|only_for| only_for.names().trim().is_empty()) {
            return Err(row.error("onlyFor"));
        }
        let config = self.config_without_key(row, settings)?;
        let api_key = self.api_key(row, settings, parsed.key_prefix.as_ref())?;
        if self.api_key_var.is_some() && api_key.is_none() {
            // The variable's name is not repeated: it may contain the key itself by mistake.
            parsed.notes.push(format!("{}: the variable in \"apiKeyVar\" of `{name}` is not set", row.variable));
            if self.base_url.is_none() {
                parsed.left_out.push(name);
                return Ok(());
            }
        }
        let api_key = match config.auth {
            Auth::Aws if !AwsCredentials::are_configured(settings) => Secret::from_settings(settings, BEDROCK_KEY)?,
            Auth::Aws | Auth::Google => None,
            Auth::Key | Auth::Azure => api_key,
        };
        let Self { tools: (tools, call_format), images, fallback, only_for, .. } = self;
        let options = Options { images, ..Options::default() };
        parsed.configs.push(ModelConfig { api_key, tools, call_format, fallback, only_for, options, ..config });
        Ok(())
    }

    /// Returns the key in a variable or in an SSM parameter; `None` if the row names none or the variable is not set.
    fn api_key(
        &self,
        row: &Row,
        settings: &Settings,
        prefix: Option<&SecretPrefix>,
    ) -> Result<Option<Secret>, SettingError> {
        let name = match (&self.api_key_var, &self.api_key_parameter) {
            (None, None) => return Ok(None),
            (Some(variable), None) => return Secret::from_settings(settings, variable),
            (Some(_), Some(_)) => return Err(row.error_with("apiKeyParameter", "no \"apiKeyVar\" in the same row")),
            (None, Some(name)) => name.trim(),
        };
        let setting = format!("{}{}.apiKeyParameter ({name})", row.variable, row.path);
        let secret =
            prefix.map(|prefix| prefix.secret(settings, &setting, SecretService::Parameters, name)).transpose()?;
        secret.flatten().map(Some).ok_or_else(|| row.error("apiKeyParameter"))
    }

    fn has_key(&self) -> bool {
        self.api_key_var.is_some() || self.api_key_parameter.is_some()
    }

    /// Returns the model with its address, and how its requests are authenticated.
    fn config_without_key(&self, row: &Row, settings: &Settings) -> Result<ModelConfig, SettingError> {
        let wire = self.wire.unwrap_or_default();
        let accepted = || row.error("baseUrl");
        let given = self.base_url.as_ref().map(|text| url::parse_base(text.trim(), wire).ok_or_else(accepted));
        let given = given.transpose()?;
        let (auth, cloud) = self.access(given.as_deref(), row)?;
        let needs_region = auth == Auth::Aws || wire == Wire::Converse && given.is_none();
        let region = needs_region.then(|| self.region(given.as_deref(), row, settings)).transpose()?;
        let is_usable =
            given.is_some() || wire == Wire::Converse || cloud.is_none() && auth == Auth::Key && self.has_key();
        let base_url = match (given, &region) {
            _ if !is_usable => return Err(row.error_with("baseUrl", ACCEPTED_ADDRESS)),
            (Some(base_url), _) => base_url,
            (None, Some(region)) => aws::default_endpoint("bedrock-runtime", region),
            (None, None) => wire::protocol_of(wire).default_base.ok_or_else(accepted)?.to_owned(),
        };
        if auth != Auth::Key && !is_protected(&base_url) {
            let accepted = "a URL with https, or with http on this machine, unless \"auth\" is key";
            return Err(row.error_with("baseUrl", accepted));
        }
        let model = self.model.trim();
        let wire = self.wire.unwrap_or_else(|| providers::default_wire(&base_url, model));
        Ok(ModelConfig { auth, region, cloud, ..ModelConfig::new(self.name.trim(), &base_url, model, wire) })
    }

    /// Returns how requests are authenticated: as the row sets it, else as its cloud requires.
    fn access(&self, base_url: Option<&str>, row: &Row) -> Result<(Auth, Option<Cloud>), SettingError> {
        let wire = self.wire.unwrap_or_default();
        let cloud = self.provider.or_else(|| base_url.and_then(url::cloud_of)).or(match self.auth {
            Some(Auth::Aws) => Some(Cloud::Bedrock),
            Some(Auth::Azure) => Some(Cloud::Azure),
            Some(Auth::Google) => Some(Cloud::Vertex),
            _ => (wire == Wire::Converse).then_some(Cloud::Bedrock),
        });
        let auth = self.auth.unwrap_or(match cloud {
            Some(Cloud::Azure) => Auth::Azure,
            Some(Cloud::Bedrock) if !self.has_key() => Auth::Aws,
            Some(Cloud::Vertex) if !self.has_key() => Auth::Google,
            _ => Auth::Key,
        });
        let fits = match wire {
            Wire::Converse => cloud == Some(Cloud::Bedrock) && matches!(auth, Auth::Aws | Auth::Key),
            Wire::Ollama | Wire::Gemini => auth != Auth::Aws,
            _ => true,
        };
        if fits { Ok((auth, cloud)) } else { Err(row.error_with("auth", ACCEPTED_AUTH)) }
    }

    /// Returns the region in the row, in the URL or of the process.
    fn region(&self, base_url: Option<&str>, row: &Row, settings: &Settings) -> Result<String, SettingError> {
        let Self { name, region, .. } = self;
        let of_process = || aws::region(settings).map(str::to_owned);
        let found = region.clone().or_else(|| base_url.and_then(url::region_of)).or_else(of_process);
        let is_region =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        match found {
            Some(text) if is_region(text.trim()) => Ok(text.trim().to_owned()),
            Some(_) if region.is_some() => Err(row.error("region")),
            _ => {
                let accepted = "the name of an AWS region, such as eu-central-1, or \"region\" in the row of";
                Err(SettingError::new("AWS_REGION", format!("{accepted} `{}`", name.trim())))
            }
        }
    }
}
