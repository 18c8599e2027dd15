use crate::document_path::DocumentPath;

/// The matches of a search.
#[derive(Debug, Default)]
pub(super) struct Matches {
    /// The files with matches, newest first.
    pub(super) files: Vec<FileMatches>,
    /// The number of matching lines.
    pub(super) count: usize,
    /// Whether time or a limit ended the scan.
    pub(super) incomplete: bool,
}

/// The matches of one file.
#[derive(Debug)]
pub(super) struct FileMatches {
    pub(super) path: DocumentPath,
    /// Lines such as `12:text`, or `11-text` for context; `--` separates parts of the file.
    pub(super) lines: Vec<String>,
    /// The number of matching lines.
    pub(super) count: usize,
    /// Whether some of them are not in `lines`.
    pub(super) is_cut: bool,
}
