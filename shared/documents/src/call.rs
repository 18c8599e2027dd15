//! Runs the work of a call on a blocking thread.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use domain::Owner;
use fairness::FairSlots;
use tokio::task::spawn_blocking;

use crate::interrupt::Interrupt;
use crate::{DocumentError, DocumentRoot, DocumentSource};

/// Maximum duration of a scan; afterwards it returns what it has found.
pub(crate) const MAX_DURATION: Duration = Duration::from_secs(10);

/// Timeout of a call: it includes the wait for a slot.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Concurrent scans, at most one of each owner; others wait.
static SLOTS: LazyLock<FairSlots<Owner>> = LazyLock::new(|| FairSlots::new(2));

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

/// Runs `work` on a blocking thread. It must check its interrupt at every file and at every few lines: the interrupt is
/// due when this future is dropped, and after `duration`. The slot is released with the thread.
///
/// # Errors
/// Those of `work`; `Unreadable` if it panics.
pub(crate) async fn run_blocking<T: Send + 'static>(
    owner: &Owner,
    duration: Duration,
    work: impl FnOnce(&Interrupt) -> Result<T, DocumentError> + Send + 'static,
) -> Result<T, DocumentError> {
    let slot = SLOTS.acquire(owner).await.map_err(|_| DocumentError::Unreadable)?;
    let (interrupt, _stop) = Interrupt::new(Instant::now() + duration);
    let run = move || {
        let outcome = work(&interrupt);
        drop(slot);
        outcome
    };
    spawn_blocking(run).await.unwrap_or(Err(DocumentError::Unreadable))
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
