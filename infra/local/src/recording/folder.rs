use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::{Agent, Turn, TurnRecorder, TurnRecorderFactory};
use platform::secrets::Secret;
use platform::settings::Settings;
use redaction::Redactor;

use crate::{StartError, private_files};

use super::head::Head;
use super::keys::KeyFilter;
use super::recorder::TurnRecording;
use super::writer::{Filters, RecordingWriter, max_result_chars};

/// Setting that names the folder.
pub(crate) const RECORD_TURNS: &str = "RECORD_TURNS";

/// Folder for recordings, one file per turn.
pub(crate) struct RecordingFolder {
    path: PathBuf,
    filters: Filters,
    settings: Settings,
}

impl RecordingFolder {
    /// Opens the folder that the settings name, if any. It is created if needed, readable for its user only. Recordings
    /// contain neither `secrets` nor the data that `redactor` masks.
    ///
    /// # Errors
    /// No file can be made in it, or the limit of results cannot be parsed.
    pub(crate) fn from_settings(
        settings: &Settings,
        secrets: Vec<Secret>,
        redactor: Redactor,
    ) -> Result<Option<Self>, StartError> {
        let max_result_chars = max_result_chars(settings)?;
        let Some(path) = settings.var(RECORD_TURNS).map(PathBuf::from) else { return Ok(None) };
        prepare(&path).map_err(|source| StartError::Recordings { folder: path.clone(), source })?;
        let filters = Filters { keys: Arc::new(KeyFilter::new(secrets)), redactor, max_result_chars };
        Ok(Some(Self { path, filters, settings: settings.clone() }))
    }

    /// The folder's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
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
