use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use domain::Message;
use platform::settings::{SettingError, Settings};
use redaction::Redactor;
use serde::Serialize;

use super::head::Head;
use super::keys::KeyFilter;
use super::line::{Entry, Line};
use super::masking;

/// Setting with the maximum length of recorded tool results, in characters.
const RECORD_RESULTS: &str = "RECORD_RESULTS";

/// Largest value of the setting.
const MAX_CHARS: u64 = 1_000_000;

/// Marks the end of a shortened result.
const ELLIPSIS: char = '…';

/// Size limit of waiting lines, in bytes.
const MAX_QUEUED_BYTES: usize = 16 * 1024 * 1024;

/// What recordings leave out.
#[derive(Clone)]
pub(super) struct Filters {
    pub(super) keys: Arc<KeyFilter>,
    /// Personal data to mask, if any.
    pub(super) redactor: Redactor,
    /// Maximum length of tool results in characters; `None` for whole ones.
    pub(super) max_result_chars: Option<usize>,
}

/// Writes a recording: each line immediately, so that a crash keeps all earlier lines. With masking the lines wait for the
/// end of their turn.
pub(super) struct RecordingWriter {
    began: Instant,
    filters: Filters,
    /// `None` after a write failed.
    file: Mutex<Option<File>>,
    queue: Mutex<MaskingQueue>,
}

/// Lines to be masked.
#[derive(Default)]
struct MaskingQueue {
    lines: Vec<Line>,
    bytes: usize,
    /// Set when the limit was exceeded: later lines are dropped.
    full: bool,
}

/// Reads the limit of tool results, in characters.
///
/// # Errors
/// A value that is not a number from 1 to 1,000,000.
pub(super) fn max_result_chars(settings: &Settings) -> Result<Option<usize>, SettingError> {
    let accepted = format!("a whole number from 1 to {MAX_CHARS}");
    let parse = |text: &str| text.parse().ok().filter(|chars| (1..=MAX_CHARS).contains(chars));
    let max_chars = settings.parse(RECORD_RESULTS, &accepted, parse)?;
    Ok(max_chars.and_then(|chars| usize::try_from(chars).ok()))
}

impl RecordingWriter {
    /// Writes the head to the file.
    pub(super) fn new(file: File, filters: Filters, head: Head) -> Self {
        let redactor = &filters.redactor;
        let mut head = if redactor.is_off() { head } else { masking::mask_head(head, redactor) };
        head.result_chars = filters.max_result_chars;
        let writer = Self { began: Instant::now(), filters, file: Mutex::new(Some(file)), queue: Mutex::default() };
        for message in head.history.iter_mut().flat_map(|turn| &mut turn.messages) {
            if let Message::Tool(message) = message {
                writer.shorten(&mut message.content);
            }
        }
        writer.write_value(&head);
        writer
    }

    pub(super) fn keys(&self) -> &KeyFilter {
        &self.filters.keys
    }

    pub(super) fn write(&self, entry: Entry) {
        let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let line = Line { ms, entry };
        if self.filters.redactor.is_off() {
            return self.write_line(line);
        }
        let is_last_event =
            matches!(&line.entry, Entry::Event { event } if event["type"] == "done" || event["type"] == "error");
        if self.queue().push(line) || is_last_event {
            self.release();
        }
    }

    /// Masks and writes the waiting lines.
    fn release(&self) {
        let lines = std::mem::take(&mut self.queue().lines);
        for line in masking::mask_lines(lines, &self.filters.redactor) {
            self.write_line(line);
        }
    }

    /// Writes a line whose personal data has been masked: a cut before that would leave parts of it. The result of a tool
    /// call is cut for the model; what users read as the answer stays whole.
    fn write_line(&self, mut line: Line) {
        if let Entry::Tool { result: Some(result), .. } = &mut line.entry {
            result.whole_chars = self.shorten(&mut result.content);
        }
        self.write_value(&line);
    }

    /// Cuts the result of a tool; returns its former length in characters if it is cut. Keys are hidden first: a part of
    /// one would not be recognised.
    fn shorten(&self, text: &mut String) -> Option<usize> {
        let max_chars = self.filters.max_result_chars?;
        text.char_indices().nth(max_chars)?;
        let whole_chars = text.chars().count();
        *text = String::from_utf8_lossy(&self.keys().hide(std::mem::take(text).into_bytes())).into_owned();
        let (end, _) = text.char_indices().nth(max_chars)?;
        text.truncate(end);
        text.push(ELLIPSIS);
        Some(whole_chars)
    }

    fn write_value(&self, line: &impl Serialize) {
        let mut file = self.file();
        let Some(open) = file.as_mut() else { return };
        let written = serde_json::to_vec(line).map_err(std::io::Error::from).and_then(|bytes| {
            let mut bytes = self.keys().hide(bytes);
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

    fn queue(&self) -> MutexGuard<'_, MaskingQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MaskingQueue {
    /// Queues a line; returns whether the limit is exceeded.
    fn push(&mut self, line: Line) -> bool {
        if self.full {
            return false;
        }
        self.bytes += serde_json::to_vec(&line).map_or(0, |bytes| bytes.len());
        self.lines.push(line);
        self.full = self.bytes > MAX_QUEUED_BYTES;
        self.full
    }
}

/// Writes the waiting lines of a turn that ended without a last event.
impl Drop for RecordingWriter {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use platform::secrets::Secret;

    use super::*;

    fn writer(file: Option<File>, max_result_chars: Option<usize>) -> RecordingWriter {
        let keys = Arc::new(KeyFilter::new(vec![Secret::by_value("sk-canary")]));
        let filters = Filters { keys, redactor: Redactor::default(), max_result_chars };
        RecordingWriter { began: Instant::now(), filters, file: Mutex::new(file), queue: Mutex::default() }
    }

    fn cut(text: &str, max_chars: usize) -> (String, Option<usize>) {
        let mut text = text.to_owned();
        let whole_chars = writer(None, Some(max_chars)).shorten(&mut text);
        (text, whole_chars)
    }

    #[test]
    fn results_are_cut_between_characters() {
        assert_eq!(cut("预算", 2), ("预算".to_owned(), None));
        assert_eq!(cut("预算是三百万", 2), ("预算…".to_owned(), Some(6)));
        assert_eq!(cut("", 1), (String::new(), None));
    }

    #[test]
    fn cut_leaves_no_part_of_a_key() {
        for max_chars in 1..20 {
            let (text, _) = cut("the key is sk-canary", max_chars);
            assert!(!text.contains("sk"), "{text}");
        }
    }

    #[test]
    fn limit_is_a_positive_number() {
        let limit = |text: &str| max_result_chars(&Settings::from_pairs([(RECORD_RESULTS, text)]));
        assert_eq!(limit("500"), Ok(Some(500)));
        assert_eq!(limit(" "), Ok(None));
        for text in ["0", "1000001", "-1", "many"] {
            let error = limit(text).unwrap_err();
            assert_eq!(error.to_string(), "RECORD_RESULTS: expected a whole number from 1 to 1000000");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn full_disk_ends_only_the_recording() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let writer = writer(Some(full), None);
        for _ in 0..2 {
            writer.write(Entry::ModelCall { model_call: 1, model: "a".into(), path: llm::ToolMode::Prompted });
            assert!(writer.file().is_none());
        }
    }
}
