//! `lambda-chat replay` on the command line: output and exit codes.

#![expect(clippy::unwrap_used, reason = "what a test stands on must hold, or the test has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

fn replay(file: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lambda-chat"));
    command.arg("replay").arg(file).args(more).env_clear().output().unwrap()
}

fn recording_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings").join(name)
}

/// Returns exit code, standard output and error stream.
fn exit_and_output(output: Output) -> (Option<i32>, String, String) {
    let (out, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    (output.status.code(), out, error)
}

/// Replays a committed recording with a change to its text.
fn replay_changed(name: &str, change: impl FnOnce(String) -> String) -> (Option<i32>, String, String) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("changed.jsonl");
    fs::write(&file, change(fs::read_to_string(recording_path(name)).unwrap())).unwrap();
    exit_and_output(replay(&file, &[]))
}

#[test]
fn replay_is_identical_at_any_speed() {
    for speed in [&[][..], &["--speed", "fast"], &["--speed", "real"]] {
        let (code, out, error) = exit_and_output(replay(&recording_path("search_on_the_text_path.jsonl"), speed));
        assert_eq!(code, Some(0), "{error}");
        assert_eq!(error, format!("the same as recorded: {} events\n", out.lines().count()));
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines[0].starts_with("{\"type\":\"start\""), "{out}");
        assert!(lines[lines.len() - 1].starts_with("{\"type\":\"done\",\"finishReason\":\"stop\""), "{out}");
    }
}

#[test]
fn changed_event_is_shown_with_exit_code_1() {
    let change = |text: String| {
        text.replace(
            "\"event\":{\"type\":\"content\",\"content\":\"你好\"",
            "\"event\":{\"type\":\"content\",\"content\":\"再见\"",
        )
    };
    let (code, _, error) = replay_changed("plain_answer.jsonl", change);
    let expected = "differs at event 2\n  expected {\"type\":\"content\",\"content\":\"再见\"}\n  \
                    got      {\"type\":\"content\",\"content\":\"你好\"}\n";
    assert_eq!((code, error.as_str()), (Some(1), expected));
}

#[test]
fn changed_model_response_is_a_difference() {
    let change = |text: String| text.replace("\\\"content\\\":\\\"你好\\\"", "\\\"content\\\":\\\"再见\\\"");
    let (code, _, error) = replay_changed("plain_answer.jsonl", change);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("differs at event 2") && error.contains("再见"), "{error}");
}

#[test]
fn unrecorded_call_is_named() {
    let (code, _, error) = replay_changed("search_on_the_text_path.jsonl", |text| {
        text.replace(
            "\"line\":\"tool\",\"call\":{\"id\":\"call_1\",\"name\":\"search_web\"",
            "\"line\":\"tool\",\"call\":{\"id\":\"call_1\",\"name\":\"other\"",
        )
    });
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("a call that was not recorded: search_web {\"query\":\"北京天气\"}"), "{error}");
}

#[test]
fn model_with_extra_call_is_named() {
    let without_the_last_answer = |text: String| {
        let lines = text.lines().filter(|line| !line.contains("\"ask\":2,\"attempt\""));
        lines.fold(String::new(), |text, line| text + line + "\n")
    };
    let (code, _, error) = replay_changed("search_on_the_text_path.jsonl", without_the_last_answer);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("the model openai gets one more request than when the turn was recorded"), "{error}");
}

#[test]
fn truncated_recording_is_reported_at_any_position() {
    let text = fs::read_to_string(recording_path("search_on_the_text_path.jsonl")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for kept_lines in [1, 2, lines.len() / 2, lines.len() - 1] {
        let rest = lines[..kept_lines].concat();
        for cut in [rest.clone(), rest + "{\"ms\":12,\"line\":\"bo"] {
            let (code, _, error) = replay_changed("search_on_the_text_path.jsonl", |_| cut);
            assert_eq!(code, Some(1), "{kept_lines}: {error}");
            assert!(error.contains("the recording ends early"), "{kept_lines}: {error}");
        }
    }
}

#[test]
fn invalid_recording_is_rejected_with_exit_code_2() {
    let folder = TempDir::new().unwrap();
    let missing = folder.path().join("missing.jsonl");
    let (code, out, error) = exit_and_output(replay(&missing, &[]));
    assert_eq!((code, out.as_str(), error.lines().count()), (Some(2), "", 1), "{error}");
    assert!(error.contains("missing.jsonl cannot be read"), "{error}");
    for (change, expected) in [
        ("", "line 1 is not of the format"),
        ("canary\n", "line 1 is not of the format"),
        ("{\"recording\":2}\n", "is of version 2 of the format; this program reads version 1"),
        ("{\"recording\":1}\n", "line 1 is not of the format"),
    ] {
        let (code, out, error) = replay_changed("plain_answer.jsonl", |_| change.to_owned());
        assert_eq!((code, out.as_str(), error.lines().count()), (Some(2), "", 1), "{error}");
        assert!(error.contains(expected) && !error.contains("canary"), "{error}");
    }
    let (code, _, error) =
        replay_changed("plain_answer.jsonl", |text| text.replace("\"line\":\"end\"", "\"line\":\"canary\""));
    assert!(code == Some(2) && error.contains("is not of the format") && !error.contains("canary"), "{error}");
}
