use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};

/// The longest line: an item of 400 KB as JSON, in which a byte may take six, and a value of a list nine.
const LONGEST: u64 = 8 * 1024 * 1024;

/// The lines of a file, one at a time.
pub(super) struct Lines(BufReader<File>);

impl Lines {
    pub(super) fn of(file: File) -> Self {
        Self(BufReader::new(file))
    }

    /// From the beginning, of the same file, whatever has its name meanwhile.
    pub(super) fn again(&mut self) -> io::Result<()> {
        self.0.rewind()
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn all(lines: &mut Lines) -> Vec<String> {
        std::iter::from_fn(|| lines.next().unwrap()).collect()
    }

    #[test]
    fn a_file_is_read_twice_though_another_took_its_name_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.jsonl");
        fs::write(&path, "one\ntwo\n").unwrap();
        let mut lines = Lines::of(File::open(&path).unwrap());
        assert_eq!(all(&mut lines), ["one", "two"]);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "another\n").unwrap();
        lines.again().unwrap();
        assert_eq!(all(&mut lines), ["one", "two"]);
    }
}
