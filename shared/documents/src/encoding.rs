//! The encodings of text files: UTF-8, UTF-16 with a mark, and the single-byte and East Asian encodings of the WHATWG
//! Encoding Standard that browsers guess. UTF-16 without a mark counts as binary; ISO-2022-JP and HZ are not recognised.

use std::fs::File;
use std::io::{self, Cursor, Read};

use encoding_rs::{Encoding, UTF_8};

use crate::DocumentError;

/// The beginning of a file from which its encoding is detected, in bytes.
const PREFIX_BYTES: u64 = 1024 * 1024;

/// A text file, with the encoding that was detected.
pub(crate) struct TextFile {
    /// The beginning of the content as it is stored; the file has the rest.
    start: Vec<u8>,
    file: File,
    encoding: &'static Encoding,
    /// Whether the start is the whole content, and UTF-8 without a mark.
    is_plain: bool,
}

impl TextFile {
    /// Reads the beginning of a file into a buffer, whose former content is dropped, and detects its encoding.
    ///
    /// # Errors
    /// `Binary` for a file with NUL bytes that no mark explains; `Unreadable` if reading fails.
    pub(crate) fn read(mut file: File, mut buffer: Vec<u8>) -> Result<Self, DocumentError> {
        buffer.clear();
        let is_whole = (file.by_ref().take(PREFIX_BYTES).read_to_end(&mut buffer)? as u64) < PREFIX_BYTES;
        let marked = Encoding::for_bom(&buffer).map(|(encoding, _)| encoding);
        if marked.is_none() && memchr::memchr(0, &buffer).is_some() {
            return Err(DocumentError::Binary);
        }
        let encoding = match marked {
            Some(encoding) => encoding,
            None => files::guess_encoding(&buffer, (!is_whole).then_some(&mut file))?,
        };
        let is_plain = is_whole && marked.is_none() && encoding == UTF_8;
        Ok(Self { start: buffer, file, encoding, is_plain })
    }

    /// The content, if it is UTF-8 without a mark and short enough to be in memory.
    pub(crate) fn as_utf8(&self) -> Option<&[u8]> {
        self.is_plain.then_some(&*self.start)
    }

    /// The buffer, to be used again.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.start
    }

    /// Reads the content as UTF-8; what is faulty becomes U+FFFD.
    pub(crate) fn decode(self) -> impl Read {
        let content = Cursor::new(self.start).chain(self.file);
        encoding_rs_io::DecodeReaderBytesBuilder::new().encoding(Some(self.encoding)).strip_bom(true).build(content)
    }
}

/// Converts an error of reading; that of an interrupted reader is `TimedOut`.
impl From<io::Error> for DocumentError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::TimedOut { Self::OutOfTime } else { Self::Unreadable }
    }
}
