//! `search_articles`: searches the articles of the deployment.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, ToolSpec};
use prompts::{ArticleTexts, ToolFile, fill};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tools::{Tool, ToolCallError, ToolContext, ToolError, ToolOutput, arguments, schema};

use crate::rendering::FoundArticles;
use crate::{ArticleSearch, SearchError};

/// The longest query that is searched, in characters; the rest is left out.
const MAX_QUERY_CHARS: usize = 400;

/// The number of articles unless a call names another one.
const DEFAULT_LIMIT: u32 = 5;

const MAX_LIMIT: u32 = 20;

/// Searches articles.
pub struct SearchArticles(pub Arc<ArticleSearch>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Shortened to 400 characters.
    query: String,
    /// The maximum number of articles, from 1 to 20.
    #[serde(default = "default_limit")]
    limit: u32,
}

fn default_limit() -> u32 {
    DEFAULT_LIMIT
}

impl SearchArticles {
    fn failure(&self, error: &SearchError, language: Language) -> ToolError {
        tracing::warn!(%error, "articles could not be searched");
        let texts = ArticleTexts::of(language);
        let (reason, message) = match error {
            SearchError::TooLarge => (texts.too_large, "The articles are too many to search."),
            _ => (texts.unavailable, "The articles cannot be searched now."),
        };
        ToolCallError::new("failed", message, self.failure_text(reason, language)).into()
    }
}

#[async_trait]
impl Tool for SearchArticles {
    fn spec(&self, language: Language) -> ToolSpec {
        schema::localised_spec::<Arguments>(&ToolFile::SEARCH_ARTICLES, language)
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let language = context.language;
        let Arguments { query, limit } = arguments::parse(arguments, language)?;
        let query: String = query.trim().chars().take(MAX_QUERY_CHARS).collect();
        if query.is_empty() {
            return Err(ToolCallError::invalid_arguments(ArticleTexts::of(language).blank_query, language).into());
        }
        let limit = usize::try_from(limit.clamp(1, MAX_LIMIT)).unwrap_or_default();
        let found = self.0.search((&context.owner, &context.membership), &query, limit).await;
        let found = found.map_err(|error| self.failure(&error, language))?;
        let citing = FoundArticles { query, found, language, budget: context.result_budget };
        Ok(ToolOutput { citing: Some(Arc::new(citing)), ..ToolOutput::default() })
    }

    /// The first search reads all articles.
    fn timeout(&self) -> Duration {
        Duration::from_secs(30)
    }

    fn failure_text(&self, reason: &str, language: Language) -> String {
        fill(ArticleTexts::of(language).search_failed, &[("reason", reason)])
    }
}

#[cfg(test)]
mod tests {
    use platform::settings::Settings;
    use store::{Store, TableNames};

    use super::*;
    use crate::ArticlesConfig;

    fn tool() -> SearchArticles {
        let settings = Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1")]);
        let names = TableNames { data: "data".to_owned(), ephemeral: "ephemeral".to_owned() };
        let store = Store::new(&store::sdk_config(&settings).unwrap(), names);
        let config = ArticlesConfig::from_settings(&Settings::default()).unwrap();
        let http = platform::transport::build_client().unwrap();
        SearchArticles(Arc::new(ArticleSearch::new(store.articles, &config, &http)))
    }

    #[test]
    fn both_languages_declare_the_same_parameters() {
        let [chinese, english] = [Language::Zh, Language::En].map(|language| tool().spec(language));
        for spec in [&chinese, &english] {
            assert_eq!((spec.name.as_str(), spec.examples.len()), ("search_articles", 2));
            let parameters = spec.parameters["properties"].as_object().unwrap();
            assert_eq!(parameters.keys().collect::<Vec<_>>(), ["query", "limit"]);
            assert!(parameters.values().all(|parameter| parameter["description"].is_string()), "{parameters:?}");
            assert_eq!(spec.parameters["required"], serde_json::json!(["query"]));
            assert_eq!(parameters["limit"]["default"], 5);
        }
        assert_ne!(chinese.description, english.description);
    }
}
