use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tempfile::TempDir;

use crate::tree::Tree;
use crate::{BucketMirror, DocumentError};

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

/// Where the documents come from; clones share it.
#[derive(Clone, Debug)]
pub enum DocumentSource {
    /// A folder that exists.
    Folder(DocumentRoot),
    /// The copy of a prefix in S3.
    Bucket(Arc<BucketMirror>),
}

/// A folder of documents that is only read and cannot be left.
#[derive(Clone, Debug)]
pub struct DocumentRoot {
    path: PathBuf,
    hidden: HiddenFiles,
    /// The folder, if it is deleted with its last clone.
    _temporary: Option<Arc<TempDir>>,
}

impl DocumentSource {
    /// The name of the folder, without the folders that it is in: the end of its path or prefix, or the bucket.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Folder(root) => root.path.file_name().and_then(OsStr::to_str).unwrap_or(ROOT_NAME),
            Self::Bucket(mirror) => mirror.address().name(),
        }
    }

    /// The root for one call. It stays as it is while the call holds it, also if the source changes.
    ///
    /// # Errors
    /// `Loading` and `Unavailable` for a bucket without a complete copy.
    pub(crate) async fn root(&self) -> Result<DocumentRoot, DocumentError> {
        match self {
            Self::Folder(root) => Ok(root.clone()),
            Self::Bucket(mirror) => mirror.root(SystemTime::now()).await,
        }
    }
}

impl From<DocumentRoot> for DocumentSource {
    fn from(root: DocumentRoot) -> Self {
        Self::Folder(root)
    }
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

    /// Opens the root for one call.
    pub(crate) fn tree(&self) -> Result<Tree, DocumentError> {
        Ok(Tree::open(&self.path, self.hidden)?)
    }
}
