//! The files below a folder, by ripgrep's own walker.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use ignore::{DirEntry, WalkBuilder, WalkState};
use work::lock;

use super::{HiddenFiles, IGNORE_FILES, Kind, Tree};
use crate::DocumentError;
use crate::document_path::DocumentPath;
use crate::file_info::FileInfo;
use crate::interrupt::Interrupt;

/// Deepest folder that is read, counted from the start of the walk.
pub(crate) const MAX_DEPTH: usize = 64;

/// Maximum number of files; later ones are left out.
const MAX_FILES: usize = 200_000;

/// Threads of one walk or scan at most.
const MAX_THREADS: usize = 4;

#[derive(Debug, Default)]
pub(crate) struct FoundFiles {
    /// Newest first, then by path.
    pub(crate) files: Vec<FoundFile>,
    /// Whether files may be missing: time or a limit ended the walk.
    pub(crate) incomplete: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundFile {
    pub(crate) path: DocumentPath,
    pub(crate) info: FileInfo,
}

/// The number of threads that may work at the same time.
pub(crate) fn max_threads() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS)
}

/// A walker over a root that no ignore file outside of it affects. `.gitignore` counts without a repository, because a
/// deployed folder has none.
pub(super) fn builder(root: &Path, hidden: HiddenFiles) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder.standard_filters(hidden == HiddenFiles::Skip).require_git(false).follow_links(false);
    builder.parents(false).git_global(false).git_exclude(false);
    if hidden == HiddenFiles::Skip {
        // The walker knows the others.
        builder.add_custom_ignore_filename(IGNORE_FILES[0]);
    }
    builder
}

impl Tree {
    /// Finds the files below a path, or the one file that it names.
    pub(crate) fn find_files(
        &mut self,
        start: &DocumentPath,
        interrupt: &Interrupt,
    ) -> Result<FoundFiles, DocumentError> {
        let mut found = match self.kind(start)? {
            Kind::File(info) => FoundFiles { files: vec![FoundFile { path: start.clone(), info }], incomplete: false },
            Kind::Folder => self.walk(start, interrupt, max_threads()),
        };
        found.files.sort_unstable_by(|one, other| {
            (other.info.modified, one.path.as_str()).cmp(&(one.info.modified, other.path.as_str()))
        });
        Ok(found)
    }

    /// Finds the files below a folder, in no order. Folders that cannot be read are skipped.
    pub(super) fn walk(&self, start: &DocumentPath, interrupt: &Interrupt, threads: usize) -> FoundFiles {
        let start_depth = start.names().count();
        let max_depth = start_depth + MAX_DEPTH + 1;
        let (files, incomplete) = (Mutex::new(Vec::new()), AtomicBool::new(false));
        let mut builder = builder(&self.path, self.rules.hidden);
        let (rules, stop, start) = (self.rules, interrupt.clone(), self.absolute(start));
        let (access, root) = (self.access.clone(), self.path.clone());
        // Before anything is counted: not even a limit may show what is for others.
        let is_allowed = move |entry: &DirEntry| {
            let path = || entry.path().strip_prefix(&root).ok().and_then(Path::to_str);
            let has = |path| if is_folder(entry) { access.has_folder(path) } else { access.has_file(path) };
            access.is_unlimited() || path().is_some_and(has)
        };
        builder.max_depth(Some(max_depth)).threads(threads).filter_entry(move |entry| {
            let is_below = entry.depth() > start_depth || start.starts_with(entry.path());
            is_below && !stop.is_due() && is_allowed(entry) && (!is_folder(entry) || rules.kind(entry.path()).is_some())
        });
        let visit = |entry: DirEntry| {
            let is_too_deep = is_folder(&entry) && entry.depth() == max_depth;
            let file = self.found_file(&entry);
            let mut files = lock(&files);
            let is_full = files.len() >= MAX_FILES;
            if is_full || is_too_deep {
                incomplete.store(true, Ordering::Relaxed);
            }
            files.extend(file.filter(|_| !is_full));
            if is_full || interrupt.is_due() { WalkState::Quit } else { WalkState::Continue }
        };
        let on_entry = |entry: Result<DirEntry, _>| entry.map_or(WalkState::Continue, visit);
        builder.build_parallel().run(|| Box::new(on_entry));
        let files = files.into_inner().unwrap_or_else(PoisonError::into_inner);
        FoundFiles { files, incomplete: incomplete.into_inner() || interrupt.is_due() }
    }

    fn found_file(&self, entry: &DirEntry) -> Option<FoundFile> {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            return None;
        }
        let Some(Kind::File(info)) = self.rules.kind(entry.path()) else { return None };
        let path = entry.path().strip_prefix(&self.path).ok()?.to_str()?;
        Some(FoundFile { path: DocumentPath::default().join(path), info })
    }
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}
