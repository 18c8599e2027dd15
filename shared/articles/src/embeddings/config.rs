use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};
use url::Url;

const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// The endpoint that embeds texts.
#[derive(Clone, Debug)]
pub struct EmbeddingsConfig {
    /// URL of an OpenAI-compatible API; `http` or `https`, without a trailing slash.
    pub base_url: String,
    /// Absent for an endpoint without authentication.
    pub api_key: Option<Secret>,
    /// The endpoint's own name of the model.
    pub model: String,
}

impl EmbeddingsConfig {
    /// Reads `EMBEDDINGS_MODEL`, `EMBEDDINGS_BASE_URL` and `EMBEDDINGS_API_KEY` (or the reference to the secret); `None`
    /// without a model.
    ///
    /// # Errors
    /// A setting that cannot be parsed, also without a model.
    pub fn from_settings(settings: &Settings) -> Result<Option<Self>, SettingError> {
        let accepted = "an http or https address without a query";
        let base_url = settings.parse("EMBEDDINGS_BASE_URL", accepted, parse_base_url)?;
        let api_key = Secret::from_settings(settings, "EMBEDDINGS_API_KEY")?;
        let Some(model) = settings.var("EMBEDDINGS_MODEL").map(str::to_owned) else { return Ok(None) };
        Ok(Some(Self { base_url: base_url.unwrap_or_else(|| DEFAULT_BASE_URL.to_owned()), api_key, model }))
    }
}

fn parse_base_url(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let usable = matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none();
    usable.then(|| url.as_str().trim_end_matches('/').to_owned())
}
