use std::io::Read;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::directory::Directory;

/// Files with patterns of what to ignore, the one that decides first. As in ripgrep, `.gitignore` needs no repository
/// to count, because a deployed folder has none.
const IGNORE_FILES: [&str; 3] = [".rgignore", ".ignore", ".gitignore"];

/// Longest ignore file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The folder of compiled files that a listing skips in any case.
const CACHE_FOLDER: &str = "__pycache__";

/// Decides which entries exist: the rules of the folders from the root to the current one.
///
/// A pattern of a deeper folder wins over one of a folder above it, and `.ignore` wins over `.gitignore`. What a pattern
/// includes with `!` exists even if its name begins with a dot.
#[derive(Clone, Debug)]
pub(crate) struct IgnoreRules {
    show_all: bool,
    /// The rules of each folder, with the length of its path and a slash.
    folders: Vec<Arc<FolderRules>>,
}

#[derive(Debug)]
struct FolderRules {
    path_bytes: usize,
    files: [Option<Gitignore>; IGNORE_FILES.len()],
}

impl IgnoreRules {
    /// The rules before any folder is read.
    pub(crate) fn new(show_all: bool) -> Self {
        Self { show_all, folders: Vec::new() }
    }

    /// Adds the rules of an open folder at `path`.
    pub(crate) fn push(&mut self, directory: &Directory, path: &str) {
        let path_bytes = if path.is_empty() { 0 } else { path.len() + 1 };
        let files =
            if self.show_all { Default::default() } else { IGNORE_FILES.map(|name| read_rules(directory, name)) };
        self.folders.push(Arc::new(FolderRules { path_bytes, files }));
    }

    /// Removes the rules that were added last.
    pub(crate) fn pop(&mut self) {
        self.folders.pop();
    }

    /// Whether the entry at `path`, in the folder whose rules were added last, exists for tools.
    pub(crate) fn is_visible(&self, path: &str, is_folder: bool) -> bool {
        if self.show_all {
            return true;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let verdicts = (0..IGNORE_FILES.len()).map(|file| self.verdict(file, path, is_folder));
        let verdict = verdicts.into_iter().flatten().next();
        verdict.unwrap_or(!name.starts_with('.')) && !(is_folder && name == CACHE_FOLDER)
    }

    /// Whether the ignore files of one name include the path; `None` if none of them names it.
    fn verdict(&self, file: usize, path: &str, is_folder: bool) -> Option<bool> {
        self.folders.iter().rev().find_map(|folder| {
            let rules = folder.files.get(file)?.as_ref()?;
            match rules.matched(path.get(folder.path_bytes..)?, is_folder) {
                Match::None => None,
                Match::Ignore(_) => Some(false),
                Match::Whitelist(_) => Some(true),
            }
        })
    }
}

/// Reads an ignore file; lines that are no patterns are skipped.
fn read_rules(directory: &Directory, name: &str) -> Option<Gitignore> {
    let file = directory.file(name).ok()?;
    let mut text = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut builder = GitignoreBuilder::new("");
    for line in text.trim_start_matches('\u{FEFF}').lines() {
        // A faulty pattern does not affect the others.
        let _faulty = builder.add_line(None, line);
    }
    builder.build().ok()
}
