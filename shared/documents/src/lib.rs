//! The tools that search a folder of documents: `grep_search`, `glob_search`, `read_file` and `list_directory`.
//!
//! [`DocumentRoot`] is the folder, [`DocumentSource`] a folder or a prefix in S3. No path leaves it, and it is only read. Files that ripgrep skips, hidden and ignored
//! ones, do not exist for any tool or route. All work runs on blocking threads and ends when its call is dropped.

mod bucket;
mod document_groups;
mod document_path;
mod encoding;
mod error;
mod file_info;
#[cfg(test)]
mod fuzz;
mod glob_search;
mod grep_search;
mod interrupt;
mod line_range;
mod list_directory;
mod read_file;
mod source;
mod tool;
mod tree;

use std::sync::Arc;

use domain::Language;
use prompts::DocumentTexts;
use tools::Tool;

use self::glob_search::GlobSearch;
use self::grep_search::GrepSearch;
use self::list_directory::ListDirectory;
use self::read_file::ReadFile;
use self::tool::DocumentTool;
pub use bucket::{BucketAddress, BucketMirror, MirrorLimits};
pub use document_groups::DocumentGroups;
pub use error::{DocumentError, PatternFault};
pub use line_range::{LineRange, read_lines};
pub use source::DocumentSource;
pub use tree::{DocumentRoot, HiddenFiles};

/// The tools over a source, in the order in which models are shown them.
pub fn tools(source: &DocumentSource) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(DocumentTool::<GrepSearch>::new(source.clone())),
        Arc::new(DocumentTool::<GlobSearch>::new(source.clone())),
        Arc::new(DocumentTool::<ReadFile>::new(source.clone())),
        Arc::new(DocumentTool::<ListDirectory>::new(source.clone())),
    ]
}

/// The system prompt of an agent with these tools.
pub fn system_prompt(language: Language) -> &'static str {
    DocumentTexts::of(language).system
}
