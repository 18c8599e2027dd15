//! Fuzz test with random changes of recordings.

use std::fs;

use fuzz::{ensure, run};

use super::line::RecordedTurn;

#[test]
fn fuzz_recordings_are_read_or_rejected() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/recordings");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let samples: Vec<Vec<u8>> =
        files.iter().map(|file| fs::read(file).unwrap()).filter(|text| text.len() < 8_000).collect();
    let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
    assert!(!samples.is_empty(), "there are short recordings");
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("turn.jsonl");
    let tokens = [
        "{\"recording\":1",
        "\"at\":",
        "\"body\":",
        "\"bytes\":",
        "\"event\":{",
        "\n",
        "\"text\":\"",
        "\"base64\":\"",
        "null",
        "-1",
    ];
    run("recordings", &samples, &tokens, |bytes| {
        fs::write(&file, bytes).map_err(|error| error.to_string())?;
        match RecordedTurn::read(&file) {
            Ok(recorded) => ensure(recorded.lines.len() <= bytes.len(), || "more lines than bytes".to_owned()),
            Err(unreadable) => ensure(unreadable.to_string().len() < 400, || unreadable.to_string()),
        }
    });
}
