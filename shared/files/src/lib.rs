//! Files of people: what they are, pictures without metadata, and the text of documents.
//!
//! [`FileType::recognise`] finds the type by the content, [`clean_picture`] checks a picture, and [`read_text`] reads a
//! document: formats that can harm their reader in a process of its own. Articles, documents and attachments use this crate
//! alone for it. Its Cargo features choose the formats.

mod document;
#[cfg(feature = "encodings")]
mod encoding_guess;
mod error;
mod extraction;
mod file_text;
mod file_type;
#[cfg(test)]
mod fuzz;
#[cfg(feature = "office")]
mod office;
#[cfg(feature = "pdf")]
mod pdf;
mod pictures;
mod reader;
mod recognition;
mod text;

pub use document::{Document, ExtractError, Format, Section, extract, single_line};
#[cfg(feature = "encodings")]
pub use encoding_guess::guess as guess_encoding;
pub use error::FileError;
pub use file_text::{FileText, decode_text};
pub use file_type::FileType;
pub use pictures::{Picture, clean_picture};
pub use reader::{Reader, read_text, run_reader};
