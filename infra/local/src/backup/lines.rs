use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The longest line: an item of 400 KB as JSON, in which a byte may take six, and a value of a list nine.
const LONGEST: u64 = 8 * 1024 * 1024;

/// The lines of a file, one at a time.
pub(super) struct Lines(BufReader<File>);

impl Lines {
    pub(super) fn of(file: &Path) -> io::Result<Self> {
        Ok(Self(BufReader::new(File::open(file)?)))
    }

    /// The next line without its end; what is no text in it is replaced.
    pub(super) fn next(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        self.0.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let ended = line.pop_if(|last| *last == b'\n').is_some();
        if !ended && line.len() as u64 == LONGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it has a longer line than any of a backup"));
        }
        Ok(Some(String::from_utf8_lossy(&line).into_owned()))
    }
}
