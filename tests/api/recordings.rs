//! Recordings and their replay: the recordings in `tests/recordings` are turns of this product, and each of them must
//! replay unchanged.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use recordings::{Speed, Verdict, replay};
use serde_json::{Value, json};
use support::{
    Completion, FakeTavily, MODEL_KEY, RECORDING_SCENARIOS, RECORDINGS_FOLDER, Reply, SEARCH_KEY, TestApp,
    list_recordings, record_scenario, search_call,
};
use tempfile::TempDir;

/// Replays a recording of a whole turn and asserts that the result is unchanged.
pub(crate) async fn assert_replays_unchanged(file: &Path) {
    let replayed = replay(file, Speed::Fast, |_| {}).await.unwrap();
    let verdict = replayed.verdict();
    assert!(matches!(verdict, Verdict::Same(_)), "{}: {:?} {verdict}", file.display(), replayed.remarks());
}

#[tokio::test]
async fn every_stored_recording_replays_unchanged() {
    let files = list_recordings(Path::new(RECORDINGS_FOLDER));
    assert!(files.len() >= RECORDING_SCENARIOS.len(), "recordings are missing");
    for file in files {
        assert_replays_unchanged(&file).await;
    }
}

#[tokio::test]
async fn every_scenario_records_and_replays_unchanged() {
    for scenario in RECORDING_SCENARIOS {
        let folder = TempDir::new().unwrap();
        assert_replays_unchanged(&record_scenario(scenario, folder.path()).await).await;
    }
}

#[tokio::test]
async fn recordings_are_readable_only_by_their_user() {
    let folder = TempDir::new().unwrap();
    let inner = folder.path().join("turns");
    let app = TestApp::start_with(&[("RECORD_TURNS", inner.to_str().unwrap())]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let id = app.send_message("一").await.conversation_id();
    app.follow_up(&id, "二").await;
    let files = list_recordings(&inner);
    assert_eq!(fs::read_dir(&inner).unwrap().count(), 2, "nothing else is left there");
    assert_eq!(files.len(), 2);
    for (path, expected) in [(&files[0], 0o600), (&inner, 0o700)] {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions());
        assert_eq!(mode & 0o777, expected, "{}", path.display());
    }
}

#[tokio::test]
async fn nothing_is_recorded_without_the_setting() {
    let app = TestApp::start_on_disk().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    app.send_message("一").await;
    assert_eq!(list_recordings(app.folder()), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn missing_recording_folder_fails_no_turn() {
    let folder = TempDir::new().unwrap();
    let inner = folder.path().join("turns");
    let app = TestApp::start_with(&[("RECORD_TURNS", inner.to_str().unwrap())]).await;
    fs::remove_dir(&inner).unwrap();
    app.model.queue_replies([Completion::of(["好。"])]);
    let turn = app.send_message("一").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好。", "stop"));
    assert!(!inner.exists());
}

/// The recording of a turn that `end` interrupts; `end` gets the conversation's id.
async fn record_interrupted_turn(end: impl AsyncFnOnce(&mut TestApp, String)) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let mut app = TestApp::start_with(&[("RECORD_TURNS", folder.path().to_str().unwrap())]).await;
    app.model.queue_replies([Completion::new().text("晴，").reply().stall()]);
    let mut turn = app.open(&json!({ "message": "天气" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    turn.read_until("content").await;
    end(&mut app, id).await;
    turn.read_to_end().await;
    let file = list_recordings(folder.path()).remove(0);
    (folder, file)
}

#[tokio::test]
async fn interrupted_turn_replays_up_to_interruption() {
    let (_deleted, deleted) = record_interrupted_turn(async |app, id| {
        app.delete(&format!("/api/conversations/{id}")).await;
    })
    .await;
    let (_stopped, stopped) = record_interrupted_turn(async |app, _| app.shut_down().await).await;
    for file in [deleted, stopped] {
        assert_replays_unchanged(&file).await;
    }
}

/// Replies that echo the keys: in an error, in an answer, split at many sizes, and in a search call.
fn key_echoes() -> Vec<Vec<Reply>> {
    let text = format!("your key is {MODEL_KEY} and {SEARCH_KEY}, {}", json!({ "key": MODEL_KEY }));
    let refusal = json!({ "error": { "message": text, "code": MODEL_KEY } });
    let answer = Completion::of([text.as_str(), "天气"]);
    let pieces = (1..40).step_by(3).map(|size| vec![answer.clone().in_chunks_of(size)]);
    let search = [Completion::of([search_call(&text)]), Completion::of(["好。"])];
    let refused = [Reply::json(500, &refusal).header("retry-after-ms", "1"), Completion::of(["好。"])];
    pieces.chain([vec![answer.clone()], search.into(), refused.into()]).collect()
}

#[tokio::test]
async fn f122_echoed_keys_are_in_no_recording() {
    for replies in key_echoes() {
        let folder = TempDir::new().unwrap();
        let app = TestApp::start_with(&[("RECORD_TURNS", folder.path().to_str().unwrap())]).await;
        app.model.queue_replies(replies);
        app.search.respond_with(|_| FakeTavily::error_reply(400, &format!("key {SEARCH_KEY} refused")));
        app.send_message("一").await;
        let file = list_recordings(folder.path()).remove(0);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("[key]"), "something was echoed");
        assert!(!text.contains(MODEL_KEY) && !text.contains(SEARCH_KEY), "{text}");
        let bodies = String::from_utf8_lossy(&joined_bodies(&text)).into_owned();
        assert!(!bodies.contains(MODEL_KEY) && !bodies.contains(SEARCH_KEY), "no key in pieces");
        assert_replays_unchanged(&file).await;
    }
}

/// All recorded body chunks, joined.
fn joined_bodies(recording: &str) -> Vec<u8> {
    let lines = recording.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let pieces = lines.filter(|line| line["line"] == "body").map(|line| match &line["base64"] {
        Value::String(base64) => STANDARD.decode(base64).unwrap(),
        _ => line["text"].as_str().unwrap().as_bytes().to_vec(),
    });
    pieces.flatten().collect()
}

/// The lines of a recording that are of a kind; the head has none.
fn lines_of(recording: &str, kind: Option<&str>) -> Vec<Value> {
    let lines = recording.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["line"].as_str() == kind).collect()
}

#[tokio::test]
async fn recorded_results_are_cut_at_their_limit() {
    let folder = TempDir::new().unwrap();
    let record = [("RECORD_TURNS", folder.path().to_str().unwrap()), ("RECORD_RESULTS", "500")];
    let app = TestApp::start_with(&record).await;
    let first = [Completion::of([search_call("北京天气")]), Completion::of(["晴[1]。"])];
    app.model.queue_replies(first.into_iter().chain([Completion::of(["不客气。"])]));
    app.search.respond_with(|_| {
        let page = json!({
            "title": "天气", "url": "https://example.com/1", "content": format!("{}canary", "晴".repeat(900)), "score": 0.9,
        });
        FakeTavily::search_reply_with("北京天气", &json!([page]), &json!("晴"))
    });
    let id = app.send_message("天气").await.conversation_id();
    app.follow_up(&id, "谢谢").await;
    assert!(app.model.requests()[1].body.to_string().contains("canary"), "the model reads all of it");
    let files = list_recordings(folder.path());
    assert_eq!(files.len(), 2);
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        assert!(!text.contains("canary"), "{text}");
        assert_eq!(lines_of(&text, None)[0]["resultChars"], 500);
        assert_replays_unchanged(file).await;
    }
    let calls = files.iter().flat_map(|file| lines_of(&fs::read_to_string(file).unwrap(), Some("tool")));
    let [call] = calls.collect::<Vec<_>>().try_into().unwrap();
    let content = call["result"]["content"].as_str().unwrap();
    assert_eq!((content.chars().count(), content.ends_with("晴…")), (501, true));
    assert!(call["result"]["wholeChars"].as_u64().unwrap() > 900);
}
