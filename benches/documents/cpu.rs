use std::fs;
use std::time::Duration;

/// Length of a clock tick of `/proc`, in milliseconds.
const TICK_MS: u64 = 10;

/// The fields of `/proc/self/stat` after the command: user and kernel time of the process, then of its ended children.
const FIRST_FIELD: usize = 11;

/// Processor time, including the kernel's.
pub(crate) struct Used {
    pub(crate) own: Duration,
    pub(crate) children: Duration,
}

/// The processor time so far of this process and of the programs that it ran; zero on systems without `/proc`.
pub(crate) fn used() -> Used {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(FIRST_FIELD);
    let ticks: Vec<u64> = fields.take(4).map(|field| field.parse().unwrap_or(0)).collect();
    let time = |at: usize| Duration::from_millis(TICK_MS * ticks.iter().skip(at).take(2).sum::<u64>());
    Used { own: time(0), children: time(2) }
}

impl Used {
    pub(crate) fn since(&self, before: &Self) -> Self {
        let children = self.children.saturating_sub(before.children);
        Self { own: self.own.saturating_sub(before.own), children }
    }

    pub(crate) fn divided_by(&self, runs: u32) -> Self {
        Self { own: self.own / runs, children: self.children / runs }
    }
}
