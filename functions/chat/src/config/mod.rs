mod upstream_policy;

use std::sync::Arc;
use std::time::Duration;

use agent::TurnRecorderFactory;
use egress::Policy;
use llm::Models;
use platform::settings::{SettingError, Settings};
use redaction::Redactor;
use store::{RateLimit, TableNames};
use tools::SearchConfig;
use tools::http::ToolSecrets;
use turns::{Budgets, Metrics, Traces};
use web::{AuthConfig, Exposure, Origins, Platform};

/// Everything that the settings decide, read once at the start.
#[derive(Clone)]
pub struct Config {
    /// The configured models.
    pub models: Models,
    /// Web search; `None` when no key is set.
    pub search: Option<SearchConfig>,
    /// Where tools that are defined as rows may send.
    pub tool_policy: Policy,
    /// The secrets that such tools may name.
    pub tool_secrets: ToolSecrets,
    /// Turns per caller.
    pub chat_limit: RateLimit,
    /// What may be used in a day.
    pub budgets: Budgets,
    /// The longest turn.
    pub turn: Duration,
    /// Rounds with tools; `None` for the default of the model's path.
    pub max_tool_rounds: Option<u32>,
    /// The most tokens of earlier turns in a prompt.
    pub history_tokens: u64,
    /// Whether earlier turns for which there is no room are summarised, unless an agent says otherwise.
    pub summarise: bool,
    /// Replaces the default agent's words.
    pub system_prompt: Option<String>,
    /// How callers prove who they are.
    pub auth: AuthConfig,
    /// Browsers' origins that may read answers.
    pub origins: Origins,
    /// Who may reach the routes at all.
    pub reach: Exposure,
    /// The tables' names.
    pub tables: TableNames,
    /// Replaces personal data in what leaves for search and tools' hosts, and in records of calls.
    pub redactor: Redactor,
    /// The client for models, search and an issuer's keys.
    pub http: platform::transport::Client,
    /// What takes turns down; settings name none, whoever assembles the function may.
    pub recorder: Option<Arc<dyn TurnRecorderFactory>>,
    /// Where what is counted goes; whoever assembles the function says it.
    pub metrics: Metrics,
    /// Where traces go; whoever assembles the function says it.
    pub traces: Traces,
}

impl Config {
    /// Reads the settings; makes no call.
    ///
    /// # Errors
    /// The first setting that cannot be parsed.
    pub fn from_settings(
        settings: &Settings,
        place: Platform,
        http: platform::transport::Client,
    ) -> Result<Self, SettingError> {
        let models = Models::from_settings(settings, http.clone())?;
        let search = SearchConfig::from_settings(settings)?;
        upstream_policy::check(settings, place, &models, search.as_ref())?;
        Ok(Self {
            models,
            search,
            tool_policy: upstream_policy::tool_policy(settings, place)?,
            tool_secrets: ToolSecrets::from_settings(settings)?,
            chat_limit: chat_limit(settings)?,
            budgets: Budgets::from_settings(settings)?,
            turn: Duration::from_secs(settings.parse_integer("TURN_SECONDS", 1..=900, 300)?),
            max_tool_rounds: max_tool_rounds(settings)?,
            history_tokens: settings.parse_integer("HISTORY_TOKENS", 0..=1_000_000, 24_000)?,
            summarise: settings.is_yes("SUMMARISE_HISTORY")?,
            system_prompt: settings.var("SYSTEM_PROMPT").map(str::to_owned),
            auth: AuthConfig::from_settings(settings, place)?,
            origins: Origins::from_settings(settings)?,
            reach: Exposure::Public,
            tables: TableNames::from_settings(settings)?,
            redactor: Redactor::from_settings(settings)?,
            http,
            recorder: None,
            metrics: Metrics::default(),
            traces: Traces::default(),
        })
    }
}

impl Config {
    /// What the person who starts it should know of the settings.
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

fn chat_limit(settings: &Settings) -> Result<RateLimit, SettingError> {
    let default = RateLimit { burst: 20, window: Duration::from_mins(1) };
    let limit = settings.parse("CHAT_RATE_LIMIT", "N/Ws such as 20/60s", RateLimit::parse)?;
    Ok(limit.unwrap_or(default))
}

fn max_tool_rounds(settings: &Settings) -> Result<Option<u32>, SettingError> {
    let accepted = "a whole number from 0 to 50";
    settings.parse("MAX_TOOL_ROUNDS", accepted, |text| text.parse().ok().filter(|rounds| *rounds <= 50))
}

#[cfg(test)]
mod tests {
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
    fn a_budget_in_money_without_a_price_is_worth_a_note() {
        let (budget, price) = (("TOTAL_DAILY_COST", "5"), r#"{"openai":{"price":{"input":1,"output":2}}}"#);
        assert_eq!(notes(&[budget]), ["a budget in money counts only models with a price"]);
        assert_eq!(notes(&[budget, ("MODEL_OPTIONS", price)]), Vec::<String>::new());
        assert_eq!(notes(&[("TOTAL_DAILY_TOKENS", "5")]), Vec::<String>::new());
    }

    #[test]
    fn replaced_personal_data_is_worth_a_note() {
        let note = "personal data (email, phone, staff) is replaced before search, tools' hosts and records";
        let patterns = r#"[{"name":"staff","pattern":"E\\d{6}"}]"#;
        assert_eq!(notes(&[("MASK", "phone,email"), ("MASK_PATTERNS", patterns)]), [note]);
    }

    #[test]
    fn a_setting_that_cannot_be_parsed_is_named_with_what_is_accepted() {
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
