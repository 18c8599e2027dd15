use platform::settings::{SettingError, Settings};

use crate::vector_index::SETTING as ARTICLES_VECTORS;
use crate::{EmbeddingsConfig, VectorIndex, VectorIndexConfig};

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
    /// Where vectors are stored instead of the table; only with embeddings.
    pub vector_index: Option<VectorIndexConfig>,
    /// The maximum size in bytes of the articles that one process keeps in memory.
    pub max_bytes: u64,
}

impl ArticlesConfig {
    /// Reads `ARTICLES`, `ARTICLES_VECTORS` and the settings of the embeddings endpoint. With an embeddings model the tool is on unless
    /// `ARTICLES` is `no`.
    ///
    /// # Errors
    /// The first setting that cannot be parsed, and a vector index without an embeddings model.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let embeddings = EmbeddingsConfig::from_settings(settings)?;
        let is_set = settings.var("ARTICLES").is_some();
        let enabled = settings.is_yes("ARTICLES")?;
        let enabled = if is_set { Some(enabled) } else { embeddings.is_some().then_some(true) };
        let vector_index = VectorIndexConfig::from_settings(settings)?;
        if vector_index.is_some() && embeddings.is_none() {
            return Err(SettingError::new(ARTICLES_VECTORS, "an index together with EMBEDDINGS_MODEL"));
        }
        let max_bytes = max_bytes(settings.var("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"));
        Ok(Self { enabled, embeddings, vector_index, max_bytes })
    }

    /// The client of the vector index, if there is one; makes no call.
    pub fn index(&self, http: &platform::transport::Client) -> Option<VectorIndex> {
        self.vector_index.clone().map(|config| VectorIndex::new(config, http))
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
    fn vector_index_needs_model_region_and_credentials() {
        let index = ("ARTICLES_VECTORS", "s3vectors://bucket/index");
        let endpoint = ("AWS_ENDPOINT_URL_S3VECTORS", "http://127.0.0.1:1");
        let model = ("EMBEDDINGS_MODEL", "m");
        assert!(config(&[index, endpoint, model]).unwrap().vector_index.is_some());
        let without_model = "ARTICLES_VECTORS: expected an index together with EMBEDDINGS_MODEL";
        assert_eq!(config(&[index, endpoint]).unwrap_err(), without_model);
        assert!(config(&[index, model]).unwrap_err().starts_with("AWS_REGION: "));
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
        let index = "ARTICLES_VECTORS: expected s3vectors://BUCKET/INDEX";
        assert_eq!(error("ARTICLES_VECTORS", "s3://canary/index"), index);
        let key = "EMBEDDINGS_API_KEY: expected a key of visible ASCII characters";
        assert_eq!(error("EMBEDDINGS_API_KEY", "canary key"), key);
    }
}
