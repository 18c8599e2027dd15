use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// When a scan must end: at its deadline, or as soon as its call is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    stopped: Arc<AtomicBool>,
    deadline: Instant,
}

/// Stops the scan when it is dropped.
pub(crate) struct StopOnDrop(Arc<AtomicBool>);

impl Interrupt {
    /// Creates the signal and the guard that sets it.
    pub(crate) fn new(deadline: Instant) -> (Self, StopOnDrop) {
        let stopped = Arc::new(AtomicBool::new(false));
        (Self { stopped: Arc::clone(&stopped), deadline }, StopOnDrop(stopped))
    }

    /// Makes a reader fail when the scan must end.
    pub(crate) fn reader<R>(&self, reader: R) -> InterruptibleReader<'_, R> {
        InterruptibleReader { interrupt: self, reader }
    }

    /// Whether the scan must end now.
    pub(crate) fn is_due(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }
}

/// A reader that fails when its interrupt is due.
pub(crate) struct InterruptibleReader<'a, R> {
    interrupt: &'a Interrupt,
    reader: R,
}

impl<R: Read> Read for InterruptibleReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.interrupt.is_due() { Err(io::ErrorKind::TimedOut.into()) } else { self.reader.read(buffer) }
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn reading_fails_once_the_scan_must_end() {
        let (interrupt, stop) = Interrupt::new(Instant::now() + Duration::from_mins(1));
        let mut reader = interrupt.reader(b"ab".as_slice());
        assert_eq!(reader.read(&mut [0]).unwrap(), 1);
        drop(stop);
        assert_eq!(reader.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
