//! `cargo run -p tests --bin remake-recordings` writes the recordings in `tests/recordings` again, from their scenarios.

use std::path::Path;
use std::{fs, io};

use support::{RECORDING_SCENARIOS, RECORDINGS_FOLDER, record_scenario};
use tempfile::TempDir;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    for scenario in RECORDING_SCENARIOS {
        let folder = TempDir::new()?;
        let recording = record_scenario(scenario, folder.path()).await;
        fs::copy(recording, Path::new(RECORDINGS_FOLDER).join(format!("{scenario}.jsonl")))?;
    }
    Ok(())
}
