use crate::params::dialect::MAX_TOKENS;
use crate::params::{Dialect, MAX_COMPLETION_TOKENS, SamplingSupport, ThinkingControl};
use crate::{Effort, Options, Thinking};

/// The generation parameters of requests: the effective options, as far as the endpoint supports them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ResolvedParams {
    pub(crate) temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
    /// The context size in tokens, for endpoints that allocate it per request.
    pub(crate) context_tokens: Option<u64>,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) effort: Option<Effort>,
    pub(crate) dialect: Dialect,
}

impl ResolvedParams {
    pub(crate) fn new(options: &Options, dialect: Dialect) -> Self {
        let off = options.thinking == Some(Thinking::Off);
        let can_sample = match dialect.sampling {
            SamplingSupport::Supported => true,
            SamplingSupport::WithoutThinking => off,
            SamplingSupport::Unsupported => false,
        };
        let has_budget = matches!(dialect.thinking, ThinkingControl::Budget { .. });
        Self {
            temperature: options
                .temperature
                .map(|value| value.min(dialect.max_temperature.into()))
                .filter(|_| can_sample),
            top_p: options.top_p.filter(|_| can_sample),
            max_tokens: options.max_tokens,
            context_tokens: options.context_tokens,
            thinking: options.thinking.filter(|thinking| can_express(dialect.thinking, *thinking)),
            // Effort requires thinking; endpoints reject the contradiction.
            effort: options.effort.filter(|_| !off && (has_budget || !dialect.effort_names.is_empty())),
            dialect,
        }
    }

    /// Returns the names of the configured options that are not sent.
    pub(crate) fn unsupported(&self, options: &Options) -> Vec<&'static str> {
        let sets_thinking = options.thinking.filter(|thinking| *thinking != Thinking::Auto);
        let off = options.thinking == Some(Thinking::Off);
        [
            ("temperature", options.temperature.is_some() && self.temperature.is_none()),
            ("topP", options.top_p.is_some() && self.top_p.is_none()),
            ("thinking", sets_thinking.is_some() && self.thinking.is_none()),
            ("effort", options.effort.is_some() && self.effort.is_none() && !off),
        ]
        .into_iter()
        .filter_map(|(name, is_unsupported)| is_unsupported.then_some(name))
        .collect()
    }

    /// Returns the endpoint's name for the nearest effort that it supports; the higher one if two are equally near.
    pub(crate) fn effort_name(&self) -> Option<&'static str> {
        let wanted = self.effort?;
        let distance = |known: Effort| (known as u8).abs_diff(wanted as u8);
        let nearest = self.dialect.effort_names.iter().rev().min_by_key(|(known, _)| distance(*known));
        nearest.map(|(_, name)| *name)
    }

    /// Removes the effort, and thinking too where the effort controls it.
    pub(crate) fn remove_effort(&mut self) {
        let by_effort = matches!(self.dialect.thinking, ThinkingControl::Effort { .. });
        (self.effort, self.thinking) = (None, self.thinking.filter(|_| !by_effort));
    }

    /// Disables thinking by the effort `none`.
    pub(crate) fn set_effort_none(&mut self) {
        self.dialect.thinking = ThinkingControl::Effort { on: None, off: Some("none") };
        (self.effort, self.thinking) = (None, Some(Thinking::Off));
    }

    pub(crate) fn swap_limit_name(&mut self) {
        if self.max_tokens.is_some() {
            let is_older = self.dialect.limit_name == MAX_TOKENS;
            self.dialect.limit_name = if is_older { MAX_COMPLETION_TOKENS } else { MAX_TOKENS };
        }
    }
}

fn can_express(control: ThinkingControl, thinking: Thinking) -> bool {
    match control {
        ThinkingControl::Unknown => false,
        ThinkingControl::Effort { off, .. } => thinking != Thinking::Off || off.is_some(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{LOW_TO_HIGH, PLAIN};

    const EFFORTS: [Effort; 5] = [Effort::Minimal, Effort::Low, Effort::Medium, Effort::High, Effort::Max];

    fn effort_names(efforts: &'static [(Effort, &'static str)]) -> Vec<Option<&'static str>> {
        let effort_name = |effort| {
            let options = Options { effort: Some(effort), ..Options::default() };
            ResolvedParams::new(&options, Dialect { effort_names: efforts, ..PLAIN }).effort_name()
        };
        EFFORTS.into_iter().map(effort_name).collect()
    }

    #[test]
    fn effort_maps_to_nearest_supported_or_higher() {
        assert_eq!(effort_names(&[]), [None; 5]);
        assert_eq!(effort_names(LOW_TO_HIGH), ["low", "low", "medium", "high", "high"].map(Some));
        let three = &[(Effort::Low, "low"), (Effort::High, "high"), (Effort::Max, "max")];
        assert_eq!(effort_names(three), ["low", "low", "high", "high", "max"].map(Some));
    }

    #[test]
    fn unsupported_options_are_dropped_and_reported() {
        let (temperature, top_p, max_tokens, effort) = (Some(0.5), Some(0.9), Some(7), Some(Effort::Low));
        let options_with = |thinking| {
            let thinking = Some(thinking);
            Options { temperature, top_p, max_tokens, thinking, effort, ..Options::default() }
        };
        let unsupported = |thinking, dialect| {
            ResolvedParams::new(&options_with(thinking), dialect).unsupported(&options_with(thinking))
        };
        let refusing = Dialect { sampling: SamplingSupport::Unsupported, ..PLAIN };
        assert_eq!(unsupported(Thinking::On, refusing), ["temperature", "topP", "thinking", "effort"]);
        assert_eq!(unsupported(Thinking::Auto, PLAIN), ["effort"]);
        let by_effort =
            |off| Dialect { thinking: ThinkingControl::Effort { on: None, off }, effort_names: LOW_TO_HIGH, ..PLAIN };
        assert_eq!(unsupported(Thinking::Off, by_effort(None)), ["thinking"]);
        let cool = Dialect { sampling: SamplingSupport::WithoutThinking, ..by_effort(Some("none")) };
        assert_eq!(unsupported(Thinking::Off, cool), [""; 0]);
        assert_eq!(unsupported(Thinking::On, cool), ["temperature", "topP"]);
        let mut params = ResolvedParams::new(&options_with(Thinking::On), refusing);
        params.swap_limit_name();
        assert_eq!((params.dialect.limit_name, params.max_tokens), (MAX_COMPLETION_TOKENS, Some(7)));
    }
}
