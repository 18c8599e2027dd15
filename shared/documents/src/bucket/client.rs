use std::fs::File;
use std::io::Write;
use std::path::Path;
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
    pub(super) http: Client,
    pub(super) service: Service,
}

impl BucketClient {
    /// Lists up to 1,000 objects (`ListObjectsV2`), from a continuation token on.
    pub(super) async fn list(&self, prefix: &str, from: Option<&str>) -> Result<Page, SyncFault> {
        let prefix = encode(prefix, false);
        let from = from.map(|token| format!("&continuation-token={}", encode(token, false))).unwrap_or_default();
        let path = format!("/?list-type=2&encoding-type=url&prefix={prefix}{from}");
        with_retries(|| async {
            let mut body = Vec::new();
            let collect = |chunk: &[u8]| {
                body.extend_from_slice(chunk);
                if body.len() > MAX_PAGE_BYTES { Err(SyncFault::Answer) } else { Ok(()) }
            };
            self.get(&path, &[], collect).await?;
            read_page(&body)
        })
        .await
    }

    /// Writes an object to a file (`GetObject`), exactly as it was listed.
    pub(super) async fn download(&self, object: &ListedObject, file: &Path) -> Result<(), SyncFault> {
        let path = format!("/{}", encode(&object.key, true));
        with_retries(|| async {
            let (mut file, mut missing) = (File::create(file)?, object.bytes);
            // A chunk goes to the page cache; no other thread is needed for that.
            let write = |chunk: &[u8]| {
                missing = missing.checked_sub(chunk.len() as u64).ok_or(SyncFault::Changed)?;
                Ok(file.write_all(chunk)?)
            };
            match self.get(&path, &[("if-match", &object.etag)], write).await {
                Ok(()) if missing > 0 => Err(SyncFault::Connection),
                Ok(()) => Ok(file.set_modified(object.last_modified.into())?),
                Err(SyncFault::Rejected { status: 404 | 412, .. }) => Err(SyncFault::Changed),
                Err(fault) => Err(fault),
            }
        })
        .await
    }

    /// Sends a request and hands each part of a successful answer to `on_chunk`.
    async fn get(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        mut on_chunk: impl FnMut(&[u8]) -> Result<(), SyncFault>,
    ) -> Result<(), SyncFault> {
        let call = Call { method: Method::GET, path, headers, body: Vec::new() };
        let request = self.service.signed_request(&self.http, call, SystemTime::now()).await;
        let mut response = in_time(request.map_err(|_| SyncFault::Connection)?.send()).await?;
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

/// Repeats a request after faults that may pass.
async fn with_retries<T, R: Future<Output = Result<T, SyncFault>>>(request: impl Fn() -> R) -> Result<T, SyncFault> {
    for pause in RETRY_PAUSES {
        match request().await {
            Err(fault) if fault.is_transient() => sleep(pause).await,
            outcome => return outcome,
        }
    }
    request().await
}

/// Awaits a step of an exchange for at most [`IDLE_TIMEOUT`].
async fn in_time<T, E>(step: impl Future<Output = Result<T, E>>) -> Result<T, SyncFault> {
    timeout(IDLE_TIMEOUT, step).await.map_err(|_| SyncFault::Connection)?.map_err(|_| SyncFault::Connection)
}
