//! The files and folders of a root that exist for tools.

mod open;
#[cfg(test)]
mod tests;
mod walk;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::IncrementalIgnore;
use tempfile::TempDir;

use crate::DocumentError;
use crate::document_groups::DocumentAccess;
use crate::document_path::{DocumentPath, is_plain_name};
use crate::file_info::FileInfo;

pub(crate) use self::walk::{FoundFiles, MAX_DEPTH, max_threads};

/// Files with patterns of what to ignore, the one that decides first.
const IGNORE_FILES: [&str; 3] = [".rgignore", ".ignore", ".gitignore"];

const MAX_IGNORE_BYTES: u64 = 1024 * 1024;

/// The folder of compiled files that a listing skips in any case.
const CACHE_FOLDER: &str = "__pycache__";

/// The name of a root without a name of its own.
pub(crate) const ROOT_NAME: &str = "root";

/// Whether hidden and ignored files exist for the tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HiddenFiles {
    /// They do not, as in ripgrep.
    #[default]
    Skip,
    /// They do.
    Show,
}

/// The kind of an entry. Links, pipes, sockets and devices are none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File(FileInfo),
    Folder,
}

/// A root as one call finds it.
///
/// **Invariant:** nothing outside of the root exists: no link is followed, and every file is opened from the root's
/// descriptor.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Without links.
    path: PathBuf,
    directory: File,
    rules: EntryRules,
    /// The patterns of ignore files.
    patterns: IncrementalIgnore,
    /// What exists for the caller.
    access: DocumentAccess,
}

/// What exists besides the patterns of ignore files.
#[derive(Clone, Copy, Debug)]
struct EntryRules {
    hidden: HiddenFiles,
    /// The root's file system.
    device: u64,
}

impl Tree {
    /// Opens a root; links to it are followed.
    ///
    /// # Errors
    /// The error of the operating system, also for a path that is no folder; `InvalidData` for a root whose ignore files
    /// cannot be read.
    pub(crate) fn open(path: &Path, hidden: HiddenFiles) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        let directory = open::root(&path)?;
        let rules = EntryRules { hidden, device: directory.metadata()?.dev() };
        let patterns = walk::builder(&path, hidden).build_matchers().pop();
        let patterns = patterns.filter(|_| rules.can_apply_patterns(&path)).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { path, directory, rules, patterns, access: DocumentAccess::default() })
    }

    /// The kind of what a path names.
    ///
    /// # Errors
    /// `NotFound` for everything that tools skip: hidden, ignored, for other groups, or not a regular file or folder of
    /// this root.
    pub(crate) fn kind(&mut self, path: &DocumentPath) -> Result<Kind, DocumentError> {
        let (mut kind, mut parent) = (Kind::Folder, DocumentPath::default());
        for name in path.names() {
            parent = parent.join(name);
            kind = self.entry_kind(&parent).ok_or(DocumentError::NotFound)?;
        }
        Ok(kind)
    }

    pub(crate) fn file(&mut self, path: &DocumentPath) -> Result<File, DocumentError> {
        match self.kind(path)? {
            Kind::File(_) => self.open_found(path),
            Kind::Folder => Err(DocumentError::IsFolder),
        }
    }

    /// Opens a file that was found in this tree. A folder that has become a link meanwhile leads nowhere.
    pub(crate) fn open_found(&self, path: &DocumentPath) -> Result<File, DocumentError> {
        open::file(&self.directory, path.as_str()).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => DocumentError::Unreadable,
            _ => DocumentError::NotFound,
        })
    }

    /// The entries of a folder that was found in this tree, ordered by name; none for one that cannot be read.
    pub(crate) fn entries(&mut self, folder: &DocumentPath) -> impl Iterator<Item = (DocumentPath, Kind)> {
        let entries = fs::read_dir(self.absolute(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        let paths = names.into_iter().map(|name| folder.join(&name));
        paths.filter_map(|path| self.entry_kind(&path).map(|kind| (path, kind)))
    }

    /// The kind of an entry of a folder that exists.
    fn entry_kind(&mut self, path: &DocumentPath) -> Option<Kind> {
        let kind = self.rules.kind(&self.absolute(path))?;
        let is_allowed = match kind {
            Kind::File(_) => self.access.has_file(path.as_str()),
            Kind::Folder => self.access.has_folder(path.as_str()),
        };
        let is_ignored = self.patterns.matched(path.as_str(), kind == Kind::Folder).is_ignore();
        (is_allowed && !is_ignored).then_some(kind)
    }

    fn absolute(&self, path: &DocumentPath) -> PathBuf {
        self.path.join(path.as_str())
    }
}

impl EntryRules {
    /// The kind of an entry, whose patterns are not considered.
    fn kind(self, path: &Path) -> Option<Kind> {
        let name = path.file_name()?.to_str().filter(|name| is_plain_name(name))?;
        let metadata = fs::symlink_metadata(path).ok()?;
        if metadata.is_file() {
            return Some(Kind::File(FileInfo::from(&metadata)));
        }
        let is_cache = self.hidden == HiddenFiles::Skip && name == CACHE_FOLDER;
        let is_folder = metadata.is_dir() && metadata.dev() == self.device && !is_cache;
        (is_folder && self.can_apply_patterns(path)).then_some(Kind::Folder)
    }

    /// Whether the ignore files of a folder can be read: a pipe would block, a link may lead out, and a long file costs
    /// memory. A folder with such a file does not exist, because what it hides is unknown.
    fn can_apply_patterns(self, folder: &Path) -> bool {
        self.hidden == HiddenFiles::Show
            || IGNORE_FILES.iter().all(|name| match fs::symlink_metadata(folder.join(name)) {
                Ok(metadata) => metadata.is_file() && metadata.len() <= MAX_IGNORE_BYTES,
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            })
    }
}

/// A folder of documents that is only read and cannot be left.
#[derive(Clone, Debug)]
pub struct DocumentRoot {
    path: PathBuf,
    hidden: HiddenFiles,
    /// The folder, if it is deleted with its last clone.
    _temporary: Option<Arc<TempDir>>,
}

impl DocumentRoot {
    /// Creates the root of a folder that exists. Each call opens it again, so that it may be replaced as a whole.
    ///
    /// # Errors
    /// The error of the operating system, also for a path that is no folder; `InvalidData` for a folder with an ignore
    /// file that is a link, a pipe or longer than 1 MiB.
    pub fn open(path: &Path, hidden: HiddenFiles) -> io::Result<Self> {
        Tree::open(path, hidden)?;
        Ok(Self { path: std::path::absolute(path)?, hidden, _temporary: None })
    }

    /// Creates the root of a temporary folder, which its last clone deletes.
    pub(crate) fn of_temporary(folder: TempDir, hidden: HiddenFiles) -> Self {
        Self { path: folder.path().to_owned(), hidden, _temporary: Some(Arc::new(folder)) }
    }

    /// The folder's own name; [`ROOT_NAME`] for one without a name, such as `/`.
    pub(crate) fn name(&self) -> &str {
        self.path.file_name().and_then(OsStr::to_str).unwrap_or(ROOT_NAME)
    }

    /// Opens the root for one call, with what exists for its caller.
    pub(crate) fn tree(&self, access: DocumentAccess) -> Result<Tree, DocumentError> {
        Ok(Tree { access, ..Tree::open(&self.path, self.hidden)? })
    }
}
