use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use futures_util::stream::iter;
use platform::aws::Service;
use platform::transport::Client;
use tempfile::{NamedTempFile, TempDir};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use work::lock;

use super::BucketAddress;
use super::client::BucketClient;
use super::fault::SyncFault;
use super::storage::{Document, Storage, documents};
use crate::tree::MAX_DEPTH;
use crate::{DocumentError, DocumentRoot, HiddenFiles};

/// Objects that are read at the same time.
const CONCURRENT_DOWNLOADS: usize = 16;

/// How much is copied, and how often the bucket is listed.
#[derive(Clone, Copy, Debug)]
pub struct MirrorLimits {
    /// Maximum number of objects below the prefix.
    pub objects: usize,
    /// Maximum size of all of them, in bytes.
    pub bytes: u64,
    /// How long a tree is served before the bucket is listed again.
    pub refresh_interval: Duration,
    /// Longest wait of a call for the first tree. Afterwards the call fails, and the next one continues the copying.
    pub first_wait: Duration,
    /// Longest wait of a call for a newer tree. Afterwards it uses the older one.
    pub refresh_wait: Duration,
}

impl Default for MirrorLimits {
    fn default() -> Self {
        Self {
            objects: 20_000,
            bytes: 256 * 1024 * 1024,
            refresh_interval: Duration::from_mins(1),
            first_wait: Duration::from_secs(8),
            refresh_wait: Duration::from_secs(5),
        }
    }
}

/// A local copy of the objects below a prefix.
///
/// Nothing happens before the first call. Then, and at the first call after each refresh interval, the bucket is listed,
/// and the objects with a new `ETag` are read. If that fails, calls continue with the older tree.
#[derive(Debug)]
pub struct BucketMirror {
    client: BucketClient,
    pub(crate) address: BucketAddress,
    hidden: HiddenFiles,
    limits: MirrorLimits,
    current: Mutex<Current>,
    /// Held by the one call that synchronises. What it has copied is kept when it is cancelled.
    storage: tokio::sync::Mutex<Option<Storage>>,
}

#[derive(Debug, Default)]
struct Current {
    root: Option<DocumentRoot>,
    /// What it was made of.
    documents: Vec<Document>,
    checked_at: Option<SystemTime>,
}

impl BucketMirror {
    /// Creates a mirror; `service` is that of the bucket.
    pub fn new(
        http: Client,
        service: Service,
        address: BucketAddress,
        hidden: HiddenFiles,
        limits: MirrorLimits,
    ) -> Self {
        let client = BucketClient { http, service };
        Self { client, address, hidden, limits, current: Mutex::default(), storage: tokio::sync::Mutex::default() }
    }

    /// The newest complete tree.
    ///
    /// # Errors
    /// `Loading` while the first tree is not complete, `Unavailable` if it cannot be made; the log has the reason.
    pub(crate) async fn root(&self, now: SystemTime) -> Result<DocumentRoot, DocumentError> {
        let (older, is_fresh) = self.current(now);
        let wait = match &older {
            Some(root) if is_fresh => return Ok(root.clone()),
            Some(_) => self.limits.refresh_wait,
            None => self.limits.first_wait,
        };
        let outcome = timeout(wait, self.synchronise(now)).await;
        let (error, reason) = match outcome {
            Ok(Ok(())) => return self.current(now).0.ok_or(DocumentError::Unavailable),
            Ok(Err(fault)) => (DocumentError::Unavailable, fault.to_string()),
            Err(_) => (DocumentError::Loading, "it takes longer than a call may wait".to_owned()),
        };
        tracing::warn!(bucket = self.address.bucket(), reason, "the documents cannot be brought up to date");
        older.ok_or(error)
    }

    /// The tree that is served, and whether it is fresh.
    fn current(&self, now: SystemTime) -> (Option<DocumentRoot>, bool) {
        let current = lock(&self.current);
        let age = current.checked_at.and_then(|checked_at| now.duration_since(checked_at).ok());
        (current.root.clone(), age.is_some_and(|age| age < self.limits.refresh_interval))
    }

    /// Brings the served tree up to date. One call does; others serve the older tree or, without one, wait.
    async fn synchronise(&self, now: SystemTime) -> Result<(), SyncFault> {
        let mut storage = match (self.storage.try_lock(), self.current(now)) {
            (Ok(storage), _) => storage,
            (Err(_), (Some(_), _)) => return Ok(()),
            (Err(_), (None, _)) => self.storage.lock().await,
        };
        // Another call may have finished meanwhile.
        if matches!(self.current(now), (Some(_), true)) {
            return Ok(());
        }
        let outcome = self.update(&mut storage).await;
        // After a fault the older tree is served for an interval too: a broken bucket must not slow down each call.
        let mut current = lock(&self.current);
        current.checked_at = Some(now);
        if let Some((tree, documents)) = outcome? {
            current.documents = documents;
            let older = current.root.replace(DocumentRoot::of_temporary(tree, self.hidden));
            drop(current);
            drop(spawn_blocking(move || drop(older)));
        }
        Ok(())
    }

    /// Lists the bucket and makes a new tree, or none if the served one is up to date.
    async fn update(&self, storage: &mut Option<Storage>) -> Result<Option<(TempDir, Vec<Document>)>, SyncFault> {
        let (listed, too_deep) = self.list().await?;
        let is_served = |current: &Current| current.root.is_some() && current.documents == listed;
        if is_served(&lock(&self.current)) {
            return Ok(None);
        }
        if too_deep > 0 {
            let bucket = self.address.bucket();
            tracing::warn!(bucket, count = too_deep, "objects below more than {MAX_DEPTH} folders are left out");
        }
        let storage = match storage {
            Some(storage) => storage,
            None => storage.insert(Storage::create()?),
        };
        self.download(storage, &listed).await?;
        let tree = spawn_blocking(storage.build_tree(&listed)).await.map_err(std::io::Error::from)??;
        storage.keep_only(&listed);
        Ok(Some((tree, listed)))
    }

    /// Lists all documents, within the limits, and how many objects are too deep to be one.
    async fn list(&self) -> Result<(Vec<Document>, usize), SyncFault> {
        let (mut objects, mut from) = (Vec::new(), None);
        loop {
            let page = self.client.list(&self.address.prefix, from.as_deref()).await?;
            let next = page.next().map(str::to_owned);
            objects.extend(page.objects);
            if objects.len() > self.limits.objects {
                return Err(SyncFault::TooMany("objects", self.limits.objects as u64));
            }
            match next {
                None => break,
                // It would make no progress.
                Some(_) if next == from => return Err(SyncFault::Answer),
                Some(_) => from = next,
            }
        }
        let bytes = objects.iter().fold(0_u64, |sum, object| sum.saturating_add(object.bytes));
        if bytes > self.limits.bytes {
            return Err(SyncFault::TooMany("bytes", self.limits.bytes));
        }
        let prefix = self.address.prefix.clone();
        spawn_blocking(move || documents(&prefix, objects)).await.map_err(std::io::Error::from)?
    }

    /// Copies the objects that are not there yet; each complete copy is kept, also if another one fails.
    async fn download(&self, storage: &mut Storage, listed: &[Document]) -> Result<(), SyncFault> {
        let folder = storage.folder().to_owned();
        let downloads = storage.missing(listed).into_iter().map(|object| {
            let folder = &folder;
            async move {
                // A copy that is not complete is deleted, also when this call is cancelled.
                let file = NamedTempFile::new_in(folder)?.into_temp_path();
                self.client.download(&object, &file).await?;
                Ok::<_, SyncFault>((object, file))
            }
        });
        let mut downloads = iter(downloads).buffer_unordered(CONCURRENT_DOWNLOADS);
        while let Some(copy) = downloads.next().await {
            let (object, file) = copy?;
            storage.add(object, file);
        }
        Ok(())
    }
}
