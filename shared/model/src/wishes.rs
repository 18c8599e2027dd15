use serde_json::Value;

use crate::{Effort, Options, Thinking};

/// What one request chooses over what the operator chose; what is `None` or empty is left to the operator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes {
    /// From 0 to 2; what is more than a model takes is the most that it takes.
    pub temperature: Option<f64>,
    /// From 0 to 1.
    pub top_p: Option<f64>,
    /// The longest reply, in tokens; an operator's limit stays if it is lower.
    pub max_tokens: Option<u32>,
    /// Whether the model thinks.
    pub thinking: Option<Thinking>,
    /// How hard.
    pub effort: Option<Effort>,
    /// Texts before which a reply ends.
    pub stop: Vec<String>,
    /// For replies that can be had again, as far as a provider can; Anthropic's wire has no such field.
    pub seed: Option<i64>,
    /// From -2 to 2; not on Anthropic's wire.
    pub presence_penalty: Option<f64>,
    /// From -2 to 2; not on Anthropic's wire.
    pub frequency_penalty: Option<f64>,
    /// The form of a reply, as `response_format` of OpenAI's wire says it; on that and on Ollama's alone.
    pub format: Option<Value>,
}

impl Wishes {
    /// The operator's options with these over them.
    pub(crate) fn over(&self, options: &Options) -> Options {
        let mut options = options.clone();
        let sampling = &mut options.sampling;
        sampling.temperature = self.temperature.or(sampling.temperature);
        sampling.top_p = self.top_p.or(sampling.top_p);
        sampling.max_tokens = self.max_tokens.into_iter().chain(sampling.max_tokens).min();
        options.effort = self.effort.or(options.effort);
        // Who names an effort wants the model to think.
        let on = self.effort.is_some() && options.thinking == Some(Thinking::Off);
        options.thinking = self.thinking.or(if on { Some(Thinking::On) } else { options.thinking });
        options
    }

    /// The schema within [`format`](Self::format), or the word `json`: Ollama's form of it.
    pub(crate) fn format_of_ollama(&self) -> Option<Value> {
        let format = self.format.as_ref()?;
        let schema = format.pointer("/json_schema/schema").cloned();
        Some(schema.unwrap_or_else(|| "json".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sampling;

    #[test]
    fn a_request_chooses_over_the_operator_but_for_the_longest_reply() {
        let sampling = Sampling { temperature: Some(0.5), top_p: Some(0.9), max_tokens: Some(100) };
        let options = Options { sampling, thinking: Some(Thinking::Off), ..Options::default() };
        assert_eq!(Wishes::default().over(&options), options);
        let wishes = Wishes { temperature: Some(1.0), max_tokens: Some(200), ..Wishes::default() };
        let expected = Sampling { temperature: Some(1.0), ..sampling };
        assert_eq!(wishes.over(&options).sampling, expected);
        let fewer = Wishes { max_tokens: Some(7), ..Wishes::default() };
        assert_eq!(fewer.over(&options).sampling.max_tokens, Some(7));
        let hard = Wishes { effort: Some(Effort::High), ..Wishes::default() };
        assert_eq!(hard.over(&options).thinking, Some(Thinking::On));
    }
}
