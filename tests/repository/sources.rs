//! The text files of the repository, found by walking the tree.

use std::path::Path;

use crate::repository_root;

/// Folders whose content is built or downloaded. Folders with a leading dot are skipped as well.
const SKIPPED: [&str; 2] = ["target", "node_modules"];

/// A file of the repository.
pub(crate) struct SourceFile {
    /// Relative to the repository, with `/` between its parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The files below a folder whose names end with one of these endings, sorted by path.
pub(crate) fn files_below(folder: &str, endings: &[&str]) -> Vec<SourceFile> {
    let mut files = Vec::new();
    walk(&repository_root(), folder, endings, &mut files);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

fn walk(root: &Path, folder: &str, endings: &[&str], files: &mut Vec<SourceFile>) {
    for entry in std::fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
            walk(root, &path, endings, files);
        } else if kind.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
            files.push(SourceFile { text: std::fs::read_to_string(root.join(&path)).unwrap(), path });
        }
    }
}
