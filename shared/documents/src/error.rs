use domain::Language;
use prompts::{DocumentTexts, fill};
use regex_syntax::ast::ErrorKind;
use regex_syntax::ast::parse::Parser;
use tools::{Tool, ToolCallError, ToolError};

/// Why documents cannot be searched or read. What is outside the root, hidden or ignored is not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentError {
    /// The path is not one below the root.
    InvalidPath,
    /// Nothing is there.
    NotFound,
    /// A folder is there.
    IsFolder,
    /// A file is there.
    IsFile,
    /// The file is not text.
    Binary,
    /// The file cannot be read now.
    Unreadable,
    /// The regular expression is faulty or too large.
    InvalidPattern(PatternFault),
    /// The glob of this field is faulty.
    InvalidGlob(&'static str),
    /// The field is blank.
    Blank(&'static str),
    /// The documents are still being copied from their bucket; a later call continues.
    Loading,
    /// The documents cannot be copied from their bucket.
    Unavailable,
    /// Time ran out before there was a result.
    OutOfTime,
}

/// Why a pattern is no regular expression that can be searched for: its syntax; `None` if that is well formed and names
/// something that does not exist.
pub type PatternFault = Option<ErrorKind>;

/// The fault of a pattern that exceeds a limit; the limit of nesting has the same text.
pub(crate) const TOO_LARGE: PatternFault = Some(ErrorKind::NestLimitExceeded(0));

impl DocumentError {
    /// The result of the call for the user and for the model.
    pub(crate) fn to_tool_error(&self, tool: &dyn Tool, language: Language) -> ToolError {
        let texts = DocumentTexts::of(language);
        let (message, reason) = match self {
            Self::NotFound => ("There is no such document.", texts.not_found),
            Self::Binary => ("The document is not text.", texts.binary),
            Self::Unreadable => ("The document cannot be read.", texts.unreadable),
            Self::Loading => ("The documents are still being loaded.", texts.loading),
            Self::Unavailable => ("The documents cannot be loaded.", texts.unavailable),
            Self::OutOfTime => ("The tool took too long and was stopped.", texts.out_of_time),
            // Other arguments would help.
            Self::InvalidPath => return invalid(texts.invalid_path, &[], language),
            Self::IsFolder => return invalid(texts.is_folder, &[], language),
            Self::IsFile => return invalid(texts.is_file, &[], language),
            Self::InvalidPattern(fault) => {
                return invalid(texts.invalid_pattern, &[("reason", pattern_reason(fault, texts))], language);
            }
            Self::InvalidGlob(field) => return invalid(texts.invalid_glob, &[("field", field)], language),
            Self::Blank(field) => return invalid(texts.blank, &[("field", field)], language),
        };
        let code = if *self == Self::OutOfTime { "timeout" } else { "failed" };
        ToolCallError::new(code, message, tool.failure_text(&tool_calls::escape(reason), language)).into()
    }
}

/// An argument that is not accepted.
fn invalid(text: &str, values: &[(&str, &str)], language: Language) -> ToolError {
    ToolCallError::invalid_arguments(&fill(text, values), language).into()
}

/// The fault of a pattern that does not compile.
pub(crate) fn pattern_fault(pattern: &str, error: &grep_regex::Error) -> PatternFault {
    match Parser::new().parse(pattern) {
        Ok(_) if error.to_string().contains("size limit") => TOO_LARGE,
        outcome => outcome.err().map(|fault| fault.kind().clone()),
    }
}

fn pattern_reason(fault: &PatternFault, texts: &DocumentTexts) -> &'static str {
    let Some(kind) = fault else { return texts.pattern_faulty };
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
