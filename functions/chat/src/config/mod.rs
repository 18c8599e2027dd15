mod upstream_policy;

use std::sync::Arc;
use std::time::Duration;

use agent::TurnRecorderFactory;
use articles::ArticlesConfig;
use attachments::{Blobs, Bucket, Reader};
use custom_tools::ToolSecrets;
use egress::Policy;
use llm::Models;
use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};
use redaction::Redactor;
use search::{DailySearchLimits, SearchConfig};
use store::{RateLimit, TableNames};
use turns::{Budgets, Metrics, PromptLocale, Traces};
use web::{AuthConfig, Exposure, LambdaSettings, Origins, Platform};

use crate::definitions::TitleModel;
use crate::document_root::DocumentRoot;

/// The settings of the function, read once at the start.
#[derive(Clone)]
pub struct Config {
    /// What serves the routes.
    pub platform: Platform,
    /// The configured models.
    pub models: Models,
    /// The model that writes the titles of conversations.
    pub title_model: TitleModel,
    /// Web search; `None` when no key is set.
    pub search: Option<SearchConfig>,
    /// The folder of documents; `None` when no setting names one.
    pub documents: Option<DocumentRoot>,
    /// Where files of users are stored; `None` if they are not. The assembling program may set a folder.
    pub attachments: Option<Blobs>,
    /// What reads documents that users send.
    pub reader: Reader,
    /// Whether and how models search articles.
    pub articles: ArticlesConfig,
    /// Where tools that administrators define may send requests.
    pub tool_policy: Policy,
    /// The secrets that these tools may name.
    pub tool_secrets: ToolSecrets,
    /// The rate limit of turns, per caller.
    pub chat_limit: RateLimit,
    /// The daily budgets of each caller and of the deployment.
    pub budgets: Budgets,
    /// The maximum duration of a turn.
    pub max_turn_duration: Duration,
    /// Maximum number of rounds with tools; `None` for the default of the model's tool mode.
    pub max_tool_rounds: Option<u32>,
    /// Maximum number of tokens of earlier turns in a prompt.
    pub history_tokens: u64,
    /// Whether earlier turns that do not fit the prompt are summarised; an agent may override it.
    pub summarise: bool,
    /// Replaces the system prompt of the default agent; it may be stored at AWS, because a function's environment is small.
    pub system_prompt: Option<Secret>,
    /// The language and the time zone in which models are prompted.
    pub locale: PromptLocale,
    /// How callers authenticate.
    pub auth: AuthConfig,
    /// The origins whose pages may read responses in a browser.
    pub origins: Origins,
    /// Which clients may reach the routes at all.
    pub exposure: Exposure,
    /// The tables' names.
    pub tables: TableNames,
    /// Replaces personal data in requests to search and to tools' hosts, and in records of calls.
    pub redactor: Redactor,
    /// The HTTP client for models, search and the keys of a token issuer.
    pub http: platform::transport::Client,
    /// Records turns. No setting sets it; the assembling program may.
    pub recorder: Option<Arc<dyn TurnRecorderFactory>>,
    /// What is deployed in front of the function; without effect on the local server.
    pub lambda: LambdaSettings,
    /// Where metrics are written. No setting sets it; the assembling program may.
    pub metrics: Metrics,
    /// Where traces are sent.
    pub traces: Traces,
}

impl Config {
    /// Reads the settings; makes no call.
    ///
    /// # Errors
    /// The first setting that cannot be parsed.
    pub fn from_settings(
        settings: &Settings,
        platform: Platform,
        http: platform::transport::Client,
    ) -> Result<Self, SettingError> {
        let models = Models::from_settings(settings, http.clone())?;
        check_call_formats(&models)?;
        let search = SearchConfig::from_settings(settings)?;
        let searches = DailySearchLimits::from_settings(settings)?;
        let redactor = Redactor::from_settings(settings)?;
        let articles = articles(settings, &redactor)?;
        // Lambda freezes the process between invocations.
        let traces = Traces::from_settings(settings, &http, platform == Platform::Lambda)?;
        let (search_config, embeddings) = (search.as_ref(), articles.embeddings.as_ref());
        upstream_policy::check(settings, platform, &models, search_config, embeddings, &traces)?;
        Ok(Self {
            platform,
            title_model: TitleModel::from_settings(settings, &models)?,
            models,
            search,
            documents: DocumentRoot::from_settings(settings, &http)?,
            attachments: Bucket::from_settings(settings, &http)?.map(|bucket| Blobs::Bucket(Arc::new(bucket))),
            reader: Reader::for_attachments(),
            articles,
            tool_policy: upstream_policy::tool_policy(settings, platform)?,
            tool_secrets: ToolSecrets::from_settings(settings)?,
            chat_limit: settings
                .parse("CHAT_RATE_LIMIT", "N/Ws such as 20/60s", RateLimit::parse)?
                .unwrap_or(RateLimit { burst: 20, window: Duration::from_mins(1) }),
            budgets: Budgets::from_settings(settings, [searches.per_caller, searches.total])?,
            max_turn_duration: Duration::from_secs(settings.parse_integer("TURN_SECONDS", 1..=900, 300)?),
            max_tool_rounds: settings.parse("MAX_TOOL_ROUNDS", "a whole number from 0 to 50", |text| {
                text.parse().ok().filter(|rounds| *rounds <= 50)
            })?,
            history_tokens: settings.parse_integer("HISTORY_TOKENS", 0..=1_000_000, 24_000)?,
            summarise: settings.is_yes("SUMMARISE_HISTORY")?,
            system_prompt: Secret::text_from_settings(settings, "SYSTEM_PROMPT")?,
            locale: PromptLocale::from_settings(settings)?,
            auth: AuthConfig::from_settings(settings, platform)?,
            origins: Origins::from_settings(settings)?,
            exposure: Exposure::Public,
            tables: TableNames::from_settings(settings)?,
            redactor,
            lambda: LambdaSettings::from_settings(settings)?,
            http,
            recorder: None,
            metrics: Metrics::default(),
            traces,
        })
    }

    /// Notes on the settings for the operator, logged at the start.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.models.notes().to_vec();
        let prices = self.models.iter().filter(|client| client.config().options.price.is_some()).count();
        if self.budgets.has_cost() && prices < self.models.iter().count() {
            notes.push("a budget in money counts only models with a price".to_owned());
        }
        if !self.redactor.is_off() {
            let kinds = self.redactor.names().join(", ");
            notes.push(format!("personal data ({kinds}) is replaced before search, tools' hosts and records"));
        }
        notes
    }
}

/// Checks the text call formats that rows of `MODELS` name.
fn check_call_formats(models: &Models) -> Result<(), SettingError> {
    let formats =
        models.iter().filter_map(|model| Some((&model.config().name, model.config().call_format.as_deref()?)));
    for (model, format) in formats {
        tool_calls::format_named(format).map_err(|names| {
            SettingError::new("MODELS", format!("as \"tools\" of `{model}` prompt:FORMAT, with one of {names}"))
        })?;
    }
    Ok(())
}

/// The settings of articles.
///
/// # Errors
/// One that cannot be parsed, or one that turns them on in a build without them.
fn articles(settings: &Settings, redactor: &Redactor) -> Result<ArticlesConfig, SettingError> {
    let mut config = ArticlesConfig::from_settings(settings)?;
    if let Some(embeddings) = &mut config.embeddings {
        embeddings.redactor = redactor.clone();
    }
    if cfg!(feature = "articles") {
        return Ok(config);
    }
    if config.vector_index.is_some() {
        return Err(SettingError::new("ARTICLES_VECTORS", "to be unset: this build has no feature `articles`"));
    }
    if config.enabled == Some(true) {
        let accepted = "no, or to be unset without EMBEDDINGS_MODEL: this build has no feature `articles`";
        return Err(SettingError::new("ARTICLES", accepted));
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    mod invalid_settings;

    use super::*;

    fn error(name: &str, value: &str) -> String {
        let settings = Settings::from_pairs([(name, value)]);
        Config::from_settings(&settings, Platform::Local, platform::transport::build_client().unwrap())
            .err()
            .unwrap()
            .to_string()
    }

    fn notes(pairs: &[(&str, &str)]) -> Vec<String> {
        let model = [("OPENAI_BASE_URL", "http://127.0.0.1:1"), ("OPENAI_MODEL", "m")];
        let settings = Settings::from_pairs(model.into_iter().chain(pairs.iter().copied()));
        Config::from_settings(&settings, Platform::Local, platform::transport::build_client().unwrap()).unwrap().notes()
    }

    #[test]
    fn cost_budget_without_a_price_is_noted() {
        let (budget, price) = (("TOTAL_DAILY_COST", "5"), r#"{"openai":{"price":{"input":1,"output":2}}}"#);
        assert_eq!(notes(&[budget]), ["a budget in money counts only models with a price"]);
        assert_eq!(notes(&[budget, ("MODEL_OPTIONS", price)]), Vec::<String>::new());
        assert_eq!(notes(&[("TOTAL_DAILY_TOKENS", "5")]), Vec::<String>::new());
    }

    #[test]
    fn redacted_personal_data_is_noted() {
        let note = "personal data (email, phone, staff) is replaced before search, tools' hosts and records";
        let patterns = r#"[{"name":"staff","pattern":"E\\d{6}"}]"#;
        assert_eq!(notes(&[("MASK", "phone,email"), ("MASK_PATTERNS", patterns)]), [note]);
    }

    #[test]
    fn invalid_setting_is_named_with_accepted_values() {
        assert_eq!(error("CHAT_RATE_LIMIT", "lots"), "CHAT_RATE_LIMIT: expected N/Ws such as 20/60s");
        assert_eq!(error("TURN_SECONDS", "0"), "TURN_SECONDS: expected a whole number from 1 to 900");
        assert_eq!(error("MAX_TOOL_ROUNDS", "-1"), "MAX_TOOL_ROUNDS: expected a whole number from 0 to 50");
        let amount = "an amount such as 2.50 with at most six decimals, from 0.000001 to 1000000000";
        assert_eq!(error("TOTAL_DAILY_COST", "much"), format!("TOTAL_DAILY_COST: expected {amount}"));
        let kinds = "all, or some of email, phone, id and card with commas between them";
        assert_eq!(error("MASK", "names"), format!("MASK: expected {kinds}"));
        assert_eq!(error("AUTH", "magic"), "AUTH: expected none, api_key or jwt");
    }
}
