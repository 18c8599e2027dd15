use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use domain::{Groups, parse_object};
use platform::settings::{JsonFields, SettingError, Settings};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ACCEPTED_FALLBACK, ParsedModels};
use crate::params::ResolvedParams;
use crate::providers::{self, PROVIDERS};
use crate::{Effort, ModelConfig, OnlyFor, Options, Price, Thinking, Wire};

const VARIABLE: &str = "MODEL_OPTIONS";

const ACCEPTED: &str = "a JSON object with objects of options by the names of models, each once";

/// What the options accept; prices are checked with their exact text.
const FIELDS: &JsonFields = &[
    ("thinking", "on, off or auto"),
    ("thinkingOpen", "true or false"),
    ("effort", "minimal, low, medium, high or max"),
    ("temperature", "a number"),
    ("topP", "a number"),
    ("maxTokens", "a whole number"),
    ("contextTokens", "a whole number"),
    ("firstByteSeconds", "a whole number"),
    ("images", "true or false"),
    ("provider", "a provider's name"),
    ("fallback", ACCEPTED_FALLBACK),
    ("onlyFor", "an array of names of groups"),
    ("price", "an object with \"input\", \"output\" and optionally \"cachedInput\" and \"cacheWrite\""),
    ("input", ACCEPTED_PRICE),
    ("output", ACCEPTED_PRICE),
    ("cachedInput", ACCEPTED_PRICE),
    ("cacheWrite", ACCEPTED_PRICE),
];

const ACCEPTED_PRICE: &str = "decimal numbers from 0 to 1000000 with at most six places, for a million tokens";

const NAMES: &str = "as keys the names of models: volcano, openai, local, anthropic, gemini, bedrock or those in MODELS \
                     and EXTRA_MODELS";

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
    images: Option<bool>,
    provider: Option<String>,
    fallback: Option<String>,
    only_for: Option<Groups>,
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

pub(super) fn read(settings: &Settings, parsed: &mut ParsedModels) -> Result<(), SettingError> {
    let Some(text) = settings.var(VARIABLE) else { return Ok(()) };
    let entries: Option<BTreeMap<String, Entry<'_>>> = settings.parse_json(VARIABLE, ACCEPTED, FIELDS)?;
    // A name that occurs twice is an error; the parser of types uses the last one.
    parse_object(text.as_bytes()).map_err(|_| setting_error(ACCEPTED))?;
    for (name, entry) in entries.unwrap_or_default() {
        let ParsedModels { configs, notes, left_out, .. } = &mut *parsed;
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
        if let Some(groups) = self.only_for.clone() {
            if config.only_for.is_some() || groups.is_empty() {
                return Err(
                    config.option_error("onlyFor", "names of groups, and nothing where the model's row gives one")
                );
            }
            config.only_for = Some(OnlyFor::Groups(groups));
        }
        let images = self.images.or(config.options.images);
        config.options = Options { provider: self.provider(config)?, ..Options::default() };
        let dialect = providers::provider_of(config).dialect_of(&config.model);
        let max_temperature = f64::from(dialect.max_temperature);
        let number = "a number";
        let whole = "a whole number";
        let temperature = config.check_range("temperature", number, self.temperature, 0.0..=max_temperature)?;
        let top_p = config.check_range("topP", number, self.top_p, 0.0..=1.0)?;
        let max_tokens = config.check_range("maxTokens", whole, self.max_tokens, 1..=MAX_TOKENS)?;
        let first_byte_seconds = config.check_range("firstByteSeconds", whole, self.first_byte_seconds, 1..=900)?;
        config.options = Options {
            temperature,
            top_p,
            max_tokens: max_tokens.and_then(|tokens| u32::try_from(tokens).ok()),
            thinking: self.thinking,
            thinking_open: self.thinking_open,
            effort: self.effort,
            context_tokens: config.check_range("contextTokens", whole, self.context_tokens, 1..=MAX_TOKENS)?,
            images,
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

    fn price(&self, config: &ModelConfig) -> Result<Option<Price>, SettingError> {
        let Some(prices) = &self.price else { return Ok(None) };
        let price = || {
            let input = millionths(prices.input)?;
            let cached_input = prices.cached_input.map_or(Some(input), millionths)?;
            let cache_write = prices.cache_write.map_or(Some(input), millionths)?;
            Some(Price { input, cached_input, cache_write, output: millionths(prices.output)? })
        };
        price().map(Some).ok_or_else(|| config.option_error("price", ACCEPTED_PRICE))
    }
}

impl ModelConfig {
    fn check_range<T: PartialOrd + Display>(
        &self,
        field: &str,
        kind: &str,
        number: Option<T>,
        range: RangeInclusive<T>,
    ) -> Result<Option<T>, SettingError> {
        if number.as_ref().is_none_or(|number| range.contains(number)) {
            return Ok(number);
        }
        Err(self.option_error(field, &format!("{kind} from {} to {}", range.start(), range.end())))
    }

    fn option_error(&self, field: &str, accepted: &str) -> SettingError {
        setting_error(accepted).at(format!(".{}.{field}", self.name))
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
