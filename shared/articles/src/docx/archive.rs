use std::io::{Cursor, Read};

use zip::ZipArchive;

/// The largest file that is unpacked, in bytes.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// The maximum number of files.
const MAX_FILES: usize = 10_000;

/// What an entry of the directory begins with.
///
/// Source: <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>, 4.3.12, as of November 2026.
const ENTRY_SIGNATURE: &[u8] = b"PK\x01\x02";

/// A ZIP archive in memory.
pub(super) struct Archive<'a>(ZipArchive<Cursor<&'a [u8]>>);

impl<'a> Archive<'a> {
    /// Reads the directory; `None` if there is none, or if it may have too many entries.
    pub(super) fn open(bytes: &'a [u8]) -> Option<Self> {
        let entries = bytes.windows(ENTRY_SIGNATURE.len()).filter(|window| *window == ENTRY_SIGNATURE);
        // Counted first, because the directory is read into memory whole.
        if entries.count() > MAX_FILES {
            return None;
        }
        ZipArchive::new(Cursor::new(bytes)).ok().map(Self)
    }

    /// The text of a file, stored or deflated; `None` if it is absent, too long or damaged.
    pub(super) fn read(&mut self, name: &str) -> Option<String> {
        let mut unpacked = Vec::new();
        self.0.by_name(name).ok()?.take(MAX_FILE_BYTES + 1).read_to_end(&mut unpacked).ok()?;
        String::from_utf8(unpacked).ok().filter(|text| text.len() as u64 <= MAX_FILE_BYTES)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write;

    use zip::CompressionMethod;
    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    /// An archive of these files; the last field chooses deflation.
    pub(crate) fn zip(files: &[(&str, &str, bool)]) -> Vec<u8> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text, is_deflated) in files {
            let method = if *is_deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
            archive.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    #[test]
    fn stored_and_deflated_files_are_read() {
        let bytes = zip(&[("a", "one", false), ("b", &"é".repeat(1000), true)]);
        let mut archive = Archive::open(&bytes).unwrap();
        assert_eq!([archive.read("a"), archive.read("c")], [Some("one".to_owned()), None]);
        assert_eq!(archive.read("b"), Some("é".repeat(1000)));
    }

    #[test]
    fn damaged_archives_are_refused() {
        let bytes = zip(&[("a", &"one ".repeat(50), true), ("b", "two", false)]);
        // The last two bytes are the length of the comment, which is not read.
        for length in 0..bytes.len() - 2 {
            let read = Archive::open(&bytes[..length]).and_then(|mut archive| archive.read("b"));
            assert_eq!(read, None, "{length}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0xFF;
            let _any = Archive::open(&changed).map(|mut archive| (archive.read("a"), archive.read("b")));
        }
    }

    #[test]
    fn large_files_and_directories_are_refused() {
        let long = "a".repeat(usize::try_from(MAX_FILE_BYTES).unwrap());
        let bytes = zip(&[("fits", &long, true), ("long", &format!("{long}a"), true)]);
        let mut archive = Archive::open(&bytes).unwrap();
        assert_eq!(archive.read("fits").map(|text| text.len()), Some(long.len()));
        assert_eq!(archive.read("long"), None);
        let names: Vec<String> = (0..=MAX_FILES).map(|number| number.to_string()).collect();
        let files: Vec<(&str, &str, bool)> = names.iter().map(|name| (name.as_str(), "", false)).collect();
        assert!(Archive::open(&zip(&files[1..])).is_some() && Archive::open(&zip(&files)).is_none());
    }
}
