//! Runs the work of a call in the pool for heavy work.

use std::time::{Duration, Instant};

use domain::Owner;
use work::{LONG_WORK, StopFlag};

use crate::interrupt::Interrupt;
use crate::{DocumentError, DocumentRoot, DocumentSource};

/// Maximum duration of a scan; afterwards it returns what it has found.
pub(crate) const MAX_DURATION: Duration = Duration::from_secs(10);

/// Timeout of a call: it includes the wait for a thread.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Runs `work` over the current root of a source, as [`run_blocking`] does.
///
/// # Errors
/// Those of `work` and of the source.
pub(crate) async fn run_over<T: Send + 'static>(
    source: &DocumentSource,
    owner: &Owner,
    duration: Duration,
    work: impl FnOnce(&DocumentRoot, &Interrupt) -> Result<T, DocumentError> + Send + 'static,
) -> Result<T, DocumentError> {
    let root = source.root().await?;
    run_blocking(owner, duration, move |interrupt| work(&root, interrupt)).await
}

/// Runs `work` in the pool. It must check its interrupt at every file and at every few lines: the interrupt is due when
/// this future is dropped, and after `duration`.
///
/// # Errors
/// Those of `work`; `Unreadable` if it panics.
pub(crate) async fn run_blocking<T: Send + 'static>(
    owner: &Owner,
    duration: Duration,
    work: impl FnOnce(&Interrupt) -> Result<T, DocumentError> + Send + 'static,
) -> Result<T, DocumentError> {
    // The duration begins with the work, not with the wait for a thread.
    let run = move |stop: &StopFlag| work(&Interrupt::new(stop.clone(), Instant::now() + duration));
    LONG_WORK.run(owner, run).await.unwrap_or(Err(DocumentError::Unreadable))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn dropped_call_stops_its_scan() {
        let (started, begun) = tokio::sync::oneshot::channel();
        let (ended, end) = mpsc::channel();
        let owner = Owner::new("ada");
        let scan = run_blocking(&owner, Duration::from_mins(1), move |interrupt| {
            let _ = started.send(());
            while !interrupt.is_due() {
                std::thread::yield_now();
            }
            ended.send(()).unwrap();
            Ok(())
        });
        tokio::select! {
            _ = scan => unreachable!("the scan ends only when it is dropped"),
            begun = begun => begun.unwrap(),
        }
        end.recv_timeout(Duration::from_secs(10)).unwrap();
    }

    #[tokio::test]
    async fn scan_ends_after_its_duration() {
        let scan = |interrupt: &Interrupt| {
            while !interrupt.is_due() {
                std::thread::yield_now();
            }
            Ok(1)
        };
        assert_eq!(run_blocking(&Owner::new("bob"), Duration::ZERO, scan).await, Ok(1));
    }
}
