use std::io::{self, Read};
use std::time::Instant;

use work::StopFlag;

/// When a scan must end: at its deadline, or as soon as its call is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    stop: StopFlag,
    deadline: Instant,
}

impl Interrupt {
    pub(crate) fn new(stop: StopFlag, deadline: Instant) -> Self {
        Self { stop, deadline }
    }

    /// Makes a reader fail when the scan must end.
    pub(crate) fn reader<R>(&self, reader: R) -> InterruptibleReader<'_, R> {
        InterruptibleReader { interrupt: self, reader }
    }

    /// Whether the scan must end now.
    pub(crate) fn is_due(&self) -> bool {
        self.stop.is_set() || Instant::now() >= self.deadline
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn reading_fails_once_the_scan_must_end() {
        let stop = StopFlag::default();
        let interrupt = Interrupt::new(stop.clone(), Instant::now() + Duration::from_mins(1));
        let mut reader = interrupt.reader(b"ab".as_slice());
        assert_eq!(reader.read(&mut [0]).unwrap(), 1);
        stop.set();
        assert_eq!(reader.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
