//! Settings of the process: environment variables, read once at startup.
//!
//! An error names the variable and the accepted values, never the variable's value: it may be a secret.

mod json;

use std::collections::HashMap;

pub use json::JsonFields;
use reqwest::Url;

/// A snapshot of the environment, or of a test's pairs.
#[derive(Clone, Default)]
pub struct Settings {
    vars: HashMap<String, String>,
}

/// A setting that is missing or cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}{path}: expected {accepted}")]
pub struct SettingError {
    /// The variable's name.
    pub variable: String,
    /// The element and the field of a JSON value, such as `[1].wire`; empty for the whole value.
    pub path: String,
    /// The accepted values, as the end of a sentence.
    pub accepted: String,
}

impl SettingError {
    /// An error for `variable`, which should hold `accepted`.
    pub fn new(variable: impl Into<String>, accepted: impl Into<String>) -> Self {
        Self { variable: variable.into(), path: String::new(), accepted: accepted.into() }
    }

    /// The same error for a part of a JSON value.
    #[must_use]
    pub fn at(self, path: impl Into<String>) -> Self {
        Self { path: path.into(), ..self }
    }
}

impl Settings {
    /// Reads the process's environment; skips variables that are not Unicode.
    pub fn from_env() -> Self {
        Self::from_pairs(std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))))
    }

    /// Creates settings from pairs; a later pair replaces an earlier one of the same name.
    pub fn from_pairs<K: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        Self { vars: pairs.into_iter().map(|(k, v)| (k.into(), v.into())).collect() }
    }

    /// Sets a variable in this snapshot.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.vars.insert(name.into(), value.into());
    }

    /// The value without surrounding white space; `None` when unset or blank.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// The names of the variables that begin with `prefix`, in no order.
    pub fn names_with_prefix(&self, prefix: &str) -> impl Iterator<Item = &str> {
        self.vars.keys().map(String::as_str).filter(move |name| name.starts_with(prefix))
    }

    /// The value, or an error that it is missing.
    pub fn require(&self, name: &str, accepted: &str) -> Result<&str, SettingError> {
        self.var(name).ok_or_else(|| SettingError::new(name, accepted))
    }

    /// Parses the value; `None` if unset, or an error with the `accepted` values.
    pub fn parse<T>(
        &self,
        name: &str,
        accepted: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, SettingError> {
        let Some(value) = self.var(name) else { return Ok(None) };
        parse(value).map(Some).ok_or_else(|| SettingError::new(name, accepted))
    }

    /// Parses an integer within `range`; `default` if unset.
    pub fn parse_integer(
        &self,
        name: &str,
        range: std::ops::RangeInclusive<u64>,
        default: u64,
    ) -> Result<u64, SettingError> {
        let accepted = format!("a whole number from {} to {}", range.start(), range.end());
        let value = self.parse(name, &accepted, |text| text.parse().ok().filter(|number| range.contains(number)))?;
        Ok(value.unwrap_or(default))
    }

    /// Whether the value is `yes`; false for `no` and if unset.
    pub fn is_yes(&self, name: &str) -> Result<bool, SettingError> {
        let parse = |text: &str| match text {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        Ok(self.parse(name, "yes or no", parse)?.unwrap_or(false))
    }
}

/// Parses the base URL of a service: `http` or `https` without a query. Returns it without a slash at its end.
pub fn parse_base_url(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let usable = matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none();
    usable.then(|| url.as_str().trim_end_matches('/').to_owned())
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Settings({} variables)", self.vars.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_variable_counts_as_unset() {
        let settings = Settings::from_pairs([("A", "  "), ("B", " x ")]);
        assert_eq!(settings.var("A"), None);
        assert_eq!(settings.var("B"), Some("x"));
    }

    #[test]
    fn error_names_variable_but_not_its_value() {
        let settings = Settings::from_pairs([("TURN_SECONDS", "hunter2")]);
        let error = settings.parse_integer("TURN_SECONDS", 1..=900, 300).unwrap_err().to_string();
        assert_eq!(error, "TURN_SECONDS: expected a whole number from 1 to 900");
        assert!(!format!("{settings:?}").contains("hunter2"));
    }

    #[test]
    fn only_yes_and_no_are_accepted() {
        let settings = Settings::from_pairs([("A", "yes"), ("B", "no"), ("C", "true")]);
        let read = |name| settings.is_yes(name).map_err(|error| error.to_string());
        assert_eq!([read("A"), read("B"), read("D")], [Ok(true), Ok(false), Ok(false)]);
        assert_eq!(read("C"), Err("C: expected yes or no".to_owned()));
    }

    #[test]
    fn number_out_of_range_is_refused_missing_defaults() {
        let settings = Settings::from_pairs([("N", "901")]);
        assert!(settings.parse_integer("N", 1..=900, 300).is_err());
        assert_eq!(settings.parse_integer("M", 1..=900, 300), Ok(300));
    }
}
