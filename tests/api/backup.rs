//! A copy of the local server's folder, made while the server is down, is a backup.

use std::fs;
use std::path::Path;

use serde_json::json;
use support::{Completion, TestApp};

/// Replaces the files of one folder by copies of another folder's files.
fn replace_folder(from: &Path, to: &Path) {
    let _absent = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

#[tokio::test]
async fn restored_folder_reads_as_before_the_damage() {
    let mut app = TestApp::start_on_disk().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let id = app.send_message("问").await.conversation_id();
    app.follow_up(&id, "又问").await;
    let before = (app.conversation(&id).await, app.get("/api/usage").await.ok());
    app.shut_down().await;
    let (folder, backup) = (app.folder().to_owned(), tempfile::tempdir().unwrap());
    replace_folder(&folder, backup.path());

    app.restart().await;
    let later = app.send_message("后来").await.conversation_id();
    assert_eq!(app.delete(&format!("/api/conversations/{id}")).await.status, 204);
    app.shut_down().await;
    fs::write(folder.join("damage"), "x").unwrap();
    replace_folder(backup.path(), &folder);

    app.restart().await;
    assert_eq!((app.conversation(&id).await, app.get("/api/usage").await.ok()), before);
    assert_eq!(app.get(&format!("/api/conversations/{later}")).await.status, 404, "it came after the backup");
    assert_eq!(app.follow_up(&id, "还在吗").await.content(), "好。", "and it goes on");
    let list = app.get("/api/conversations").await.ok();
    assert_eq!(list["conversations"].as_array().map(Vec::len), Some(1), "{}", json!(list));
}
