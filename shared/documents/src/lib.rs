//! The tools that search a folder of documents: `grep_search`, `glob_search`, `read_file` and `list_directory`.
//!
//! [`DocumentRoot`] is the folder, [`DocumentSource`] a folder or a prefix in S3. No path leaves it, and it is only read. Files that ripgrep skips, hidden and ignored
//! ones, do not exist for any tool or route. All work runs on blocking threads and ends when its call is dropped.

mod bucket;
mod call;
mod directory;
mod document_path;
mod encoding;
mod encoding_guess;
mod error;
mod excerpt;
mod file_info;
#[cfg(test)]
mod fuzz;
mod glob_search;
mod grep_search;
mod ignore_rules;
mod interrupt;
mod json_budget;
mod line_range;
mod line_reader;
mod list_directory;
mod parallel_walk;
mod pattern_fault;
mod read_file;
mod root;
mod source;
mod walk;

use std::sync::Arc;

use domain::Language;
use prompts::DocumentTexts;
use tools::Tool;

pub use bucket::{BucketAddress, BucketMirror, MirrorLimits};
pub use error::DocumentError;
pub use glob_search::GlobSearch;
pub use grep_search::GrepSearch;
pub use line_range::{LineRange, read_lines};
pub use list_directory::ListDirectory;
pub use pattern_fault::PatternFault;
pub use read_file::ReadFile;
pub use root::{DocumentRoot, HiddenFiles};
pub use source::DocumentSource;

/// The tools over a source, in the order in which models are shown them.
pub fn tools(source: &DocumentSource) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(GrepSearch::new(source.clone())),
        Arc::new(GlobSearch::new(source.clone())),
        Arc::new(ReadFile::new(source.clone())),
        Arc::new(ListDirectory::new(source.clone())),
    ]
}

/// The system prompt of an agent with these tools.
pub fn system_prompt(language: Language) -> &'static str {
    DocumentTexts::of(language).system
}
