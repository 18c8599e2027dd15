use std::time::Duration;

use tokio::time::timeout;

use crate::{Result, StoreError};

const BASE_DELAY_MS: u64 = 10;

/// Waits before another attempt. The delay starts at 10 ms and doubles each time; random jitter of up to the same
/// length separates competitors.
pub(crate) async fn back_off(attempt: u32) {
    let base = BASE_DELAY_MS << attempt.min(7);
    let jitter = u64::try_from(domain::new_ulid().random() % u128::from(base)).unwrap_or(0);
    tokio::time::sleep(Duration::from_millis(base + jitter)).await;
}

/// Gives up a call after `limit`: the store is too busy for its caller.
pub(crate) async fn within<T>(limit: Duration, call: impl Future<Output = Result<T>>) -> Result<T> {
    timeout(limit, call).await.unwrap_or(Err(StoreError::Busy))
}
