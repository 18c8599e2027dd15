use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::DocumentError;
use crate::directory::{Directory, Entry, Kind};
use crate::document_path::DocumentPath;
use crate::ignore_rules::IgnoreRules;

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

/// A folder of documents that is only read and cannot be left; clones share it.
///
/// **Invariant:** every file is opened name by name from the root's descriptor, without following links, and is a regular
/// file.
#[derive(Clone, Debug)]
pub struct DocumentRoot {
    path: RootPath,
    hidden: HiddenFiles,
}

/// Where the folder is.
#[derive(Clone, Debug)]
enum RootPath {
    Folder(Arc<PathBuf>),
    /// It is deleted with its last user.
    Temporary(Arc<TempDir>),
}

/// An open folder below the root, with the rules for its entries.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) path: DocumentPath,
    pub(crate) directory: Directory,
    pub(crate) rules: IgnoreRules,
}

/// What a path names.
#[derive(Debug)]
pub(crate) enum Target {
    File(File),
    Folder(Folder),
}

impl DocumentRoot {
    /// Creates the root of a folder that exists. Each call opens it again, so that it may be replaced as a whole.
    ///
    /// # Errors
    /// The error of the operating system, also for a path that is no folder.
    pub fn open(path: &Path, hidden: HiddenFiles) -> io::Result<Self> {
        Directory::open(path)?;
        Ok(Self { path: RootPath::Folder(Arc::new(std::path::absolute(path)?)), hidden })
    }

    /// Creates the root of a temporary folder, which its last clone deletes.
    pub(crate) fn of_temporary(folder: TempDir, hidden: HiddenFiles) -> Self {
        Self { path: RootPath::Temporary(Arc::new(folder)), hidden }
    }

    /// The folder's own name; [`ROOT_NAME`] for one without a name, such as `/`.
    pub(crate) fn name(&self) -> &str {
        self.path.as_path().file_name().and_then(OsStr::to_str).unwrap_or(ROOT_NAME)
    }

    /// Opens what a path names.
    ///
    /// # Errors
    /// `NotFound` for everything that tools skip: hidden, ignored, or not a regular file or folder of this root.
    pub(crate) fn resolve(&self, path: &DocumentPath) -> Result<Target, DocumentError> {
        let mut folder = self.root_folder()?;
        let mut names = path.names().peekable();
        while let Some(name) = names.next() {
            match folder.kind(name)? {
                Kind::Folder => folder = folder.into_child(name)?,
                Kind::File(_) if names.peek().is_none() => return open_file(&folder.directory, name).map(Target::File),
                Kind::File(_) => return Err(DocumentError::NotFound),
            }
        }
        Ok(Target::Folder(folder))
    }

    /// Opens the file of a path.
    pub(crate) fn file(&self, path: &DocumentPath) -> Result<File, DocumentError> {
        match self.resolve(path)? {
            Target::File(file) => Ok(file),
            Target::Folder(_) => Err(DocumentError::IsFolder),
        }
    }

    /// Opens the folder of a path.
    pub(crate) fn folder(&self, path: &DocumentPath) -> Result<Folder, DocumentError> {
        match self.resolve(path)? {
            Target::Folder(folder) => Ok(folder),
            Target::File(_) => Err(DocumentError::IsFile),
        }
    }

    /// Opens the root itself.
    pub(crate) fn root_folder(&self) -> Result<Folder, DocumentError> {
        let directory = Directory::open(self.path.as_path()).map_err(|_| DocumentError::Unreadable)?;
        let mut rules = IgnoreRules::new(self.hidden == HiddenFiles::Show);
        rules.push(&directory, "");
        Ok(Folder { path: DocumentPath::default(), directory, rules })
    }
}

impl RootPath {
    fn as_path(&self) -> &Path {
        match self {
            Self::Folder(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}

impl Folder {
    /// The kind of an entry that exists for tools.
    fn kind(&self, name: &str) -> Result<Kind, DocumentError> {
        let kind = self.directory.kind(name).ok().flatten().ok_or(DocumentError::NotFound)?;
        let is_visible = self.rules.is_visible(self.path.join(name).as_str(), kind == Kind::Folder);
        if is_visible { Ok(kind) } else { Err(DocumentError::NotFound) }
    }

    /// The entries that exist for tools, ordered by name.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, DocumentError> {
        let entries = self.directory.entries().map_err(|_| DocumentError::Unreadable)?.into_iter();
        let is_visible =
            |entry: &Entry| self.rules.is_visible(self.path.join(&entry.name).as_str(), entry.kind == Kind::Folder);
        Ok(entries.filter(is_visible).collect())
    }

    /// Opens a folder in this one and adds its rules.
    pub(crate) fn into_child(mut self, name: &str) -> Result<Self, DocumentError> {
        let directory = self.directory.folder(name).map_err(|_| DocumentError::NotFound)?;
        let path = self.path.join(name);
        self.rules.push(&directory, path.as_str());
        Ok(Self { path, directory, rules: self.rules })
    }
}

/// Opens a file in a folder.
pub(crate) fn open_file(directory: &Directory, name: &str) -> Result<File, DocumentError> {
    directory.file(name).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => DocumentError::Unreadable,
        _ => DocumentError::NotFound,
    })
}
