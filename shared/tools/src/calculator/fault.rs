use domain::Language;
use prompts::{CalculatorTexts, fill};

/// Why there is no value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is not an expression.
    Unreadable(SyntaxFault),
    /// The expression has no value.
    Undefined(ValueFault),
    /// The value takes too long to compute.
    TooLarge,
}

/// Why a text is not an expression.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SyntaxFault {
    /// More than this number of characters.
    TooLong(usize),
    Empty,
    UnknownSymbol(char),
    UnbalancedParentheses,
    /// Parentheses are nested more than this deep.
    TooManyParentheses(usize),
    TooComplex,
    BadNumber,
    StrayComma,
    Malformed,
    Incomplete,
    AmbiguousProduct,
    PercentAsRemainder,
    UnknownName(String),
    /// The function with a wrong number of arguments.
    ArgumentCount(String),
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueFault {
    DivisionByZero,
    ZeroToZero,
    /// The precision of an approximate number does not suffice.
    Imprecise,
    /// An argument is outside the domain of its function.
    Outside(Domain),
}

/// The limited domain of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Domain {
    Factorial,
    SquareRoot,
    ArcSine,
    Logarithm,
    LogarithmBase,
    NegativePower,
}

impl Fault {
    pub(super) fn division_by_zero() -> Self {
        Self::Undefined(ValueFault::DivisionByZero)
    }

    pub(super) fn outside(domain: Domain) -> Self {
        Self::Undefined(ValueFault::Outside(domain))
    }

    pub(super) fn imprecise() -> Self {
        Self::Undefined(ValueFault::Imprecise)
    }

    /// The text for the model.
    pub(super) fn render(&self, language: Language) -> String {
        let texts = CalculatorTexts::of(language);
        match self {
            Self::Unreadable(fault) => fill(texts.unreadable, &[("reason", &fault.reason(texts))]),
            Self::Undefined(fault) => fill(texts.failed, &[("reason", &fault.reason(texts))]),
            Self::TooLarge => fill(texts.failed, &[("reason", texts.too_large)]),
        }
    }
}

impl From<SyntaxFault> for Fault {
    fn from(fault: SyntaxFault) -> Self {
        Self::Unreadable(fault)
    }
}

impl SyntaxFault {
    pub(super) fn reason(&self, texts: &CalculatorTexts) -> String {
        let text = match self {
            Self::TooLong(limit) => return fill(texts.too_long, &[("limit", &limit.to_string())]),
            Self::TooManyParentheses(limit) => {
                return fill(texts.too_many_parentheses, &[("limit", &limit.to_string())]);
            }
            Self::UnknownSymbol(symbol) => return fill(texts.unknown_symbol, &[("symbol", &symbol.to_string())]),
            Self::UnknownName(name) => return fill(texts.unknown_name, &[("name", name)]),
            Self::ArgumentCount(name) => return fill(texts.argument_count, &[("name", name)]),
            Self::Empty => texts.empty,
            Self::UnbalancedParentheses => texts.unbalanced,
            Self::TooComplex => texts.too_complex,
            Self::BadNumber => texts.bad_number,
            Self::StrayComma => texts.stray_comma,
            Self::Malformed => texts.malformed,
            Self::Incomplete => texts.incomplete,
            Self::AmbiguousProduct => texts.ambiguous_product,
            Self::PercentAsRemainder => texts.percent_as_remainder,
        };
        text.to_owned()
    }
}

impl ValueFault {
    fn reason(self, texts: &CalculatorTexts) -> String {
        match self {
            Self::DivisionByZero => texts.division_by_zero.to_owned(),
            Self::ZeroToZero => texts.zero_to_zero.to_owned(),
            Self::Imprecise => texts.imprecise.to_owned(),
            Self::Outside(domain) => fill(texts.outside_domain, &[("reason", domain.reason(texts))]),
        }
    }
}

impl Domain {
    fn reason(self, texts: &CalculatorTexts) -> &str {
        match self {
            Self::Factorial => texts.factorial,
            Self::SquareRoot => texts.square_root,
            Self::ArcSine => texts.arc_sine,
            Self::Logarithm => texts.logarithm,
            Self::LogarithmBase => texts.logarithm_base,
            Self::NegativePower => texts.negative_power,
        }
    }
}
