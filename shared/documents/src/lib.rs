//! The tools that search a folder of documents: `grep_search`, `glob_search`, `read_file` and `list_directory`.
//!
//! [`DocumentRoot`] is the folder. No path leaves it, and it is only read. Files that ripgrep skips, hidden and ignored
//! ones, do not exist for any tool or route. All work runs on blocking threads and ends when its call is dropped.

mod call;
mod directory;
mod document_path;
mod encoding;
mod error;
mod excerpt;
mod glob_search;
mod grep_search;
mod ignore_rules;
mod interrupt;
mod json_budget;
mod line_range;
mod line_reader;
mod list_directory;
mod pattern_fault;
mod read_file;
mod root;
mod walk;

use std::sync::Arc;

use domain::Language;
use prompts::DocumentTexts;
use tools::Tool;

pub use error::DocumentError;
pub use glob_search::GlobSearch;
pub use grep_search::GrepSearch;
pub use line_range::{LineRange, read_lines};
pub use list_directory::ListDirectory;
pub use pattern_fault::PatternFault;
pub use read_file::ReadFile;
pub use root::{DocumentRoot, HiddenFiles};

/// The tools over a root, in the order in which models are shown them.
pub fn tools(root: &DocumentRoot) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(GrepSearch::new(root.clone())),
        Arc::new(GlobSearch::new(root.clone())),
        Arc::new(ReadFile::new(root.clone())),
        Arc::new(ListDirectory::new(root.clone())),
    ]
}

/// The system prompt of an agent with these tools.
pub fn system_prompt(language: Language) -> &'static str {
    DocumentTexts::of(language).system
}
