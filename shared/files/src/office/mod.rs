//! Text of office files: ZIP archives of XML, by ECMA-376 (5th edition, December 2021). No link in them is followed.

mod archive;
mod docx;
mod xml;

use self::archive::Archive;
use crate::{FileError, FileText, FileType};

pub(crate) fn read(file_type: FileType, bytes: &[u8]) -> Result<FileText, FileError> {
    let mut archive = Archive::open(bytes)?;
    match file_type {
        FileType::Docx => docx::read(&mut archive),
        _ => Err(FileError::Unsupported),
    }
}
