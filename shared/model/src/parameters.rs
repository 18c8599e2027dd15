use crate::dialect::{Dialect, LimitName, Sampling, Switch};
use crate::{Effort, Options, Thinking};

/// The generation parameters of requests: the effective options, as far as the endpoint supports them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Parameters {
    pub(crate) temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    /// The maximum length of a reply in tokens, and the name of that field on OpenAI's wire.
    pub(crate) limit: Option<(LimitName, u32)>,
    /// The context size in tokens, for endpoints that allocate it per request.
    pub(crate) context: Option<u64>,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) effort: Option<Effort>,
    /// The names and limits of the parameters.
    pub(crate) dialect: Dialect,
}

impl Parameters {
    /// Selects the parameters of `options` that `dialect` supports.
    pub(crate) fn new(options: &Options, dialect: Dialect) -> Self {
        let off = options.thinking == Some(Thinking::Off);
        let sampled = match dialect.sampling {
            Sampling::Taken => true,
            Sampling::WithoutThinking => off,
            Sampling::Refused => false,
        };
        let budget = matches!(dialect.thinking, Switch::Budget { .. });
        Self {
            temperature: options.sampling.temperature.map(|wish| wish.min(dialect.hottest.into())).filter(|_| sampled),
            top_p: options.sampling.top_p.filter(|_| sampled),
            limit: options.sampling.max_tokens.map(|tokens| (dialect.limit, tokens)),
            context: options.context_tokens,
            thinking: options.thinking.filter(|thinking| can_say(dialect.thinking, *thinking)),
            // Effort requires thinking; endpoints reject the contradiction.
            effort: options.effort.filter(|_| !off && (budget || !dialect.efforts.is_empty())),
            dialect,
        }
    }

    /// Returns the names of the configured options that are not sent.
    pub(crate) fn unsaid(&self, options: &Options) -> Vec<&'static str> {
        let asked_to_think = options.thinking.filter(|thinking| *thinking != Thinking::Auto);
        let off = options.thinking == Some(Thinking::Off);
        [
            ("temperature", options.sampling.temperature.is_some() && self.temperature.is_none()),
            ("topP", options.sampling.top_p.is_some() && self.top_p.is_none()),
            ("thinking", asked_to_think.is_some() && self.thinking.is_none()),
            ("effort", options.effort.is_some() && self.effort.is_none() && !off),
        ]
        .into_iter()
        .filter_map(|(name, unsaid)| unsaid.then_some(name))
        .collect()
    }

    /// Returns the endpoint's name for the nearest effort that it supports; the higher one if two are equally near.
    pub(crate) fn word(&self) -> Option<&'static str> {
        let asked = self.effort?;
        let distance = |known: Effort| (known as u8).abs_diff(asked as u8);
        let nearest = self.dialect.efforts.iter().rev().min_by_key(|(known, _)| distance(*known));
        nearest.map(|(_, word)| *word)
    }

    /// Removes thinking and effort.
    pub(crate) fn without_thinking(self) -> Self {
        Self { thinking: None, effort: None, ..self }
    }

    /// Removes the effort, and thinking too where the effort controls it.
    pub(crate) fn without_effort(self) -> Self {
        let by_effort = matches!(self.dialect.thinking, Switch::Effort { .. });
        Self { effort: None, thinking: self.thinking.filter(|_| !by_effort), ..self }
    }

    /// Swaps the name of the token limit.
    pub(crate) fn with_other_limit(self) -> Self {
        let other = |name| match name {
            LimitName::MaxTokens => LimitName::MaxCompletionTokens,
            LimitName::MaxCompletionTokens => LimitName::MaxTokens,
        };
        Self { limit: self.limit.map(|(name, tokens)| (other(name), tokens)), ..self }
    }
}

fn can_say(switch: Switch, thinking: Thinking) -> bool {
    match switch {
        Switch::Unknown => false,
        Switch::Effort { off, .. } => thinking != Thinking::Off || off.is_some(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sampling as Chosen;
    use crate::dialect::{LOW_TO_HIGH, PLAIN};

    const EFFORTS: [Effort; 5] = [Effort::Minimal, Effort::Low, Effort::Medium, Effort::High, Effort::Max];

    fn words(efforts: &'static [(Effort, &'static str)]) -> Vec<Option<&'static str>> {
        let word = |effort| {
            let options = Options { effort: Some(effort), ..Options::default() };
            Parameters::new(&options, Dialect { efforts, ..PLAIN }).word()
        };
        EFFORTS.into_iter().map(word).collect()
    }

    #[test]
    fn effort_maps_to_nearest_supported_or_higher() {
        assert_eq!(words(&[]), [None; 5]);
        assert_eq!(words(LOW_TO_HIGH), ["low", "low", "medium", "high", "high"].map(Some));
        let three = &[(Effort::Low, "low"), (Effort::High, "high"), (Effort::Max, "max")];
        assert_eq!(words(three), ["low", "low", "high", "high", "max"].map(Some));
    }

    #[test]
    fn unsupported_options_are_dropped_and_reported() {
        let sampling = Chosen { temperature: Some(0.5), top_p: Some(0.9), max_tokens: Some(7) };
        let chosen =
            |thinking| Options { sampling, thinking: Some(thinking), effort: Some(Effort::Low), ..Options::default() };
        let unsaid = |thinking, dialect| Parameters::new(&chosen(thinking), dialect).unsaid(&chosen(thinking));
        let refusing = Dialect { sampling: Sampling::Refused, ..PLAIN };
        assert_eq!(unsaid(Thinking::On, refusing), ["temperature", "topP", "thinking", "effort"]);
        assert_eq!(unsaid(Thinking::Auto, PLAIN), ["effort"]);
        let by_effort = |off| Dialect { thinking: Switch::Effort { on: None, off }, efforts: LOW_TO_HIGH, ..PLAIN };
        assert_eq!(unsaid(Thinking::Off, by_effort(None)), ["thinking"]);
        let cool = Dialect { sampling: Sampling::WithoutThinking, ..by_effort(Some("none")) };
        assert_eq!(unsaid(Thinking::Off, cool), [""; 0]);
        assert_eq!(unsaid(Thinking::On, cool), ["temperature", "topP"]);
        let limit = Parameters::new(&chosen(Thinking::On), refusing).with_other_limit().limit;
        assert_eq!(limit, Some((LimitName::MaxCompletionTokens, 7)));
    }
}
