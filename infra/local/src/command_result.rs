//! Results of commands: output, errors and exit codes.

use std::io::Write;

use store::StoreError;

use crate::StartError;

/// Exit code for wrong use of the command line, a setting, a folder or a port.
pub(crate) const WRONG_USE: u8 = 2;

/// Output of a command: its result for standard output, and a note for the error stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandOutput {
    pub(crate) result: String,
    pub(crate) note: String,
}

/// Why a command failed; each is one line for the person who gave it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The store cannot be opened.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A request to the store failed.
    #[error("the database cannot be used: {0}")]
    Store(#[from] StoreError),
    /// A file cannot be read or written.
    #[error("the file cannot be used: {0}")]
    File(#[from] std::io::Error),
    /// The object of the command does not exist.
    #[error("{0}")]
    Absent(String),
    /// A file is not valid for the command.
    #[error("{0}")]
    Refused(String),
    /// A part of the work failed.
    #[error("{0}")]
    Failed(String),
    /// A signal stopped the command.
    #[error("stopped")]
    Stopped,
}

impl CommandError {
    /// Exit code: 2 for wrong use, 1 for a failure.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Start(StartError::Store(_))
            | Self::Store(_)
            | Self::File(_)
            | Self::Absent(_)
            | Self::Failed(_)
            | Self::Stopped => 1,
            Self::Start(_) | Self::Refused(_) => WRONG_USE,
        }
    }
}

/// Prints a line; errors are ignored, because a closed terminal must not fail the command.
pub(crate) fn print_line(out: &mut impl Write, text: &str) {
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}
