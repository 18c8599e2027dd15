use platform::settings::{SettingError, Settings};

use crate::EmbeddingsConfig;

/// The most memory that articles take outside of Lambda, in bytes.
const DEFAULT_MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// Which part of a function's memory articles take: one in so many.
const SHARE_OF_MEMORY: u64 = 2;

/// Whether and how models search articles.
#[derive(Clone, Debug)]
pub struct ArticlesConfig {
    /// Whether models get the tool; `None` if no setting decides it.
    pub enabled: Option<bool>,
    /// Absent if articles are searched by their terms alone.
    pub embeddings: Option<EmbeddingsConfig>,
    /// The maximum size in bytes of the articles that one process keeps in memory.
    pub max_bytes: u64,
}

impl ArticlesConfig {
    /// Reads `ARTICLES` and the settings of the embeddings endpoint. With an embeddings model the tool is on unless
    /// `ARTICLES` is `no`.
    ///
    /// # Errors
    /// The first setting that cannot be parsed.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let embeddings = EmbeddingsConfig::from_settings(settings)?;
        let is_set = settings.var("ARTICLES").is_some();
        let enabled = settings.is_yes("ARTICLES")?;
        let enabled = if is_set { Some(enabled) } else { embeddings.is_some().then_some(true) };
        Ok(Self { enabled, embeddings, max_bytes: max_bytes(settings.var("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")) })
    }
}

/// The share of a Lambda function's memory, which is given in MiB.
fn max_bytes(memory_size: Option<&str>) -> u64 {
    let memory = memory_size.and_then(|size| size.parse::<u64>().ok());
    memory.map_or(DEFAULT_MAX_BYTES, |mebibytes| mebibytes.saturating_mul(1024 * 1024) / SHARE_OF_MEMORY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(pairs: &[(&str, &str)]) -> Result<ArticlesConfig, String> {
        ArticlesConfig::from_settings(&Settings::from_pairs(pairs.iter().copied())).map_err(|error| error.to_string())
    }

    #[test]
    fn embeddings_model_turns_the_tool_on() {
        let enabled = |pairs: &[(&str, &str)]| config(pairs).unwrap().enabled;
        let model = ("EMBEDDINGS_MODEL", "m");
        assert_eq!([enabled(&[]), enabled(&[model])], [None, Some(true)]);
        assert_eq!(enabled(&[model, ("ARTICLES", "no")]), Some(false));
        assert_eq!(enabled(&[("ARTICLES", "yes")]), Some(true));
    }

    #[test]
    fn endpoint_has_defaults_and_hides_its_key() {
        let pairs = [("EMBEDDINGS_MODEL", "m"), ("EMBEDDINGS_API_KEY", "canary")];
        let embeddings = config(&pairs).unwrap().embeddings.unwrap();
        assert_eq!((embeddings.base_url.as_str(), embeddings.api_key.is_some()), ("https://api.openai.com/v1", true));
        assert!(!format!("{embeddings:?}").contains("canary"));
        let own = config(&[("EMBEDDINGS_MODEL", "m"), ("EMBEDDINGS_BASE_URL", "http://127.0.0.1:11434/v1/")]);
        assert_eq!(own.unwrap().embeddings.unwrap().base_url, "http://127.0.0.1:11434/v1");
    }

    #[test]
    fn function_memory_bounds_the_articles() {
        assert_eq!(max_bytes(Some("512")), 256 * 1024 * 1024);
        assert_eq!([max_bytes(None), max_bytes(Some("x"))], [DEFAULT_MAX_BYTES; 2]);
    }

    #[test]
    fn error_names_the_variable_and_not_its_value() {
        let error = |name, value| config(&[(name, value)]).unwrap_err();
        assert_eq!(error("ARTICLES", "canary"), "ARTICLES: expected yes or no");
        let address = "EMBEDDINGS_BASE_URL: expected an http or https address without a query";
        assert_eq!(error("EMBEDDINGS_BASE_URL", "ftp://canary"), address);
        let key = "EMBEDDINGS_API_KEY: expected a key of visible ASCII characters";
        assert_eq!(error("EMBEDDINGS_API_KEY", "canary key"), key);
    }
}
