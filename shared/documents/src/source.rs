use std::sync::Arc;
use std::time::SystemTime;

use domain::Membership;

use crate::document_groups::{DocumentAccess, DocumentGroups};
use crate::{BucketMirror, DocumentError, DocumentRoot};

/// Where the documents come from, and for whom they are; clones share it.
#[derive(Clone, Debug)]
pub struct DocumentSource {
    backend: Backend,
    groups: Arc<DocumentGroups>,
}

#[derive(Clone, Debug)]
enum Backend {
    Folder(DocumentRoot),
    /// The copy of a prefix in S3.
    Bucket(Arc<BucketMirror>),
}

impl DocumentSource {
    /// The same documents, for these groups.
    #[must_use]
    pub fn with_groups(self, groups: DocumentGroups) -> Self {
        Self { groups: Arc::new(groups), ..self }
    }

    /// The name of the folder, without the folders that it is in: the end of its path or prefix, or the bucket.
    pub(crate) fn name(&self) -> &str {
        match &self.backend {
            Backend::Folder(root) => root.name(),
            Backend::Bucket(mirror) => mirror.address.name(),
        }
    }

    /// The root for one call. It stays as it is while the call holds it, also if the source changes.
    ///
    /// # Errors
    /// `Loading` and `Unavailable` for a bucket without a complete copy.
    pub(crate) async fn root(&self) -> Result<DocumentRoot, DocumentError> {
        match &self.backend {
            Backend::Folder(root) => Ok(root.clone()),
            Backend::Bucket(mirror) => mirror.root(SystemTime::now()).await,
        }
    }

    pub(crate) fn access_of(&self, caller: &Membership) -> DocumentAccess {
        self.groups.access_of(caller)
    }
}

impl From<DocumentRoot> for DocumentSource {
    fn from(root: DocumentRoot) -> Self {
        Self { backend: Backend::Folder(root), groups: Arc::default() }
    }
}

impl From<BucketMirror> for DocumentSource {
    fn from(mirror: BucketMirror) -> Self {
        Self { backend: Backend::Bucket(Arc::new(mirror)), groups: Arc::default() }
    }
}
