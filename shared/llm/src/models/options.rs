use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use domain::parse_object;
use platform::settings::{SettingError, Settings};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ACCEPTED_FALLBACK, ParsedModels};
use crate::params::ResolvedParams;
use crate::providers::{self, PROVIDERS};
use crate::{Effort, ModelConfig, Options, Price, Thinking, Wire};

const VARIABLE: &str = "MODEL_OPTIONS";

const ACCEPTED: &str = "a JSON object that gives names of models objects with any of \"thinking\" (on, off or auto), \
                        \"thinkingOpen\" (true or false), \"effort\" (minimal, low, medium, high or max), \"temperature\", \"topP\", \"maxTokens\", \
                        \"contextTokens\", \"firstByteSeconds\", \"provider\", \"fallback\" and \"price\", an object \
                        with \"input\", \"output\" and at will \"cachedInput\" and \"cacheWrite\"";

const NAMES: &str = "as keys the names of models: volcano, openai, local or those in MODELS and EXTRA_MODELS";

/// The maximum price of a million tokens, in whole units of a currency; more is a mistake.
const MAX_PRICE: u64 = 1_000_000;

/// More tokens than any model reads or writes.
const MAX_TOKENS: u64 = 100_000_000;

const MILLION: u64 = 1_000_000;

/// The options of one model; an unknown field is an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Entry<'a> {
    thinking: Option<Thinking>,
    thinking_open: Option<bool>,
    effort: Option<Effort>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    max_tokens: Option<u64>,
    context_tokens: Option<u64>,
    first_byte_seconds: Option<u64>,
    provider: Option<String>,
    fallback: Option<String>,
    #[serde(borrow)]
    price: Option<Prices<'a>>,
}

/// Prices, kept as text: a binary fraction would not be the exact amount.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Prices<'a> {
    #[serde(borrow)]
    input: &'a RawValue,
    #[serde(borrow)]
    cached_input: Option<&'a RawValue>,
    #[serde(borrow)]
    cache_write: Option<&'a RawValue>,
    #[serde(borrow)]
    output: &'a RawValue,
}

/// Applies `MODEL_OPTIONS` to the configured models.
pub(super) fn read(settings: &Settings, parsed: &mut ParsedModels) -> Result<(), SettingError> {
    let Some(text) = settings.var(VARIABLE) else { return Ok(()) };
    // A name that occurs twice is an error; the parser of types would use the last one.
    parse_object(text.as_bytes()).map_err(|_| setting_error(ACCEPTED))?;
    let entries: BTreeMap<String, Entry<'_>> = serde_json::from_str(text).map_err(|_| setting_error(ACCEPTED))?;
    for (name, entry) in entries {
        let ParsedModels { configs, notes, left_out } = &mut *parsed;
        match configs.iter_mut().find(|config| config.name == name) {
            Some(config) => notes.extend(entry.apply_to(config)?),
            None if left_out.contains(&name) => notes.push(format!("{VARIABLE}: there is no model `{name}`")),
            None => return Err(setting_error(NAMES)),
        }
    }
    // The fallbacks of the rows were checked when they were read.
    let Some(config) = parsed.invalid_fallback() else { return Ok(()) };
    Err(config.option_error("fallback", ACCEPTED_FALLBACK))
}

impl Entry<'_> {
    /// Sets the options of a model; returns a note if its endpoint does not support some of them.
    fn apply_to(self, config: &mut ModelConfig) -> Result<Option<String>, SettingError> {
        if let Some(fallback) = &self.fallback {
            if config.fallback.is_some() {
                return Err(config.option_error("fallback", "nothing where the model's row gives one"));
            }
            config.fallback = Some(fallback.trim().to_owned());
        }
        config.options = Options { provider: self.provider(config)?, ..Options::default() };
        let dialect = providers::provider_of(config).dialect_of(&config.model);
        self.check_sampling(config, dialect.max_temperature)?;
        let max_tokens = config.check_range("maxTokens", self.max_tokens, 1..=MAX_TOKENS)?;
        let first_byte_seconds = config.check_range("firstByteSeconds", self.first_byte_seconds, 1..=900)?;
        config.options = Options {
            temperature: self.temperature,
            top_p: self.top_p,
            max_tokens: max_tokens.and_then(|tokens| u32::try_from(tokens).ok()),
            thinking: self.thinking,
            thinking_open: self.thinking_open,
            effort: self.effort,
            context_tokens: config.check_range("contextTokens", self.context_tokens, 1..=MAX_TOKENS)?,
            price: self.price(config)?,
            first_byte_timeout: first_byte_seconds.map(Duration::from_secs),
            provider: config.options.provider,
        };
        let unsupported = ResolvedParams::new(&config.options, dialect).unsupported(&config.options);
        let name = &config.name;
        Ok((!unsupported.is_empty()).then(|| {
            let unsupported = unsupported.join(", ");
            format!("{VARIABLE}: the endpoint of `{name}` takes no {unsupported}, as far as is known: not sent")
        }))
    }

    fn provider(&self, config: &ModelConfig) -> Result<Option<&'static str>, SettingError> {
        let Some(wanted) = &self.provider else { return Ok(None) };
        let rows = || PROVIDERS.iter().filter(|row| row.wire == config.wire.of_rows()).map(|row| row.name);
        let row = rows().find(|name| *name == wanted.trim());
        row.map(Some).ok_or_else(|| {
            let prefix = if config.wire.of_rows() == Wire::Openai { "one of " } else { "" };
            config.option_error("provider", &format!("{prefix}{}", rows().collect::<Vec<_>>().join(", ")))
        })
    }

    fn check_sampling(&self, config: &ModelConfig, max_temperature: u8) -> Result<(), SettingError> {
        let within = |value: Option<f64>, max: f64| value.is_none_or(|value| (0.0..=max).contains(&value));
        if !within(self.temperature, f64::from(max_temperature)) {
            return Err(config.option_error("temperature", &format!("a number from 0 to {max_temperature}")));
        }
        if !within(self.top_p, 1.0) {
            return Err(config.option_error("topP", "a number from 0 to 1"));
        }
        Ok(())
    }

    fn price(&self, config: &ModelConfig) -> Result<Option<Price>, SettingError> {
        let Some(prices) = &self.price else { return Ok(None) };
        let price = || {
            let input = millionths(prices.input)?;
            let cached_input = prices.cached_input.map_or(Some(input), millionths)?;
            let cache_write = prices.cache_write.map_or(Some(input), millionths)?;
            Some(Price { input, cached_input, cache_write, output: millionths(prices.output)? })
        };
        price().map(Some).ok_or_else(|| {
            config.option_error(
                "price",
                "decimal numbers from 0 to 1000000 with at most six places, for a million tokens",
            )
        })
    }
}

impl ModelConfig {
    fn check_range(
        &self,
        field: &str,
        number: Option<u64>,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, SettingError> {
        if number.is_none_or(|number| range.contains(&number)) {
            return Ok(number);
        }
        Err(self.option_error(field, &format!("a whole number from {} to {}", range.start(), range.end())))
    }

    fn option_error(&self, field: &str, accepted: &str) -> SettingError {
        setting_error(&format!("as \"{field}\" of `{}` {accepted}", self.name))
    }
}

fn setting_error(accepted: &str) -> SettingError {
    SettingError::new(VARIABLE, accepted)
}

/// Parses a decimal number into millionths; it must have no sign, no exponent and at most six decimals.
fn millionths(number: &RawValue) -> Option<u64> {
    let (whole, fraction) = number.get().split_once('.').unwrap_or((number.get(), "0"));
    let fraction = fraction.trim_end_matches('0');
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let units: u64 = whole.parse().ok().filter(|_| digits(whole) && digits(fraction) && fraction.len() <= 6)?;
    let amount = units.checked_mul(MILLION)?.checked_add(format!("{fraction:0<6}").parse().ok()?)?;
    (amount <= MAX_PRICE * MILLION).then_some(amount)
}

#[cfg(test)]
mod tests;
