use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::DocumentError;
use crate::tree::{HiddenFiles, Tree};

/// The name of a root without a name of its own.
pub(crate) const ROOT_NAME: &str = "root";

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

    /// Opens the root for one call.
    pub(crate) fn tree(&self) -> Result<Tree, DocumentError> {
        Ok(Tree::open(&self.path, self.hidden)?)
    }
}
