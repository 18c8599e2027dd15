use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fs, io};

use agent::{Agent, Turn, TurnRecorder, TurnRecorderFactory};
use client_protocols::{NativeSse, Protocol};
use commands::{CommandError, private_files};
use domain::{Event, ToolCall, ToolEvent};
use llm::{AttemptEnd, ModelClient, ResponseRecorder, ToolMode};
use platform::secrets::Secret;
use platform::settings::Settings;
use redaction::Redactor;
use serde_json::Value;
use tools::ToolRun;
use work::lock;

use super::head::Head;
use super::line::{AttemptId, Entry};
use super::writer::{Filters, KeyFilter, RecordingWriter, max_result_chars};

/// Returns the payload of a turn's next event in the product's own protocol, if it has one. Tool progress is skipped: no
/// later event depends on it, and a replayed call does not repeat it.
pub(crate) fn payload_of(event: &Event, protocol: &mut NativeSse) -> Option<Value> {
    if matches!(event, Event::Tool(ToolEvent::Progress(_))) {
        return None;
    }
    let mut frames = String::new();
    protocol.write_frames(event, &mut frames);
    frames.lines().find_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
}

pub(super) struct TurnRecording {
    writer: Arc<RecordingWriter>,
    model_calls: AtomicUsize,
    protocol: Mutex<NativeSse>,
}

impl TurnRecording {
    pub(super) fn new(writer: RecordingWriter) -> Self {
        Self {
            writer: Arc::new(writer),
            model_calls: AtomicUsize::default(),
            protocol: Mutex::new(NativeSse::new("", "")),
        }
    }
}

impl TurnRecorder for TurnRecording {
    fn on_event(&self, event: &Event) {
        let payload = payload_of(event, &mut lock(&self.protocol));
        if let Some(event) = payload {
            self.writer.write(Entry::Event { event });
        }
    }

    fn on_model_call(&self, model: &ModelClient, path: ToolMode) -> Option<Arc<dyn ResponseRecorder>> {
        let model_call = self.model_calls.fetch_add(1, Ordering::Relaxed) + 1;
        self.writer.write(Entry::ModelCall { model_call, model: model.config().name.clone(), path });
        let current = CurrentAttempt { id: AttemptId { model_call, attempt: 1 }, pending: Vec::new() };
        Some(Arc::new(CallRecorder { writer: Arc::clone(&self.writer), current: Mutex::new(current) }))
    }

    fn on_tool_result(&self, call: &ToolCall, ran: Option<&ToolRun>) {
        self.writer.write(Entry::Tool { call: call.clone(), result: ran.map(|ran| Box::new(ran.into())) });
    }
}

struct CallRecorder {
    writer: Arc<RecordingWriter>,
    current: Mutex<CurrentAttempt>,
}

struct CurrentAttempt {
    id: AttemptId,
    /// Held back end of the body, which may be the start of a key.
    pending: Vec<u8>,
}

impl CallRecorder {
    fn write_body(&self, id: AttemptId, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.writer.write(Entry::Body { id, bytes: bytes.into() });
        }
    }
}

impl ResponseRecorder for CallRecorder {
    fn record_head(&self, status: u16, content_type: &str, retry_after: Option<Duration>) {
        let retry_after_ms = retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let (id, content_type) = (lock(&self.current).id, content_type.to_owned());
        self.writer.write(Entry::Response { id, status, content_type, retry_after_ms });
    }

    fn record_chunk(&self, bytes: &[u8]) {
        let (keys, mut current) = (self.writer.keys(), lock(&self.current));
        current.pending.extend_from_slice(bytes);
        let mut hidden = keys.hide(std::mem::take(&mut current.pending));
        current.pending = hidden.split_off(hidden.len() - keys.partial_key_len(&hidden));
        self.write_body(current.id, hidden);
    }

    fn record_end(&self, how: AttemptEnd) {
        let mut current = lock(&self.current);
        self.write_body(current.id, std::mem::take(&mut current.pending));
        self.writer.write(Entry::End { id: current.id, how });
        current.id.attempt += 1;
    }
}

/// Setting with the folder of recordings.
pub const RECORD_TURNS: &str = "RECORD_TURNS";

/// A folder that receives one recording per turn.
pub struct RecordingFolder {
    /// The folder itself.
    pub path: PathBuf,
    filters: Filters,
    settings: Settings,
}

impl RecordingFolder {
    /// Opens the folder that the settings name, if any. It is created if needed, readable for its user only. Recordings
    /// contain neither `secrets` nor the data that `redactor` masks.
    ///
    /// # Errors
    /// No file can be made in it, or the limit of results cannot be parsed.
    pub fn from_settings(
        settings: &Settings,
        secrets: Vec<Secret>,
        redactor: Redactor,
    ) -> Result<Option<Self>, CommandError> {
        let max_result_chars = max_result_chars(settings)?;
        let Some(path) = settings.var(RECORD_TURNS).map(PathBuf::from) else { return Ok(None) };
        prepare(&path).map_err(|error| {
            let hint = "choose another folder with --record";
            CommandError::wrong_use(format!("cannot record turns in {}: {error}; {hint}", path.display()))
        })?;
        let filters = Filters { keys: Arc::new(KeyFilter::new(secrets)), redactor, max_result_chars };
        Ok(Some(Self { path, filters, settings: settings.clone() }))
    }
}

impl TurnRecorderFactory for RecordingFolder {
    fn begin(&self, agent: &Agent, turn: &Turn<'_>) -> Option<Arc<dyn TurnRecorder>> {
        let file = private_files::create(&self.path.join(format!("{}.jsonl", turn.id)));
        let file = file.inspect_err(|error| tracing::warn!(%error, "a turn cannot be recorded")).ok()?;
        let head = Head::of(agent, turn, &self.settings);
        Some(Arc::new(TurnRecording::new(RecordingWriter::new(file, self.filters.clone(), head))))
    }
}

/// Creates a folder, if needed, and tries to create a file in it.
fn prepare(path: &Path) -> io::Result<()> {
    private_files::create_folder(path)?;
    let probe = path.join(format!(".{}.trial", domain::new_id()));
    private_files::create(&probe)?;
    fs::remove_file(&probe)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn recording_is_off_without_setting() {
        let folder = |text: &str| {
            RecordingFolder::from_settings(
                &Settings::from_pairs([(RECORD_TURNS, text)]),
                Vec::new(),
                Redactor::default(),
            )
        };
        assert!(
            RecordingFolder::from_settings(&Settings::default(), Vec::new(), Redactor::default()).unwrap().is_none()
        );
        assert!(folder(" ").unwrap().is_none());
        let parent = TempDir::new().unwrap();
        assert!(folder(parent.path().join("a/b").to_str().unwrap()).unwrap().is_some());
    }

    #[test]
    fn existing_recording_is_never_overwritten() {
        let parent = TempDir::new().unwrap();
        let path = parent.path().join("turn.jsonl");
        fs::write(&path, "kept").unwrap();
        assert!(private_files::create(&path).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
    }
}
