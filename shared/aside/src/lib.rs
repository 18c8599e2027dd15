//! Futures beside others, polled only when they were woken themselves.
//!
//! A task that passes words on is woken for each of them, and what stands beside that (how long it may take, who may stop
//! it, where it is written down) nearly never is what it was woken for. To look at all of it every time would cost as much
//! as the word.

mod alarm;
mod inmost;

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

pub use self::alarm::Alarm;
pub use self::inmost::Inmost;

/// What a future wakes in place of its task: it notes that it was rung, and wakes the task.
///
/// It stands within what its future belongs to, which is the waker then: between two words the processor's caches are
/// others', and each piece of memory that a word needs is fetched anew.
#[derive(Debug)]
pub struct Bell {
    rings: AtomicBool,
    task: Mutex<Waker>,
}

impl Bell {
    /// A bell that rings, for a future that was not polled yet.
    pub fn ringing() -> Self {
        Self { rings: true.into(), task: Mutex::new(Waker::noop().clone()) }
    }

    /// Has this task woken from now on, and no other.
    pub fn attend(&self, task: &Waker) {
        let mut attending = self.task();
        if !attending.will_wake(task) {
            attending.clone_from(task);
        }
    }

    /// Whether it rings. Who polls because of it attends first ([`Self::attend`]), so that nothing in between is missed.
    pub fn rings(&self) -> bool {
        self.rings.load(Ordering::Acquire)
    }

    /// Silences it; `false` if it did not ring.
    pub fn silence(&self) -> bool {
        self.rings() && self.rings.swap(false, Ordering::AcqRel)
    }

    /// Rings and wakes the task.
    pub fn ring(&self) {
        self.rings.store(true, Ordering::Release);
        self.task().wake_by_ref();
    }

    fn task(&self) -> MutexGuard<'_, Waker> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

/// A future that is polled only when it was woken itself, however often its task is woken for something else.
#[derive(Debug)]
pub struct Aside<F> {
    future: F,
    bell: Arc<Bell>,
    /// Rings the bell.
    waker: Waker,
    /// The task that attends to the bell, which only this future lets change: to look here takes no lock.
    attending: Waker,
}

impl<F: Future + Unpin> Aside<F> {
    /// The future, which is polled at least once.
    pub fn new(future: F) -> Self {
        let bell = Arc::new(Bell::ringing());
        Self { future, waker: Arc::clone(&bell).into(), bell, attending: Waker::noop().clone() }
    }
}

impl<F: Future + Unpin> Future for Aside<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if !this.attending.will_wake(context.waker()) {
            this.attending.clone_from(context.waker());
            this.bell.attend(context.waker());
        }
        if !this.bell.silence() {
            return Poll::Pending;
        }
        Pin::new(&mut this.future).poll(&mut Context::from_waker(&this.waker))
    }
}

/// Who may wake the future still, although it is gone, shall not keep its task.
impl<F> Drop for Aside<F> {
    fn drop(&mut self) {
        self.bell.attend(Waker::noop());
    }
}

#[cfg(test)]
mod tests;
