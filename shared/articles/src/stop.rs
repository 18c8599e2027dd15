use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// After how many texts or vectors a computation checks whether it is still needed.
pub(crate) const CHECK_INTERVAL: u32 = 64;

/// Stops a computation on another thread when it is dropped.
pub(crate) struct StopOnDrop(Arc<AtomicBool>);

impl StopOnDrop {
    /// The guard and the flag that the computation reads.
    pub(crate) fn new() -> (Self, Arc<AtomicBool>) {
        let flag = Arc::new(AtomicBool::new(false));
        (Self(Arc::clone(&flag)), flag)
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
