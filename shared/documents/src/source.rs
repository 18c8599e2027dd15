use std::sync::Arc;
use std::time::SystemTime;

use crate::{BucketMirror, DocumentError, DocumentRoot};

/// Where the documents come from; clones share it.
#[derive(Clone, Debug)]
pub enum DocumentSource {
    /// A folder that exists.
    Folder(DocumentRoot),
    /// The copy of a prefix in S3.
    Bucket(Arc<BucketMirror>),
}

impl DocumentSource {
    /// The name of the folder, without the folders that it is in: the end of its path or prefix, or the bucket.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Folder(root) => root.name(),
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
