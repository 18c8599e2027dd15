use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::head::{Head, VERSION};
use super::line::{Entry, Line};

/// A recording, as it was read.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) head: Head,
    /// In order.
    pub(crate) lines: Vec<Line>,
}

/// Why a file cannot be replayed; nothing that stands in it is repeated.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The system does not give it.
    #[error("{} cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is something else.
    #[error("{} is no recording: line {line} is not of the format", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// Another program wrote it.
    #[error("{} is of version {version} of the format; this program reads version {VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// What it says to be.
        version: u32,
    },
}

/// What every version begins with.
#[derive(Deserialize)]
struct Versioned {
    recording: u32,
}

impl Recorded {
    /// Reads a file. A last line that was not written to its end does not count.
    pub(crate) fn read(path: &Path) -> Result<Self, Unreadable> {
        let bytes = fs::read(path).map_err(|source| Unreadable::File { path: path.to_owned(), source })?;
        let broken = |line| Unreadable::Line { path: path.to_owned(), line };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n').zip(1..);
        let (first, _) = lines.next().ok_or_else(|| broken(1))?;
        let Versioned { recording: version } = serde_json::from_slice(first).map_err(|_| broken(1))?;
        if version != VERSION {
            return Err(Unreadable::Version { path: path.to_owned(), version });
        }
        let head = serde_json::from_slice(first).map_err(|_| broken(1))?;
        let lines = lines.map(|(line, number)| line_of(line).ok_or_else(|| broken(number)));
        Ok(Self { head, lines: lines.collect::<Result<_, _>>()? })
    }

    /// What clients saw.
    pub(crate) fn events(&self) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter_map(|line| match &line.entry {
            Entry::Event { event } => Some(event),
            _ => None,
        })
    }
}

/// A line whose bytes are bytes.
fn line_of(text: &[u8]) -> Option<Line> {
    let line: Line = serde_json::from_slice(text).ok()?;
    let readable = match &line.entry {
        Entry::Body { bytes, .. } => bytes.decoded().is_some(),
        _ => true,
    };
    readable.then_some(line)
}
