//! `lambda-chat backup` and `restore` on the command line.

#![expect(clippy::unwrap_used, reason = "what a test stands on must hold, or the test has failed")]

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use platform::settings::Settings;
use serde_json::{Value, json};
use server::{Data, Options, Server};
use tempfile::TempDir;

/// Runs the program on a data folder; returns its exit code, standard output and error stream.
async fn lambda_chat(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lambda-chat"));
    command.args(arguments).arg("--data").arg(folder).env_clear();
    let Output { status, stdout, stderr } =
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// Runs a command that must succeed, and returns its output.
async fn run_successfully(folder: &Path, arguments: &[&str]) -> String {
    let (code, out, error) = lambda_chat(folder, arguments).await;
    assert_eq!(code, 0, "{error}");
    out
}

/// Runs a command that must fail, and returns its one-line error.
async fn run_failing(folder: &Path, arguments: &[&str], code: i32) -> String {
    let (exit, out, error) = lambda_chat(folder, arguments).await;
    assert_eq!((exit, out.as_str(), error.lines().count()), (code, "", 1), "{error}");
    error
}

/// The product with its demo model on a folder, and a client.
struct Chat {
    server: Server,
    client: platform::transport::Client,
    key: String,
}

impl Chat {
    async fn over(folder: &Path, key: &str) -> Self {
        let auth = if key.is_empty() { "none" } else { "api_key" };
        let options = Options {
            host: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            data: Data::Folder(folder.to_owned()),
            dynamodb: None,
            settings: Settings::from_pairs([("AUTH", auth), ("CHAT_RATE_LIMIT", "100000/60s")]),
        };
        let server = Box::pin(Server::start(options)).await.unwrap();
        Self { server, client: platform::transport::build_client().unwrap(), key: key.to_owned() }
    }

    async fn send_message(&self, conversation: Option<&str>, message: &str) -> String {
        let mut body = json!({ "message": message, "stream": false });
        if let Some(id) = conversation {
            body["conversationId"] = id.into();
        }
        let request = self.client.post(format!("{}/api/chat", self.server.url())).header("x-api-key", &self.key);
        let answer = request.json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        answer["conversationId"].as_str().unwrap().to_owned()
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        let request = self.client.get(format!("{}{path}", self.server.url())).header("x-api-key", &self.key);
        let answer = request.send().await.unwrap();
        // The demo's pages are at the address of the server.
        let (status, text) =
            (answer.status().as_u16(), answer.text().await.unwrap().replace(&self.server.url(), "server"));
        (status, serde_json::from_str(&text).unwrap())
    }

    async fn delete(&self, path: &str) -> u16 {
        let url = format!("{}{path}", self.server.url());
        let request = self.client.request(reqwest::Method::DELETE, url).header("x-api-key", &self.key);
        request.send().await.unwrap().status().as_u16()
    }

    /// Everything that the caller can read.
    async fn all(&self) -> Vec<(u16, Value)> {
        let mut all = vec![self.get("/api/conversations").await, self.get("/api/usage").await];
        let listed = all[0].1["conversations"].as_array().into_iter().flatten();
        let ids: Vec<String> = listed.map(|one| one["id"].as_str().unwrap().to_owned()).collect();
        for id in ids {
            all.push(self.get(&format!("/api/conversations/{id}")).await);
        }
        all
    }
}

fn file(folder: &TempDir, name: &str) -> (PathBuf, String) {
    let file = folder.path().join(name);
    let text = file.to_str().unwrap().to_owned();
    (file, text)
}

#[tokio::test]
async fn copy_of_running_server_restores_everything() {
    let (data, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let ada = run_successfully(data.path(), &["keys", "create", "--user", "ada"]).await;
    let ada = Chat::over(data.path(), ada.trim()).await;
    let id = ada.send_message(None, "你好").await;
    ada.send_message(Some(&id), "还有呢").await;
    let before = ada.all().await;
    let (backup, name) = file(&files, "all.sqlite");
    run_successfully(data.path(), &["backup", &name]).await;
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&backup).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(ada.delete(&format!("/api/conversations/{id}")).await, 204);
    let error = run_failing(data.path(), &["restore", &name], 2).await;
    assert!(error.contains("stop it first"), "{error}");
    ada.server.shut_down().await;
    let error = run_failing(data.path(), &["restore", &name], 2).await;
    assert!(error.contains("exists; name an empty folder"), "{error}");

    let other_data = TempDir::new().unwrap();
    run_successfully(other_data.path(), &["restore", &name]).await;
    let ada = Chat::over(other_data.path(), &ada.key).await;
    assert_eq!(ada.all().await, before);
    ada.server.shut_down().await;
}

#[tokio::test]
async fn backup_during_turns_restores_usable_conversations() {
    let (data, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let chat = Chat::over(data.path(), "").await;
    let ids = futures_util::future::join_all((0..6).map(|_| chat.send_message(None, "你好"))).await;
    let talks = futures_util::future::join_all(ids.iter().map(|id| chat.send_message(Some(id), "还有呢")));
    let (_, name) = file(&files, "all.sqlite");
    let arguments = ["backup", &name];
    let _ = tokio::join!(talks, run_successfully(data.path(), &arguments));
    chat.server.shut_down().await;
    let other_data = TempDir::new().unwrap();
    run_successfully(other_data.path(), &["restore", &name]).await;
    let chat = Chat::over(other_data.path(), "").await;
    let conversations = chat.all().await.split_off(2);
    assert_eq!(conversations.len(), ids.len());
    for (status, answer) in conversations {
        let (head, messages) = (&answer["conversation"], answer["messages"].as_array().unwrap());
        assert_eq!((status, json!(messages.len())), (200, head["messageCount"].clone()), "{answer}");
        // Skip a conversation whose restored lease has not expired yet.
        if messages.last().unwrap()["status"] != "running" {
            chat.send_message(head["id"].as_str(), "好").await;
        }
    }
    chat.server.shut_down().await;
}

/// What a process that died has left: the main file and a log that holds the newest data.
#[tokio::test]
async fn backup_alone_recovers_log_of_killed_server() {
    let (data, copied, files) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let chat = Chat::over(data.path(), "").await;
    chat.send_message(None, "你好").await;
    let before = chat.all().await;
    for name in ["dynamodb.sqlite", "dynamodb.sqlite-wal"] {
        fs::copy(data.path().join(name), copied.path().join(name)).unwrap();
    }
    chat.server.shut_down().await;
    assert!(fs::metadata(copied.path().join("dynamodb.sqlite-wal")).unwrap().len() > 0, "the log has the data");
    let (_, name) = file(&files, "all.sqlite");
    run_successfully(copied.path(), &["backup", &name]).await;
    let restored = TempDir::new().unwrap();
    run_successfully(restored.path(), &["restore", &name]).await;
    let chat = Chat::over(restored.path(), "").await;
    assert_eq!(chat.all().await, before);
    chat.server.shut_down().await;
}

#[tokio::test]
async fn backup_never_overwrites_and_needs_a_database() {
    let (data, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (_, name) = file(&files, "all.sqlite");
    let error = run_failing(data.path(), &["backup", &name], 1).await;
    assert!(error.contains("there is no database"), "{error}");
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 0);
    run_successfully(data.path(), &["keys", "create", "--user", "ada"]).await;
    fs::write(&name, "mine").unwrap();
    let error = run_failing(data.path(), &["backup", &name], 2).await;
    assert!(error.contains("exists") && error.contains(&name), "{error}");
    assert_eq!(fs::read_to_string(&name).unwrap(), "mine");
}

#[tokio::test]
async fn damaged_database_leaves_no_backup() {
    let (data, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    run_successfully(data.path(), &["keys", "create", "--user", "ada"]).await;
    let database = data.path().join("dynamodb.sqlite");
    let mut bytes = fs::read(&database).unwrap();
    bytes.iter_mut().skip(4096).for_each(|byte| *byte = 0xA5);
    fs::write(&database, bytes).unwrap();
    let (_, name) = file(&files, "all.sqlite");
    let error = run_failing(data.path(), &["backup", &name], 1).await;
    assert!(error.contains("cannot be copied"), "{error}");
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn other_file_is_not_restored() {
    let (data, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let earlier: &[u8] = br#"{"backup":{"form":1,"table":"data"}}"#;
    let cases: [(&[u8], &str); 4] = [
        (b"", "not a copy"),
        (b"olga_the_user", "not a copy"),
        (earlier, "earlier release"),
        (b"\x1f\x8b\x08\x00\xff", "earlier release"),
    ];
    for (number, (bytes, why)) in cases.into_iter().enumerate() {
        let (path, name) = file(&files, &number.to_string());
        fs::write(path, bytes).unwrap();
        let error = run_failing(data.path(), &["restore", &name], 2).await;
        assert!(error.contains(&name) && error.contains(why) && !error.contains("olga_the_user"), "{error}");
    }
    assert!(run_failing(data.path(), &["restore", files.path().to_str().unwrap()], 2).await.contains("a file"));
    run_failing(data.path(), &["restore", "/nowhere/x"], 1).await;
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0, "nothing was made");
}

#[tokio::test]
async fn stale_log_of_missing_database_is_kept() {
    let (data, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    run_successfully(data.path(), &["keys", "create", "--user", "ada"]).await;
    let (_, name) = file(&files, "all.sqlite");
    run_successfully(data.path(), &["backup", &name]).await;
    fs::remove_file(data.path().join("dynamodb.sqlite")).unwrap();
    let log = data.path().join("dynamodb.sqlite-wal");
    fs::write(&log, "older").unwrap();
    let error = run_failing(data.path(), &["restore", &name], 2).await;
    assert!(error.contains("dynamodb.sqlite-wal exists"), "{error}");
    fs::remove_file(&log).unwrap();
    run_successfully(data.path(), &["restore", &name]).await;
    assert!(run_successfully(data.path(), &["keys", "list"]).await.contains("ada"));
}
