//! The ZIP archive of an office file.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::FileError;
use crate::recognition::ZIP_ENTRY;

/// How many bytes of an archive are unpacked in all; twice as many of a workbook.
pub(super) const MAX_UNPACKED_BYTES: u64 = 64 * 1024 * 1024;

pub(super) const MAX_FILES: usize = 10_000;

pub(super) struct Archive<'a> {
    files: ZipArchive<Cursor<&'a [u8]>>,
    /// How many bytes may still be unpacked.
    space: u64,
}

impl<'a> Archive<'a> {
    /// Reads the directory.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, FileError> {
        let entries = bytes.windows(ZIP_ENTRY.len()).filter(|window| *window == ZIP_ENTRY);
        // Counted first, because the directory is read into memory whole.
        if entries.count() > MAX_FILES {
            return Err(FileError::TooLarge(format!("it packs more than {MAX_FILES} files")));
        }
        let files = ZipArchive::new(Cursor::new(bytes)).map_err(|_| FileError::damaged("it is not a ZIP archive"))?;
        Ok(Self { files, space: MAX_UNPACKED_BYTES })
    }

    /// The text of a file, stored or deflated; `None` if it is absent.
    pub(super) fn read(&mut self, name: &str) -> Result<Option<String>, FileError> {
        let file = match self.files.by_name(name) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(reason)) if reason == ZipError::PASSWORD_REQUIRED => {
                return Err(FileError::Encrypted);
            }
            Err(_) => return Err(damaged()),
        };
        let mut unpacked = Vec::new();
        file.take(self.space + 1).read_to_end(&mut unpacked).map_err(|_| damaged())?;
        self.space = left(self.space, unpacked.len() as u64)?;
        String::from_utf8(unpacked).map(Some).map_err(|_| damaged())
    }

    /// Checks that all files together unpack to no more than can be read, for a reader that does not count.
    pub(super) fn check_size(&mut self) -> Result<(), FileError> {
        let mut space = 2 * MAX_UNPACKED_BYTES;
        for index in 0..self.files.len() {
            let file = self.files.by_index(index).map_err(|_| damaged())?;
            space =
                left(space, std::io::copy(&mut file.take(space + 1), &mut std::io::sink()).map_err(|_| damaged())?)?;
        }
        Ok(())
    }
}

fn left(space: u64, unpacked: u64) -> Result<u64, FileError> {
    let mib = MAX_UNPACKED_BYTES / 1024 / 1024;
    space.checked_sub(unpacked).ok_or_else(|| FileError::TooLarge(format!("it unpacks to more than {mib} MiB")))
}

fn damaged() -> FileError {
    FileError::damaged("a file in it cannot be unpacked")
}
