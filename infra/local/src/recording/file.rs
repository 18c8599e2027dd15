use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::head::{Head, VERSION};
use super::line::{Entry, Line};

/// A parsed recording.
#[derive(Debug)]
pub(crate) struct RecordedTurn {
    pub(crate) head: Head,
    /// In order.
    pub(crate) lines: Vec<Line>,
}

/// Why a file cannot be replayed; the message never quotes the file's content.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file has another format.
    #[error("{} is no recording: line {line} is not of the format", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// The file has another version of the format.
    #[error("{} is of version {version} of the format; this program reads version {VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The file's version.
        version: u32,
    },
}

/// The first field of every version.
#[derive(Deserialize)]
struct VersionHeader {
    recording: u32,
}

impl RecordedTurn {
    /// Reads a file. An incomplete last line is ignored.
    pub(crate) fn read(path: &Path) -> Result<Self, RecordingError> {
        let bytes = fs::read(path).map_err(|source| RecordingError::File { path: path.to_owned(), source })?;
        let broken = |line| RecordingError::Line { path: path.to_owned(), line };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n').zip(1..);
        let (first, _) = lines.next().ok_or_else(|| broken(1))?;
        let VersionHeader { recording: version } = serde_json::from_slice(first).map_err(|_| broken(1))?;
        if version != VERSION {
            return Err(RecordingError::Version { path: path.to_owned(), version });
        }
        let head = serde_json::from_slice(first).map_err(|_| broken(1))?;
        let lines = lines.map(|(line, number)| parse_line(line).ok_or_else(|| broken(number)));
        Ok(Self { head, lines: lines.collect::<Result<_, _>>()? })
    }

    /// The events that clients received.
    pub(crate) fn events(&self) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter_map(|line| match &line.entry {
            Entry::Event { event } => Some(event),
            _ => None,
        })
    }
}

/// Parses a line and validates its bytes.
fn parse_line(text: &[u8]) -> Option<Line> {
    let line: Line = serde_json::from_slice(text).ok()?;
    let readable = match &line.entry {
        Entry::Body { bytes, .. } => bytes.decode().is_some(),
        _ => true,
    };
    readable.then_some(line)
}
