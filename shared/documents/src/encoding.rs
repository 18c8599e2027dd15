//! The encodings of text files.

use std::fs::File;
use std::io::{self, Chain, Cursor, Read};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};
use grep_searcher::Encoding as SearchEncoding;

use crate::DocumentError;

/// The beginning of a file from which its encoding is detected, in bytes.
const PREFIX_BYTES: u64 = 1024 * 1024;

/// Longest text that the guess of an encoding reads, from its first byte that is not ASCII.
const GUESS_BYTES: usize = 64 * 1024;

/// A text file, with the encoding that was detected.
pub(crate) struct TextFile {
    /// The content as it is stored.
    pub(crate) reader: Chain<Cursor<Vec<u8>>, File>,
    pub(crate) encoding: &'static Encoding,
    /// Whether the file begins with a mark of its encoding.
    pub(crate) is_marked: bool,
}

impl TextFile {
    /// Detects the encoding of a file.
    ///
    /// # Errors
    /// `Binary` for a file with NUL bytes that no mark explains.
    pub(crate) fn new(mut file: File) -> Result<Self, DocumentError> {
        let mut prefix = Vec::new();
        let read = file.by_ref().take(PREFIX_BYTES).read_to_end(&mut prefix);
        let is_whole =
            read.map_err(|_| DocumentError::Unreadable)? < usize::try_from(PREFIX_BYTES).unwrap_or(usize::MAX);
        let marked = Encoding::for_bom(&prefix).map(|(encoding, _)| encoding);
        if marked.is_none() && memchr::memchr(0, &prefix).is_some() {
            return Err(DocumentError::Binary);
        }
        let encoding = marked.unwrap_or_else(|| guess(&prefix, is_whole));
        Ok(Self { reader: Cursor::new(prefix).chain(file), encoding, is_marked: marked.is_some() })
    }

    /// The encoding to search with; `None` for UTF-8 and for a file with a mark, which the searcher reads itself.
    pub(crate) fn search_encoding(&self) -> Option<SearchEncoding> {
        let is_known = self.is_marked || self.encoding == UTF_8;
        if is_known { None } else { SearchEncoding::new(self.encoding.name()).ok() }
    }

    /// Reads the content as UTF-8; what is faulty becomes U+FFFD.
    pub(crate) fn decode(self) -> impl Read {
        encoding_rs_io::DecodeReaderBytesBuilder::new().encoding(Some(self.encoding)).strip_bom(true).build(self.reader)
    }
}

/// The encoding of an unmarked text: UTF-8 if it is valid, else the probable one.
fn guess(prefix: &[u8], is_whole: bool) -> &'static Encoding {
    let Err(error) = std::str::from_utf8(prefix) else { return UTF_8 };
    if !is_whole && error.error_len().is_none() {
        return UTF_8;
    }
    let start = prefix.iter().position(|byte| !byte.is_ascii()).unwrap_or_default();
    let sample = prefix.get(start..).unwrap_or_default();
    let sample = sample.get(..GUESS_BYTES).unwrap_or(sample);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, is_whole && sample.len() < GUESS_BYTES);
    detector.guess(None, Utf8Detection::Deny)
}

/// Converts an error of reading.
impl From<io::Error> for DocumentError {
    fn from(_: io::Error) -> Self {
        Self::Unreadable
    }
}
