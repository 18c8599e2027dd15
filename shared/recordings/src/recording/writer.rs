use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use domain::Message;
use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};
use redaction::Redactor;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use work::lock;

use super::head::Head;
use super::line::{Entry, Line};
use super::masking;

/// Setting with the maximum length of recorded tool results, in characters.
const RECORD_RESULTS: &str = "RECORD_RESULTS";

const MAX_CHARS: u64 = 1_000_000;

const ELLIPSIS: char = '…';

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

#[derive(Default)]
struct MaskingQueue {
    lines: Vec<Line>,
    bytes: usize,
    /// Set when the limit was exceeded: later lines are dropped.
    full: bool,
}

/// Reads the limit of tool results, in characters.
pub(super) fn max_result_chars(settings: &Settings) -> Result<Option<usize>, SettingError> {
    let max_chars = settings.parse_integer(RECORD_RESULTS, 1..=MAX_CHARS, 0)?;
    Ok(usize::try_from(max_chars).ok().filter(|chars| *chars > 0))
}

impl RecordingWriter {
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
        if lock(&self.queue).push(line) || is_last_event {
            self.release();
        }
    }

    fn release(&self) {
        let lines = std::mem::take(&mut lock(&self.queue).lines);
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
        let mut file = lock(&self.file);
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

const MARK: &[u8] = b"[key]";

/// Removes the configured keys from recordings.
pub(crate) struct KeyFilter {
    secrets: Vec<Secret>,
    /// All values seen so far: a rotated key may still be echoed.
    seen: Mutex<Vec<SecretString>>,
}

impl KeyFilter {
    pub(crate) fn new(secrets: Vec<Secret>) -> Self {
        Self { secrets, seen: Mutex::default() }
    }

    /// Replaces every key with a mark, both verbatim and as encoded in JSON.
    pub(crate) fn hide(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.forms().iter().fold(bytes, |bytes, form| replace_all(bytes, form))
    }

    /// Returns the length of the longest suffix that may be the start of a key.
    pub(crate) fn partial_key_len(&self, bytes: &[u8]) -> usize {
        let tail = |form: &Vec<u8>| {
            let longest = bytes.len().min(form.len().saturating_sub(1));
            (1..=longest).rev().find(|length| bytes.ends_with(&form[..*length])).unwrap_or_default()
        };
        self.forms().iter().map(tail).max().unwrap_or_default()
    }

    fn forms(&self) -> Vec<Vec<u8>> {
        let mut seen = lock(&self.seen);
        for value in self.secrets.iter().filter_map(Secret::peek) {
            if !seen.iter().any(|known| known.expose_secret() == value.expose_secret()) {
                seen.push(value);
            }
        }
        // A long key may contain a short one.
        seen.sort_by_key(|value| std::cmp::Reverse(value.expose_secret().len()));
        seen.iter().flat_map(|value| encodings(value.expose_secret())).collect()
    }
}

/// Returns a key verbatim, and as encoded in JSON if that differs.
fn encodings(key: &str) -> Vec<Vec<u8>> {
    let json = serde_json::Value::from(key).to_string();
    let inner = json.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned();
    let mut forms = vec![inner.into_bytes(), key.as_bytes().to_vec()];
    forms.dedup();
    forms.retain(|form| !form.is_empty());
    forms
}

fn replace_all(bytes: Vec<u8>, form: &[u8]) -> Vec<u8> {
    let mut hidden = Vec::new();
    let mut rest = bytes.as_slice();
    while let Some(at) = rest.windows(form.len()).position(|window| window == form) {
        hidden.extend_from_slice(&rest[..at]);
        hidden.extend_from_slice(MARK);
        rest = &rest[at + form.len()..];
    }
    if hidden.is_empty() {
        return bytes;
    }
    hidden.extend_from_slice(rest);
    hidden
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
            assert!(lock(&writer.file).is_none());
        }
    }
}

#[cfg(test)]
mod key_tests {
    use super::*;

    fn hide_keys(keys: &[&str], text: &str) -> String {
        let keys = KeyFilter::new(keys.iter().copied().map(Secret::by_value).collect());
        String::from_utf8(keys.hide(text.as_bytes().to_vec())).unwrap()
    }

    #[test]
    fn keys_are_hidden_verbatim_and_in_json() {
        assert_eq!(hide_keys(&["sk-1", "sk-12"], "sk-12, sk-1 and sk-1"), "[key], [key] and [key]");
        assert_eq!(hide_keys(&["a\"b"], r#"{"said":"a\"b"} a"b"#), r#"{"said":"[key]"} [key]"#);
        assert_eq!(hide_keys(&[], "sk-1"), "sk-1");
    }

    #[test]
    fn partial_key_at_the_end_is_detected() {
        let keys = KeyFilter::new(vec![Secret::by_value("sk-canary")]);
        let partial_key_len = |text: &str| keys.partial_key_len(text.as_bytes());
        assert_eq!(
            [
                partial_key_len("said sk-can"),
                partial_key_len("s"),
                partial_key_len("sk-canary"),
                partial_key_len("none")
            ],
            [6, 1, 0, 0]
        );
    }
}
