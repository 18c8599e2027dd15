use prompts::DocumentTexts;
use regex_syntax::ast::ErrorKind;
use regex_syntax::ast::parse::Parser;

/// Why a pattern is no regular expression that can be searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternFault {
    /// Its parentheses are not balanced.
    Group,
    /// A set in brackets is faulty.
    Class,
    /// A repetition is faulty.
    Repetition,
    /// It has assertions about the text around, which are not linear in the text.
    Assertion,
    /// It has backreferences, which are not either.
    Backreference,
    /// A backslash before a character that it gives no meaning.
    Escape,
    /// It exceeds a limit.
    TooLarge,
    /// Any other.
    Other,
}

impl PatternFault {
    /// The fault of a pattern that does not compile.
    pub(crate) fn of(pattern: &str, error: &grep_regex::Error) -> Self {
        let Err(fault) = Parser::new().parse(pattern) else {
            let is_large = error.to_string().contains("size limit");
            return if is_large { Self::TooLarge } else { Self::Other };
        };
        match fault.kind() {
            ErrorKind::GroupUnclosed | ErrorKind::GroupUnopened => Self::Group,
            ErrorKind::ClassUnclosed
            | ErrorKind::ClassRangeInvalid
            | ErrorKind::ClassRangeLiteral
            | ErrorKind::ClassEscapeInvalid => Self::Class,
            ErrorKind::RepetitionCountInvalid
            | ErrorKind::RepetitionCountDecimalEmpty
            | ErrorKind::RepetitionCountUnclosed
            | ErrorKind::RepetitionMissing
            | ErrorKind::DecimalInvalid => Self::Repetition,
            ErrorKind::UnsupportedLookAround => Self::Assertion,
            ErrorKind::UnsupportedBackreference => Self::Backreference,
            ErrorKind::EscapeUnrecognized | ErrorKind::EscapeUnexpectedEof => Self::Escape,
            ErrorKind::NestLimitExceeded(_) => Self::TooLarge,
            _ => Self::Other,
        }
    }

    pub(crate) fn reason(self, texts: &DocumentTexts) -> &'static str {
        match self {
            Self::Group => texts.pattern_group,
            Self::Class => texts.pattern_class,
            Self::Repetition => texts.pattern_repetition,
            Self::Assertion => texts.pattern_assertion,
            Self::Backreference => texts.pattern_backreference,
            Self::Escape => texts.pattern_escape,
            Self::TooLarge => texts.pattern_too_large,
            Self::Other => texts.pattern_faulty,
        }
    }
}
