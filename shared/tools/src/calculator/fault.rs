use std::fmt::Display;

use domain::Language;
use prompts::{CalculatorTexts, fill};

/// Why there is no value.
#[derive(Debug)]
pub(super) enum Fault {
    /// It is not an expression.
    Unreadable(Reason),
    /// The expression has no value.
    Undefined(Reason),
    /// The value takes too long to compute.
    TooLarge,
}

type Text = fn(&CalculatorTexts) -> &str;

/// A text, with the name and the value of its placeholder if it has one.
#[derive(Debug)]
pub(super) struct Reason(Text, Option<(&'static str, String)>);

impl Fault {
    pub(super) fn unreadable(text: Text) -> Self {
        Self::Unreadable(Reason(text, None))
    }

    pub(super) fn unreadable_with(text: Text, placeholder: &'static str, value: impl Display) -> Self {
        Self::Unreadable(Reason(text, Some((placeholder, value.to_string()))))
    }

    pub(super) fn undefined(text: Text) -> Self {
        Self::Undefined(Reason(text, None))
    }

    pub(super) fn division_by_zero() -> Self {
        Self::undefined(|texts| texts.division_by_zero)
    }

    pub(super) fn imprecise() -> Self {
        Self::undefined(|texts| texts.imprecise)
    }

    pub(super) fn render(&self, language: Language) -> String {
        let texts = CalculatorTexts::of(language);
        match self {
            Self::Unreadable(reason) => fill(texts.unreadable, &[("reason", &reason.render(texts))]),
            Self::Undefined(reason) => fill(texts.failed, &[("reason", &reason.render(texts))]),
            Self::TooLarge => fill(texts.failed, &[("reason", texts.too_large)]),
        }
    }
}

impl Reason {
    pub(super) fn render(&self, texts: &CalculatorTexts) -> String {
        let values: Vec<_> = self.1.iter().map(|(name, value)| (*name, value.as_str())).collect();
        fill((self.0)(texts), &values)
    }
}
