use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};

/// Length limit of a line, in bytes: an item of 400 KB as JSON, where a byte may take six and a list value nine.
const MAX_LINE_BYTES: u64 = 8 * 1024 * 1024;

/// The lines of a file, one at a time.
pub(super) struct Lines(BufReader<File>);

impl Lines {
    pub(super) fn of(file: File) -> Self {
        Self(BufReader::new(file))
    }

    /// Starts over at the beginning of the same file, even if another file has taken its name.
    pub(super) fn rewind(&mut self) -> io::Result<()> {
        self.0.rewind()
    }

    /// Returns the next line without its end; bytes that are not UTF-8 are replaced.
    pub(super) fn next(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        self.0.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let ended = line.pop_if(|last| *last == b'\n').is_some();
        if !ended && line.len() as u64 == MAX_LINE_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it has a longer line than any of a backup"));
        }
        Ok(Some(String::from_utf8_lossy(&line).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn all(lines: &mut Lines) -> Vec<String> {
        std::iter::from_fn(|| lines.next().unwrap()).collect()
    }

    #[test]
    fn rewind_reads_the_original_file_after_replacement() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.jsonl");
        fs::write(&path, "one\ntwo\n").unwrap();
        let mut lines = Lines::of(File::open(&path).unwrap());
        assert_eq!(all(&mut lines), ["one", "two"]);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "another\n").unwrap();
        lines.rewind().unwrap();
        assert_eq!(all(&mut lines), ["one", "two"]);
    }
}
