//! What the commands of a machine share: output, errors, exit codes, progress, private files.

pub mod private_files;
mod progress_line;

use std::fmt::Display;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::time::SystemTime;

use platform::settings::SettingError;
use platform::transport::TransportError;
use store::{Store, StoreError};

pub use progress_line::ProgressLine;

/// Exit code for wrong use of the command line, a setting, a folder or a port.
pub const WRONG_USE: u8 = 2;

/// Output of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CommandOutput {
    /// For standard output.
    pub result: String,
    /// For the error stream.
    pub note: String,
}

impl From<String> for CommandOutput {
    fn from(result: String) -> Self {
        Self { result, note: String::new() }
    }
}

/// Why the server cannot start or a command failed: one line for the person who gave it, and the exit code.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct CommandError {
    text: String,
    /// [`WRONG_USE`] or 1.
    pub exit_code: u8,
}

impl CommandError {
    /// Wrong use of the command line, a setting, a folder or a port.
    pub fn wrong_use(text: impl Display) -> Self {
        Self { text: text.to_string(), exit_code: WRONG_USE }
    }

    /// The object of the command does not exist, or a part of the work failed.
    pub fn failed(text: impl Display) -> Self {
        Self { text: text.to_string(), exit_code: 1 }
    }

    /// Converts the error of a file that a command was to use.
    pub fn of_file(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.display().to_string();
        move |error| match error.kind() {
            io::ErrorKind::AlreadyExists => Self::failed(format!("{path} exists; name a new file")),
            _ => Self::failed(format!("{path} cannot be used: {error}")),
        }
    }

    /// Converts the error of a socket that cannot listen; `option` sets its address.
    pub fn of_listener(address: SocketAddr, option: &str) -> impl FnOnce(io::Error) -> Self {
        move |error| {
            let reason = match error.kind() {
                io::ErrorKind::AddrInUse => "something else listens there already".to_owned(),
                io::ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
                io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
                _ => error.to_string(),
            };
            Self::wrong_use(format!("cannot listen on {address}: {reason}; choose another one with {option}"))
        }
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        Self::failed(format!("the database cannot be used: {error}"))
    }
}

impl From<SettingError> for CommandError {
    fn from(error: SettingError) -> Self {
        Self::wrong_use(error)
    }
}

impl From<TransportError> for CommandError {
    fn from(error: TransportError) -> Self {
        Self::wrong_use(error)
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::wrong_use(format!("cannot start: {error}"))
    }
}

/// Adds a command to the audit trail. A failure is logged: what the command did stays done.
pub async fn record(store: &Store, action: &str, target: &str) {
    if let Err(error) = store.audit.record_command(action, target, SystemTime::now()).await {
        tracing::error!(%error, action, "an entry of the audit trail could not be stored");
    }
}

/// A number with its noun, whose plural ends in `s`.
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Millionths, such as those of a price, as a decimal number.
pub fn decimal(millionths: u64) -> String {
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
}

/// Prints a line; errors are ignored, because a closed terminal must not fail the command.
pub fn print_line(out: &mut impl Write, text: &str) {
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}
