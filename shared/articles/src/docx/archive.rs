//! Files of a ZIP archive, stored or deflated.
//!
//! <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>: the directory is at the end of the archive; the numbers
//! in it are little-endian.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// The largest file that is unpacked, in bytes.
const MAX_FILE_BYTES: usize = 64 * 1024 * 1024;

/// The maximum number of files.
const MAX_FILES: usize = 10_000;

const END_SIGNATURE: &[u8] = b"PK\x05\x06";
const ENTRY_SIGNATURE: &[u8] = b"PK\x01\x02";
const FILE_SIGNATURE: &[u8] = b"PK\x03\x04";

/// The fixed lengths of the record at the end, of an entry of the directory, and of the header of a file.
const END_BYTES: usize = 22;
const ENTRY_BYTES: usize = 46;
const FILE_BYTES: usize = 30;

/// The longest comment after the record at the end.
const MAX_COMMENT_BYTES: usize = 65_535;

const STORED: usize = 0;
const DEFLATED: usize = 8;

/// An archive in memory.
pub(super) struct Archive<'a> {
    bytes: &'a [u8],
    /// Where the directory starts.
    directory: usize,
}

impl<'a> Archive<'a> {
    /// Finds the directory; `None` if there is none.
    pub(super) fn open(bytes: &'a [u8]) -> Option<Self> {
        let earliest = bytes.len().saturating_sub(END_BYTES + MAX_COMMENT_BYTES);
        let tail = bytes.get(earliest..)?;
        let end = earliest + tail.windows(END_SIGNATURE.len()).rposition(|window| window == END_SIGNATURE)?;
        Some(Self { bytes, directory: number(bytes, end + 16, 4)? })
    }

    /// The text of a file; `None` if it is absent, too long or damaged.
    pub(super) fn read(&self, name: &str) -> Option<String> {
        let mut at = self.directory;
        for _ in 0..MAX_FILES {
            let entry = self.bytes.get(at..)?.strip_prefix(ENTRY_SIGNATURE)?;
            let (name_length, extra, comment) =
                (number(self.bytes, at + 28, 2)?, number(self.bytes, at + 30, 2)?, number(self.bytes, at + 32, 2)?);
            let own_name = entry.get(ENTRY_BYTES - ENTRY_SIGNATURE.len()..)?.get(..name_length)?;
            if own_name == name.as_bytes() {
                return self.unpack(at);
            }
            at += ENTRY_BYTES + name_length + extra + comment;
        }
        None
    }

    /// Unpacks the file of the directory entry at this position.
    fn unpack(&self, entry: usize) -> Option<String> {
        let (method, packed) = (number(self.bytes, entry + 10, 2)?, number(self.bytes, entry + 20, 4)?);
        let header = number(self.bytes, entry + 42, 4)?;
        self.bytes.get(header..)?.strip_prefix(FILE_SIGNATURE)?;
        let names = number(self.bytes, header + 26, 2)? + number(self.bytes, header + 28, 2)?;
        let start = header + FILE_BYTES + names;
        let content = self.bytes.get(start..start.checked_add(packed)?)?;
        let unpacked = match method {
            STORED if content.len() <= MAX_FILE_BYTES => content.to_vec(),
            DEFLATED => decompress_to_vec_with_limit(content, MAX_FILE_BYTES).ok()?,
            _ => return None,
        };
        String::from_utf8(unpacked).ok()
    }
}

/// A number of two or four bytes.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

#[cfg(test)]
pub(crate) mod tests {
    use miniz_oxide::deflate::compress_to_vec;

    use super::*;

    /// An archive of these files; the last field chooses deflation.
    pub(crate) fn zip(files: &[(&str, &str, bool)]) -> Vec<u8> {
        let (mut archive, mut directory) = (Vec::new(), Vec::new());
        for (name, text, is_deflated) in files {
            let content = if *is_deflated { compress_to_vec(text.as_bytes(), 6) } else { text.as_bytes().to_vec() };
            let small = |number: usize| u16::try_from(number).unwrap().to_le_bytes();
            let large = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
            let method = small(if *is_deflated { DEFLATED } else { STORED });
            let header = archive.len();
            directory.extend([ENTRY_SIGNATURE, &[0; 6], &method, &[0; 8], &large(content.len())].concat());
            directory.extend(
                [&large(text.len())[..], &small(name.len()), &[0; 12], &large(header), name.as_bytes()].concat(),
            );
            archive.extend([FILE_SIGNATURE, &[0; 4], &method, &[0; 8], &large(content.len())].concat());
            archive.extend([&large(text.len())[..], &small(name.len()), &[0; 2], name.as_bytes(), &content].concat());
        }
        let start = u32::try_from(archive.len()).unwrap().to_le_bytes();
        archive.extend(directory);
        archive.extend([END_SIGNATURE, &[0; 12], &start, &[0; 2]].concat());
        archive
    }

    #[test]
    fn stored_and_deflated_files_are_read() {
        let bytes = zip(&[("a", "one", false), ("b", &"é".repeat(1000), true)]);
        let archive = Archive::open(&bytes).unwrap();
        assert_eq!([archive.read("a"), archive.read("c")], [Some("one".to_owned()), None]);
        assert_eq!(archive.read("b"), Some("é".repeat(1000)));
    }

    #[test]
    fn damaged_archives_are_refused() {
        let bytes = zip(&[("a", &"one ".repeat(50), true), ("b", "two", false)]);
        // The last two bytes are the length of the comment, which is not read.
        for length in 0..bytes.len() - 2 {
            let read = Archive::open(&bytes[..length]).and_then(|archive| archive.read("b"));
            assert_eq!(read, None, "{length}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0xFF;
            let _any = Archive::open(&changed).map(|archive| (archive.read("a"), archive.read("b")));
        }
    }
}
