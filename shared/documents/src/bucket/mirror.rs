use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use futures_util::stream::iter;
use platform::aws::Service;
use platform::transport::Client;
use tempfile::{NamedTempFile, TempDir};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::BucketAddress;
use super::client::BucketClient;
use super::fault::SyncFault;
use super::listing::ListedObject;
use super::storage::{Storage, documents};
use crate::document_path::DocumentPath;
use crate::parallel_walk::MAX_DEPTH;
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
    address: BucketAddress,
    hidden: HiddenFiles,
    limits: MirrorLimits,
    current: Mutex<Current>,
    /// How many objects were too deep when the log last reported it.
    too_deep: AtomicUsize,
    /// Held by the one call that synchronises. What it has copied is kept when it is cancelled.
    copies: tokio::sync::Mutex<Option<Copies>>,
}

/// The tree that is served.
#[derive(Debug, Default)]
struct Current {
    root: Option<DocumentRoot>,
    checked_at: Option<SystemTime>,
}

/// The copies on the disk, and what the served tree was made of.
#[derive(Debug)]
struct Copies {
    storage: Storage,
    served: Vec<(DocumentPath, ListedObject)>,
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
        let client = BucketClient::new(http, service);
        Self {
            client,
            address,
            hidden,
            limits,
            current: Mutex::default(),
            too_deep: AtomicUsize::new(0),
            copies: tokio::sync::Mutex::default(),
        }
    }

    /// Where the objects are.
    pub(crate) fn address(&self) -> &BucketAddress {
        &self.address
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
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let age = current.checked_at.and_then(|checked_at| now.duration_since(checked_at).ok());
        (current.root.clone(), age.is_some_and(|age| age < self.limits.refresh_interval))
    }

    /// Brings the served tree up to date. One call does; others serve the older tree or, without one, wait.
    async fn synchronise(&self, now: SystemTime) -> Result<(), SyncFault> {
        let mut copies = match (self.copies.try_lock(), self.current(now)) {
            (Ok(copies), _) => copies,
            (Err(_), (Some(_), _)) => return Ok(()),
            (Err(_), (None, _)) => self.copies.lock().await,
        };
        // Another call may have finished meanwhile.
        if matches!(self.current(now), (Some(_), true)) {
            return Ok(());
        }
        let outcome = self.update(&mut copies).await;
        // After a fault the older tree is served for an interval too: a broken bucket must not slow down each call.
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.checked_at = Some(now);
        let Some(tree) = outcome? else { return Ok(()) };
        let older = current.root.replace(DocumentRoot::of_temporary(tree, self.hidden));
        drop(current);
        drop(spawn_blocking(move || drop(older)));
        Ok(())
    }

    /// Lists the bucket and makes a new tree, or none if the served one is up to date.
    async fn update(&self, copies: &mut Option<Copies>) -> Result<Option<TempDir>, SyncFault> {
        let listed = self.list().await?;
        let is_first = copies.as_ref().is_none_or(|_| self.current(SystemTime::now()).0.is_none());
        let copies = match copies {
            Some(copies) => copies,
            None => copies.insert(Copies { storage: Storage::create()?, served: Vec::new() }),
        };
        if !is_first && copies.served == listed {
            return Ok(None);
        }
        self.download(&mut copies.storage, &listed).await?;
        let plan = copies.storage.plan(&listed)?;
        let tree = spawn_blocking(move || plan.build()).await.map_err(std::io::Error::from)??;
        copies.storage.keep_only(&listed);
        copies.served = listed;
        Ok(Some(tree))
    }

    /// Lists all documents, within the limits.
    async fn list(&self) -> Result<Vec<(DocumentPath, ListedObject)>, SyncFault> {
        let (mut objects, mut from) = (Vec::new(), None);
        loop {
            let page = self.client.list(&self.address.prefix, from.as_deref()).await?;
            objects.extend(page.objects);
            if objects.len() > self.limits.objects {
                return Err(SyncFault::TooManyObjects(self.limits.objects));
            }
            match page.next {
                // A page without an object would make no progress.
                Some(next) if from.as_ref() != Some(&next) => from = Some(next),
                Some(_) => return Err(SyncFault::Answer),
                None => break,
            }
        }
        let bytes = objects.iter().fold(0_u64, |sum, object| sum.saturating_add(object.bytes));
        if bytes > self.limits.bytes {
            return Err(SyncFault::TooManyBytes(self.limits.bytes));
        }
        let prefix = self.address.prefix.clone();
        let listed = spawn_blocking(move || documents(&prefix, objects)).await.map_err(std::io::Error::from)??;
        self.report_too_deep(listed.too_deep);
        Ok(listed.documents)
    }

    /// Logs how many objects are left out because of their depth, once for each number.
    fn report_too_deep(&self, count: usize) {
        if self.too_deep.swap(count, Ordering::Relaxed) != count && count > 0 {
            let bucket = self.address.bucket();
            tracing::warn!(bucket, count, "objects below more than {MAX_DEPTH} folders are left out");
        }
    }

    /// Copies the objects that are not there yet; each complete copy is kept, also if another one fails.
    async fn download(&self, storage: &mut Storage, listed: &[(DocumentPath, ListedObject)]) -> Result<(), SyncFault> {
        let folder = storage.folder().to_owned();
        let missing = listed.iter().map(|(_, object)| object).filter(|object| !storage.has(object)).cloned();
        let missing: Vec<ListedObject> = missing.collect();
        let downloads = missing.into_iter().map(|object| {
            let folder = &folder;
            async move {
                // A copy that is not complete is deleted, also when this call is cancelled.
                let file = NamedTempFile::new_in(folder)?.into_temp_path();
                self.client.download(&object, || File::create(&file)).await?;
                Ok::<_, SyncFault>((object, file))
            }
        });
        let mut downloads = iter(downloads).buffer_unordered(CONCURRENT_DOWNLOADS);
        while let Some(copy) = downloads.next().await {
            let (object, file) = copy?;
            storage.add(&object, file);
        }
        Ok(())
    }
}
