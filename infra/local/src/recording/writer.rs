use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use redaction::Redactor;
use serde::Serialize;

use super::head::Head;
use super::keys::KeyFilter;
use super::line::{Entry, Line};
use super::masking;
use super::result_limit::ResultLimit;

/// Writes a recording: each line immediately, so that a crash keeps all earlier lines.
pub(super) struct RecordingWriter {
    began: Instant,
    keys: Arc<KeyFilter>,
    result_limit: ResultLimit,
    /// `None` after a write failed.
    file: Mutex<Option<File>>,
    /// Lines that wait for the end of their turn; `None` if masking is off.
    queue: Option<MaskingQueue>,
}

/// Lines to be masked.
struct MaskingQueue {
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
const MAX_QUEUED_BYTES: usize = 16 * 1024 * 1024;

impl RecordingWriter {
    /// Writes the head to the file.
    pub(super) fn new(
        file: File,
        keys: Arc<KeyFilter>,
        result_limit: ResultLimit,
        head: Head,
        redactor: &Redactor,
    ) -> Self {
        let queue = (!redactor.is_off()).then(|| MaskingQueue { redactor: redactor.clone(), lines: Mutex::default() });
        let head = if queue.is_some() { masking::mask_head(head, redactor) } else { head };
        let head = result_limit.cut_head(head, &keys);
        let writer = Self { began: Instant::now(), keys, result_limit, file: Mutex::new(Some(file)), queue };
        writer.write_value(&head);
        writer
    }

    pub(super) fn keys(&self) -> &KeyFilter {
        &self.keys
    }

    pub(super) fn write(&self, entry: Entry) {
        let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let line = Line { ms, entry };
        match &self.queue {
            None => self.write_line(line),
            Some(queue) => {
                let is_last_event = matches!(&line.entry, Entry::Event { event } if event["type"] == "done" || event["type"] == "error");
                if queue.push(line) || is_last_event {
                    self.release();
                }
            }
        }
    }

    /// Masks and writes the waiting lines.
    fn release(&self) {
        let Some(queue) = &self.queue else { return };
        let lines = std::mem::take(&mut queue.lines().lines);
        for line in masking::mask_lines(lines, &queue.redactor) {
            self.write_line(line);
        }
    }

    /// Writes a line whose personal data has been masked: a cut before that would leave parts of it.
    fn write_line(&self, mut line: Line) {
        self.result_limit.cut_entry(&mut line.entry, &self.keys);
        self.write_value(&line);
    }

    fn write_value(&self, line: &impl Serialize) {
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

impl MaskingQueue {
    /// Queues a line; returns whether the limit is exceeded.
    fn push(&self, line: Line) -> bool {
        let mut lines = self.lines();
        if lines.full {
            return false;
        }
        lines.bytes += serde_json::to_vec(&line).map_or(0, |bytes| bytes.len());
        lines.lines.push(line);
        lines.full = lines.bytes > MAX_QUEUED_BYTES;
        lines.full
    }

    fn lines(&self) -> MutexGuard<'_, Backlog> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the waiting lines of a turn that ended without a last event.
impl Drop for RecordingWriter {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::OpenOptions;

    use llm::ToolMode;

    use super::*;

    #[test]
    fn full_disk_ends_only_the_recording() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (keys, file) = (Arc::new(KeyFilter::new(Vec::new())), Mutex::new(Some(full)));
        let result_limit = ResultLimit::default();
        let writer = RecordingWriter { began: Instant::now(), keys, result_limit, file, queue: None };
        for _ in 0..2 {
            writer.write(Entry::ModelCall { model_call: 1, model: "a".into(), path: ToolMode::Prompted.into() });
            assert!(writer.file().is_none());
        }
    }
}
