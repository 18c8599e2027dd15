use std::fs::File;
use std::io::Write;
use std::time::{Duration, SystemTime};

use platform::aws::{Call, Method, Service};
use platform::transport::Client;
use tokio::time::{sleep, timeout};

use super::fault::SyncFault;
use super::listing::{ListedObject, Page, encode, error_code, read_page};

/// Longest wait for an answer and for each part of its body.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest page of a listing, in bytes: 1,000 keys of 1,024 bytes, encoded threefold, with their other fields.
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Pauses before a request is repeated.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(500)];

/// Requests to one bucket, signed.
#[derive(Debug)]
pub(super) struct BucketClient {
    http: Client,
    service: Service,
}

impl BucketClient {
    pub(super) fn new(http: Client, service: Service) -> Self {
        Self { http, service }
    }

    /// Lists up to 1,000 objects (`ListObjectsV2`), from a continuation token on.
    pub(super) async fn list(&self, prefix: &str, from: Option<&str>) -> Result<Page, SyncFault> {
        let prefix = encode(prefix, false);
        let from = from.map(|token| format!("&continuation-token={}", encode(token, false))).unwrap_or_default();
        let path = format!("/?list-type=2&encoding-type=url&prefix={prefix}{from}");
        let mut pauses = RETRY_PAUSES.into_iter();
        loop {
            match (self.list_once(&path).await, pauses.next()) {
                (Err(fault), Some(pause)) if fault.is_transient() => sleep(pause).await,
                (outcome, _) => return outcome,
            }
        }
    }

    async fn list_once(&self, path: &str) -> Result<Page, SyncFault> {
        let mut body = Vec::new();
        let mut collect = |chunk: &[u8]| {
            body.extend_from_slice(chunk);
            if body.len() > MAX_PAGE_BYTES { Err(SyncFault::Answer) } else { Ok(()) }
        };
        self.get(path, &[], &mut collect).await?;
        read_page(&body)
    }

    /// Writes an object to a new file (`GetObject`), exactly as it was listed.
    pub(super) async fn download(
        &self,
        object: &ListedObject,
        create: impl Fn() -> std::io::Result<File>,
    ) -> Result<(), SyncFault> {
        let mut pauses = RETRY_PAUSES.into_iter();
        loop {
            match (self.download_once(object, create()?).await, pauses.next()) {
                (Err(fault), Some(pause)) if fault.is_transient() => sleep(pause).await,
                (outcome, _) => return outcome,
            }
        }
    }

    async fn download_once(&self, object: &ListedObject, mut file: File) -> Result<(), SyncFault> {
        let path = format!("/{}", encode(&object.key, true));
        let mut bytes = 0;
        // A chunk goes to the page cache; no other thread is needed for that.
        let mut write = |chunk: &[u8]| {
            bytes += u64::try_from(chunk.len()).unwrap_or(u64::MAX);
            if bytes > object.bytes { Err(SyncFault::Changed) } else { Ok(file.write_all(chunk)?) }
        };
        match self.get(&path, &[("if-match", &object.etag)], &mut write).await {
            Err(SyncFault::Rejected { status: 404 | 412, .. }) => return Err(SyncFault::Changed),
            outcome => outcome?,
        }
        if bytes != object.bytes {
            return Err(SyncFault::Connection);
        }
        file.set_modified(object.modified)?;
        Ok(())
    }

    /// Sends a request and hands each part of a successful answer to `on_chunk`.
    async fn get(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        on_chunk: &mut (dyn FnMut(&[u8]) -> Result<(), SyncFault> + Send),
    ) -> Result<(), SyncFault> {
        let call = Call { method: Method::GET, path, headers, body: Vec::new() };
        let request = self.service.signed_request(&self.http, call, SystemTime::now());
        let request = request.map_err(|_| SyncFault::Connection)?;
        let mut response = in_time(request.send()).await?;
        let status = response.status().as_u16();
        if status != 200 {
            // The code is in the first bytes; a body that ends early has none.
            let body = in_time(response.chunk()).await.ok().flatten().unwrap_or_default();
            return Err(SyncFault::Rejected { status, code: error_code(&body) });
        }
        while let Some(chunk) = in_time(response.chunk()).await? {
            on_chunk(&chunk)?;
        }
        Ok(())
    }
}

/// Awaits a step of an exchange for at most [`IDLE_TIMEOUT`].
async fn in_time<T, E>(step: impl Future<Output = Result<T, E>>) -> Result<T, SyncFault> {
    timeout(IDLE_TIMEOUT, step).await.map_err(|_| SyncFault::Connection)?.map_err(|_| SyncFault::Connection)
}
