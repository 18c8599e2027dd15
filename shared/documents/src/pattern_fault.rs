use prompts::DocumentTexts;
use regex_syntax::ast::ErrorKind;
use regex_syntax::ast::parse::Parser;

/// Why a pattern is no regular expression that can be searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternFault {
    /// It exceeds a limit.
    TooLarge,
    /// Its syntax; `None` if that is well formed and names something that does not exist.
    Syntax(Option<ErrorKind>),
}

impl PatternFault {
    /// The fault of a pattern that does not compile.
    pub(crate) fn of(pattern: &str, error: &grep_regex::Error) -> Self {
        match Parser::new().parse(pattern) {
            Ok(_) if error.to_string().contains("size limit") => Self::TooLarge,
            outcome => Self::Syntax(outcome.err().map(|fault| fault.kind().clone())),
        }
    }

    pub(crate) fn reason(&self, texts: &DocumentTexts) -> &'static str {
        let Self::Syntax(Some(kind)) = self else {
            return if *self == Self::TooLarge { texts.pattern_too_large } else { texts.pattern_faulty };
        };
        match kind {
            ErrorKind::GroupUnclosed | ErrorKind::GroupUnopened => texts.pattern_group,
            ErrorKind::ClassUnclosed
            | ErrorKind::ClassRangeInvalid
            | ErrorKind::ClassRangeLiteral
            | ErrorKind::ClassEscapeInvalid => texts.pattern_class,
            ErrorKind::RepetitionCountInvalid
            | ErrorKind::RepetitionCountDecimalEmpty
            | ErrorKind::RepetitionCountUnclosed
            | ErrorKind::RepetitionMissing
            | ErrorKind::DecimalInvalid => texts.pattern_repetition,
            ErrorKind::UnsupportedLookAround => texts.pattern_assertion,
            ErrorKind::UnsupportedBackreference => texts.pattern_backreference,
            ErrorKind::EscapeUnrecognized | ErrorKind::EscapeUnexpectedEof => texts.pattern_escape,
            ErrorKind::NestLimitExceeded(_) => texts.pattern_too_large,
            _ => texts.pattern_faulty,
        }
    }
}
