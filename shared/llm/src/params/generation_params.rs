use serde_json::Value;

use crate::{Effort, Options, Thinking};

/// The generation parameters of one request; fields that are `None` or empty fall back to the operator's options.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GenerationParams {
    /// From 0 to 2; reduced to the model's maximum.
    pub temperature: Option<f64>,
    /// From 0 to 1.
    pub top_p: Option<f64>,
    /// The maximum length of a reply, in tokens; the operator's limit applies if it is lower.
    pub max_tokens: Option<u32>,
    /// Whether the model thinks.
    pub thinking: Option<Thinking>,
    /// The effort of thinking.
    pub effort: Option<Effort>,
    /// Stop sequences; the reply ends before them.
    pub stop: Vec<String>,
    /// For reproducible replies, as far as the provider supports that; not on Anthropic's wire.
    pub seed: Option<i64>,
    /// From -2 to 2; not on Anthropic's wire.
    pub presence_penalty: Option<f64>,
    /// From -2 to 2; not on Anthropic's wire.
    pub frequency_penalty: Option<f64>,
    /// The format of a reply, as in `response_format` of OpenAI's wire; only on OpenAI's and Ollama's wires.
    pub format: Option<Value>,
}

impl GenerationParams {
    /// Returns the operator's options with these parameters merged over them.
    pub(crate) fn merge_over(&self, options: &Options) -> Options {
        let mut options = options.clone();
        options.temperature = self.temperature.or(options.temperature);
        options.top_p = self.top_p.or(options.top_p);
        options.max_tokens = self.max_tokens.into_iter().chain(options.max_tokens).min();
        options.effort = self.effort.or(options.effort);
        // An effort implies thinking.
        let on = self.effort.is_some() && options.thinking == Some(Thinking::Off);
        options.thinking = self.thinking.or(if on { Some(Thinking::On) } else { options.thinking });
        options
    }

    /// Returns [`format`](Self::format) as Ollama expects it: the schema, or the string `json`.
    pub(crate) fn ollama_format(&self) -> Option<Value> {
        let format = self.format.as_ref()?;
        let schema = format.pointer("/json_schema/schema").cloned();
        Some(schema.unwrap_or_else(|| "json".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_overrides_options_except_higher_max_tokens() {
        let (temperature, top_p, max_tokens, thinking) = (Some(0.5), Some(0.9), Some(100), Some(Thinking::Off));
        let options = Options { temperature, top_p, max_tokens, thinking, ..Options::default() };
        assert_eq!(GenerationParams::default().merge_over(&options), options);
        let params = GenerationParams { temperature: Some(1.0), max_tokens: Some(200), ..GenerationParams::default() };
        let expected = Options { temperature: Some(1.0), ..options.clone() };
        assert_eq!(params.merge_over(&options), expected);
        let fewer = GenerationParams { max_tokens: Some(7), ..GenerationParams::default() };
        assert_eq!(fewer.merge_over(&options).max_tokens, Some(7));
        let hard = GenerationParams { effort: Some(Effort::High), ..GenerationParams::default() };
        assert_eq!(hard.merge_over(&options).thinking, Some(Thinking::On));
    }
}
