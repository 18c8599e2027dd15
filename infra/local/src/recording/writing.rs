use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use agent::Recording;
use conversation::{Event, ToolCall};
use model::{ModelClient, Tape, ToolPath};
use redaction::Redactor;
use serde::Serialize;
use tools::Ran;

use super::head::Head;
use super::keys::Keys;
use super::line::{Entry, Line};
use super::masking;
use super::payloads::Payloads;
use super::tape::CallTape;

/// Writes a recording: each line immediately, so that a crash keeps all earlier lines.
pub(super) struct Writing {
    began: Instant,
    keys: Arc<Keys>,
    /// `None` after a write failed.
    file: Mutex<Option<File>>,
    /// Lines that wait for the end of their turn; `None` if masking is off.
    held: Option<Held>,
}

/// Lines to be masked.
struct Held {
    redactor: Redactor,
    lines: Mutex<Backlog>,
}

#[derive(Default)]
struct Backlog {
    lines: Vec<Line>,
    bytes: usize,
    /// Set when the limit was exceeded: later lines are dropped.
    full: bool,
}

/// Size limit of waiting lines, in bytes.
const MAX_HELD: usize = 16 * 1024 * 1024;

/// Recorder of one turn.
pub(super) struct TurnRecording {
    writing: Arc<Writing>,
    asks: AtomicUsize,
    payloads: Mutex<Payloads>,
}

impl Writing {
    pub(super) fn keys(&self) -> &Keys {
        &self.keys
    }

    pub(super) fn write(&self, entry: Entry) {
        let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let line = Line { ms, entry };
        match &self.held {
            None => self.line(&line),
            Some(held) => {
                let over = matches!(&line.entry, Entry::Event { event } if event["type"] == "done" || event["type"] == "error");
                if held.hold(line) || over {
                    self.release();
                }
            }
        }
    }

    /// Masks and writes the waiting lines.
    fn release(&self) {
        let Some(held) = &self.held else { return };
        let lines = std::mem::take(&mut held.lines().lines);
        for line in masking::masked(lines, &held.redactor) {
            self.line(&line);
        }
    }

    fn line(&self, line: &impl Serialize) {
        let mut file = self.file();
        let Some(open) = file.as_mut() else { return };
        let written = serde_json::to_vec(line).map_err(std::io::Error::from).and_then(|bytes| {
            let mut bytes = self.keys.hide(bytes);
            bytes.push(b'\n');
            open.write_all(&bytes)
        });
        if let Err(error) = written {
            tracing::warn!(%error, "a recording could not be written on");
            *file = None;
        }
    }

    fn file(&self) -> MutexGuard<'_, Option<File>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Queues a line; returns whether the limit is exceeded.
    fn hold(&self, line: Line) -> bool {
        let mut lines = self.lines();
        if lines.full {
            return false;
        }
        lines.bytes += serde_json::to_vec(&line).map_or(0, |bytes| bytes.len());
        lines.lines.push(line);
        lines.full = lines.bytes > MAX_HELD;
        lines.full
    }

    fn lines(&self) -> MutexGuard<'_, Backlog> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the waiting lines of a turn that ended without a last event.
impl Drop for Writing {
    fn drop(&mut self) {
        self.release();
    }
}

impl TurnRecording {
    pub(super) fn new(file: File, keys: Arc<Keys>, head: Head, redactor: &Redactor) -> Self {
        let backlog = (!redactor.is_off()).then(|| Held { redactor: redactor.clone(), lines: Mutex::default() });
        let head = if backlog.is_some() { masking::masked_head(head, redactor) } else { head };
        let writing = Arc::new(Writing { began: Instant::now(), keys, file: Mutex::new(Some(file)), held: backlog });
        writing.line(&head);
        Self { writing, asks: AtomicUsize::default(), payloads: Mutex::default() }
    }
}

impl Recording for TurnRecording {
    fn event(&self, event: &Event) {
        let payload = self.payloads.lock().unwrap_or_else(PoisonError::into_inner).of(event);
        if let Some(event) = payload {
            self.writing.write(Entry::Event { event });
        }
    }

    fn asked(&self, model: &ModelClient, path: ToolPath) -> Arc<dyn Tape> {
        let ask = self.asks.fetch_add(1, Ordering::Relaxed) + 1;
        self.writing.write(Entry::Ask { ask, model: model.config().name.clone(), path: path.into() });
        Arc::new(CallTape::new(Arc::clone(&self.writing), ask))
    }

    fn ran(&self, call: &ToolCall, ran: Option<&Ran>) {
        self.writing.write(Entry::Tool { call: call.clone(), result: ran.map(|ran| Box::new(ran.into())) });
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    #[test]
    fn full_disk_ends_only_the_recording() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (keys, file) = (Arc::new(Keys::new(Vec::new())), Mutex::new(Some(full)));
        let writing = Writing { began: Instant::now(), keys, file, held: None };
        for _ in 0..2 {
            writing.write(Entry::Ask { ask: 1, model: "a".into(), path: ToolPath::Text.into() });
            assert!(writing.file().is_none());
        }
    }
}
