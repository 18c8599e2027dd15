//! The content of files: in a folder, or in a bucket of S3.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use domain::{ErrorCode, Owner, TurnError, new_id};

use crate::blob_key::{BlobKey, owner_folder};
use crate::blocking;
use crate::bucket::Bucket;

/// The folder of what no message uses yet, and that of everything else.
const UNUSED: &str = "unused";
const KEPT: &str = "kept";

/// Where the content of files is stored.
#[derive(Clone, Debug)]
pub enum Blobs {
    /// A folder of this machine.
    Folder(Arc<Path>),
    /// A bucket.
    Bucket(Arc<Bucket>),
}

impl Blobs {
    /// Stores a content, which is deleted after a day unless it is [kept](Self::keep).
    pub(crate) async fn put(&self, key: BlobKey, bytes: Vec<u8>) -> Result<(), TurnError> {
        match self {
            Self::Folder(root) => {
                let root = Arc::clone(root);
                file_work(move || {
                    sweep(&root.join(UNUSED))?;
                    // A slower reader of the same upload comes late: a message may use the file.
                    if root.join(KEPT).join(key.path()).exists() {
                        return Ok(());
                    }
                    write(&root.join(UNUSED).join(key.path()), &bytes)
                })
                .await
            }
            Self::Bucket(bucket) => bucket.put(&key, bytes).await,
        }
    }

    /// Keeps a content until it is deleted.
    pub(crate) async fn keep(&self, key: BlobKey) -> Result<(), TurnError> {
        match self {
            Self::Folder(root) => {
                let root = Arc::clone(root);
                file_work(move || {
                    let (from, to) = (root.join(UNUSED).join(key.path()), root.join(KEPT).join(key.path()));
                    if to.exists() {
                        return Ok(());
                    }
                    create_folder(&to)?;
                    std::fs::rename(from, to)
                })
                .await
            }
            Self::Bucket(bucket) => bucket.keep(&key).await,
        }
    }

    /// Reads a content; `None` if it is gone.
    pub(crate) async fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, TurnError> {
        match self {
            Self::Folder(root) => {
                let root = Arc::clone(root);
                file_work(move || {
                    let read = |folder: &str| std::fs::read(root.join(folder).join(key.path()));
                    match read(KEPT).or_else(|_| read(UNUSED)) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                        read => read.map(Some),
                    }
                })
                .await
            }
            Self::Bucket(bucket) => bucket.get(&key).await,
        }
    }

    /// Deletes a content, if it is there.
    pub(crate) async fn delete(&self, key: BlobKey) -> Result<(), TurnError> {
        match self {
            Self::Folder(root) => {
                let root = Arc::clone(root);
                file_work(move || {
                    for folder in [KEPT, UNUSED] {
                        ignore_missing(std::fs::remove_file(root.join(folder).join(key.path())))?;
                    }
                    Ok(())
                })
                .await
            }
            Self::Bucket(bucket) => bucket.delete(&key).await,
        }
    }

    /// Deletes everything of an owner that no record names: what an interrupted deletion has left.
    pub(crate) async fn delete_rest(&self, owner: &Owner) -> Result<(), TurnError> {
        let Self::Folder(root) = self else { return Ok(()) };
        let (root, owner) = (Arc::clone(root), owner_folder(owner));
        file_work(move || {
            for folder in [KEPT, UNUSED] {
                ignore_missing(std::fs::remove_dir_all(root.join(folder).join(&owner)))?;
            }
            Ok(())
        })
        .await
    }
}

/// Writes a file so that nobody reads a part of it.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create_folder(path)?;
    let part = path.with_extension(format!("{}.part", new_id()));
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?.write_all(bytes)?;
    std::fs::rename(part, path)
}

/// Creates the folder of a file, which only the user of the process may enter.
fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path.parent().unwrap_or(path))
}

/// Deletes what was not kept within a day, of all owners.
fn sweep(unused: &Path) -> io::Result<()> {
    // Later than the record of a file ends.
    let age = store::UNUSED_TTL + Duration::from_hours(1);
    let since = SystemTime::now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
    let owners = match std::fs::read_dir(unused) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        owners => owners?,
    };
    for file in owners.flatten().flat_map(|owner| std::fs::read_dir(owner.path()).into_iter().flatten()).flatten() {
        if file.metadata().and_then(|data| data.modified()).is_ok_and(|at| at < since) {
            ignore_missing(std::fs::remove_file(file.path()))?;
        }
    }
    Ok(())
}

fn ignore_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

async fn file_work<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, TurnError> {
    blocking(work).await?.map_err(|error| match error.kind() {
        io::ErrorKind::StorageFull => ErrorCode::StorageFull.into(),
        _ => TurnError::caused_by(ErrorCode::Internal, error),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;

    fn folder() -> (tempfile::TempDir, Blobs) {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::Folder(folder.path().into());
        (folder, blobs)
    }

    #[tokio::test]
    async fn content_is_kept_and_deleted() {
        let (folder, blobs) = folder();
        let key = || BlobKey::of_file(&Owner::new("../ada"), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
        assert_eq!(blobs.get(key()).await.unwrap(), None);
        blobs.put(key(), b"a".to_vec()).await.unwrap();
        assert_eq!(blobs.get(key()).await.unwrap().as_deref(), Some(&b"a"[..]));
        for _ in 0..2 {
            blobs.keep(key()).await.unwrap();
            assert_eq!(blobs.get(key()).await.unwrap().as_deref(), Some(&b"a"[..]));
        }
        blobs.delete(key()).await.unwrap();
        assert_eq!(blobs.get(key()).await.unwrap(), None);
        blobs.delete_rest(&Owner::new("../ada")).await.unwrap();
        assert_eq!(std::fs::read_dir(folder.path().join(KEPT)).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn unused_content_is_deleted_after_a_day() {
        let (folder, blobs) = folder();
        let key = |id: &str| BlobKey::of_file(&Owner::new("ada"), id);
        for id in ["old", "kept", "new"] {
            blobs.put(key(id), b"a".to_vec()).await.unwrap();
        }
        blobs.keep(key("kept")).await.unwrap();
        let mode = |path: &str| std::fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(UNUSED), mode(&format!("{UNUSED}/{}", key("old").path()))), (0o700, 0o600));
        let age = |path: PathBuf| {
            let long_ago = SystemTime::now() - Duration::from_hours(30);
            std::fs::File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
        };
        age(folder.path().join(UNUSED).join(key("old").path()));
        age(folder.path().join(KEPT).join(key("kept").path()));
        blobs.put(key("other"), b"a".to_vec()).await.unwrap();
        let mut found = Vec::new();
        for id in ["old", "kept", "new", "other"] {
            found.extend(blobs.get(key(id)).await.unwrap().map(|_| id));
        }
        assert_eq!(found, ["kept", "new", "other"]);
    }
}
