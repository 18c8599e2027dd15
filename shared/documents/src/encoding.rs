//! The encodings of text files: UTF-8, UTF-16 with a mark, and the single-byte and East Asian encodings of the WHATWG
//! Encoding Standard that browsers guess. UTF-16 without a mark counts as binary; ISO-2022-JP and HZ are not recognised.

use std::fs::File;
use std::io::{self, Chain, Cursor, Read};

use encoding_rs::{Encoding, UTF_8};

use crate::DocumentError;
use crate::encoding_guess;

/// The beginning of a file from which its encoding is detected, in bytes.
const PREFIX_BYTES: u64 = 1024 * 1024;

/// The beginning of a file.
pub(crate) struct FileStart {
    bytes: Vec<u8>,
    file: File,
    /// The encoding that a mark at the beginning names.
    marked: Option<&'static Encoding>,
    /// Whether it is the whole file.
    is_whole: bool,
}

/// A text file, with the encoding that was detected.
pub(crate) struct TextFile {
    /// The content as it is stored.
    reader: Chain<Cursor<Vec<u8>>, File>,
    encoding: &'static Encoding,
    /// Whether the file begins with a mark of its encoding.
    is_marked: bool,
    /// Whether the prefix is the whole file.
    is_whole: bool,
}

impl FileStart {
    /// Reads the beginning of a file into a buffer, whose former content is dropped.
    ///
    /// # Errors
    /// `Unreadable` if reading fails.
    pub(crate) fn read(mut file: File, mut buffer: Vec<u8>) -> Result<Self, DocumentError> {
        buffer.clear();
        let read = file.by_ref().take(PREFIX_BYTES).read_to_end(&mut buffer)?;
        let marked = Encoding::for_bom(&buffer).map(|(encoding, _)| encoding);
        let is_whole = read < usize::try_from(PREFIX_BYTES).unwrap_or(usize::MAX);
        Ok(Self { bytes: buffer, file, marked, is_whole })
    }
}

impl TextFile {
    /// Detects the encoding of a file.
    ///
    /// # Errors
    /// `Binary` for a file with NUL bytes that no mark explains.
    pub(crate) fn new(file: File) -> Result<Self, DocumentError> {
        Self::of(FileStart::read(file, Vec::new())?)
    }

    /// Detects the encoding of a file whose beginning has been read.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn of(start: FileStart) -> Result<Self, DocumentError> {
        let FileStart { bytes, mut file, marked, is_whole } = start;
        if marked.is_none() && memchr::memchr(0, &bytes).is_some() {
            return Err(DocumentError::Binary);
        }
        let encoding = match marked {
            Some(encoding) => encoding,
            None => encoding_guess::guess(&bytes, (!is_whole).then_some(&mut file))?,
        };
        let reader = Cursor::new(bytes).chain(file);
        Ok(Self { reader, encoding, is_marked: marked.is_some(), is_whole })
    }

    /// The content, if it is UTF-8 without a mark and short enough to be in memory.
    pub(crate) fn as_utf8(&self) -> Option<&[u8]> {
        let is_plain = self.is_whole && !self.is_marked && self.encoding == UTF_8;
        is_plain.then(|| self.reader.get_ref().0.get_ref().as_slice())
    }

    /// The buffer, to be used again.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.reader.into_inner().0.into_inner()
    }

    /// Reads the content as UTF-8; what is faulty becomes U+FFFD.
    pub(crate) fn decode(self) -> impl Read {
        encoding_rs_io::DecodeReaderBytesBuilder::new().encoding(Some(self.encoding)).strip_bom(true).build(self.reader)
    }
}

/// Converts an error of reading.
impl From<io::Error> for DocumentError {
    fn from(_: io::Error) -> Self {
        Self::Unreadable
    }
}
