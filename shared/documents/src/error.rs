use domain::{Language, ToolFailure};
use prompts::{DocumentTexts, fill};
use tools::{Tool, ToolCallError, ToolError};

use crate::PatternFault;

/// Why documents cannot be searched or read. What is outside the root, hidden or ignored is not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The path is not one below the root.
    #[error("not a path below the root")]
    InvalidPath,
    /// Nothing is there.
    #[error("no such file or folder")]
    NotFound,
    /// A folder is there.
    #[error("a folder, not a file")]
    IsFolder,
    /// A file is there.
    #[error("a file, not a folder")]
    IsFile,
    /// The file is not text.
    #[error("a binary file")]
    Binary,
    /// The file cannot be read now.
    #[error("unreadable")]
    Unreadable,
    /// The regular expression is faulty or too large.
    #[error("no regular expression")]
    InvalidPattern(PatternFault),
    /// The glob of this field is faulty.
    #[error("no glob")]
    InvalidGlob(&'static str),
    /// The field is blank.
    #[error("a blank argument")]
    Blank(&'static str),
    /// The documents are still being copied from their bucket; a later call continues.
    #[error("the documents are being copied")]
    Loading,
    /// The documents cannot be copied from their bucket.
    #[error("the documents cannot be copied")]
    Unavailable,
    /// Time ran out before there was a result.
    #[error("out of time")]
    OutOfTime,
}

impl DocumentError {
    /// The result of the call for the user and for the model.
    pub(crate) fn to_tool_error(&self, tool: &dyn Tool, language: Language) -> ToolError {
        let reason = self.reason(language);
        let (code, message) = match self {
            Self::OutOfTime => ("timeout", "The tool took too long and was stopped."),
            Self::Loading => ("failed", "The documents are still being loaded."),
            Self::Unavailable => ("failed", "The documents cannot be loaded."),
            Self::NotFound => ("failed", "There is no such document."),
            Self::Binary => ("failed", "The document is not text."),
            Self::Unreadable => ("failed", "The document cannot be read."),
            // Other arguments would help.
            _ => return ToolCallError::invalid_arguments(&reason, language).into(),
        };
        let failure = ToolFailure { code: code.to_owned(), message: message.to_owned() };
        ToolError::Model { failure, content: tool.failure_text(&tool_calls::escape(&reason), language) }
    }

    fn reason(&self, language: Language) -> String {
        let texts = DocumentTexts::of(language);
        match self {
            Self::InvalidPath => texts.invalid_path.to_owned(),
            Self::NotFound => texts.not_found.to_owned(),
            Self::IsFolder => texts.is_folder.to_owned(),
            Self::IsFile => texts.is_file.to_owned(),
            Self::Binary => texts.binary.to_owned(),
            Self::Unreadable => texts.unreadable.to_owned(),
            Self::Loading => texts.loading.to_owned(),
            Self::Unavailable => texts.unavailable.to_owned(),
            Self::InvalidPattern(fault) => fill(texts.invalid_pattern, &[("reason", fault.reason(texts))]),
            Self::InvalidGlob(field) => fill(texts.invalid_glob, &[("field", field)]),
            Self::Blank(field) => fill(texts.blank, &[("field", field)]),
            Self::OutOfTime => texts.out_of_time.to_owned(),
        }
    }
}
