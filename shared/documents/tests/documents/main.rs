//! The document tools over real folders.
#![expect(clippy::unwrap_used, reason = "what a test expects and does not find ends the test")]

mod bucket;
mod declarations;
mod encodings;
mod escapes;
mod glob_search;
mod grep_search;
mod list_directory;
mod read_file;
mod reference;
mod support;
mod visibility;
