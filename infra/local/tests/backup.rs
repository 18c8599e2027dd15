//! `lambda-chat backup` and `restore` on the command line, while a server runs.

#![expect(clippy::unwrap_used, reason = "what a test stands on must hold, or the test has failed")]

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use local::{Data, Options, Server};
use platform::settings::Settings;
use serde_json::{Value, json};
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
        (answer.status().as_u16(), serde_json::from_str(&answer.text().await.unwrap()).unwrap())
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
async fn restore_repairs_data_while_the_server_runs() {
    let (data, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let ada = run_successfully(data.path(), &["keys", "create", "--user", "ada"]).await;
    let bob = run_successfully(data.path(), &["keys", "create", "--user", "bob"]).await;
    let ada = Chat::over(data.path(), ada.trim()).await;
    let bob = Chat { server: ada.server, client: ada.client.clone(), key: bob.trim().to_owned() };
    bob.send_message(None, "你好").await;
    let bobs = bob.all().await;
    let ada = Chat { key: ada.key, ..bob };
    let id = ada.send_message(None, "你好").await;
    ada.send_message(Some(&id), "还有呢").await;
    let before = ada.all().await;
    let (backup, name) = file(&files, "all.jsonl");
    run_successfully(data.path(), &["backup", "--out", &name]).await;
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&backup).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(!fs::read_to_string(&backup).unwrap().contains(&ada.key), "hashes of keys alone");

    assert_eq!(ada.delete(&format!("/api/conversations/{id}")).await, 204);
    run_successfully(data.path(), &["users", "delete", "bob"]).await;
    let would = run_successfully(data.path(), &["restore", &name, "--dry-run"]).await;
    assert_eq!(ada.get(&format!("/api/conversations/{id}")).await.0, 404);
    let output = run_successfully(data.path(), &["restore", &name]).await;
    assert_eq!(would, format!("nothing is written; it would be: {output}"));
    assert_eq!(ada.all().await, before);
    assert_eq!(
        run_successfully(data.path(), &["restore", &name]).await,
        "0 written, 0 written over, 15 already there, 0 kept as they are, 0 left out\n"
    );
    ada.server.shut_down().await;

    let other_data = TempDir::new().unwrap();
    let output = run_successfully(other_data.path(), &["restore", &name]).await;
    assert_eq!(output, "15 written, 0 written over, 0 already there, 0 kept as they are, 0 left out\n");
    let ada = Chat::over(other_data.path(), &ada.key).await;
    assert_eq!(ada.all().await, before);
    let bob = Chat { key: bob.key, ..ada };
    assert_eq!(bob.all().await, bobs);
    bob.server.shut_down().await;
}

#[tokio::test]
async fn backup_during_turns_restores_usable_conversations() {
    let (data, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let chat = Chat::over(data.path(), "").await;
    let ids = futures_util::future::join_all((0..6).map(|_| chat.send_message(None, "你好"))).await;
    let talks = futures_util::future::join_all(ids.iter().map(|id| chat.send_message(Some(id), "还有呢")));
    let (backup, name) = file(&files, "all.jsonl");
    let arguments = ["backup", "--out", &name];
    let _ = tokio::join!(talks, run_successfully(data.path(), &arguments));
    chat.server.shut_down().await;
    let other_data = TempDir::new().unwrap();
    run_successfully(other_data.path(), &["restore", backup.to_str().unwrap()]).await;
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

#[tokio::test]
async fn backup_can_be_piped_and_never_overwrites() {
    let (data, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    run_successfully(data.path(), &["keys", "create", "--user", "ada"]).await;
    let (code, out, error) = lambda_chat(data.path(), &["backup", "--out", "-"]).await;
    assert_eq!((code, error.as_str()), (0, "backed up 1 items of the table lambda-chat-data\n"));
    let (_, name) = file(&files, "piped.jsonl");
    fs::write(&name, out).unwrap();
    let output = run_successfully(data.path(), &["restore", &name, "--without-keys"]).await;
    assert_eq!(output, "0 written, 0 written over, 0 already there, 0 kept as they are, 1 left out\n");
    let error = run_failing(data.path(), &["backup", "--out", &name], 2).await;
    assert!(error.contains("exists") && error.contains(&name), "{error}");
}

#[tokio::test]
async fn empty_table_leaves_no_backup_file() {
    let (data, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (_, name) = file(&files, "all.jsonl");
    let error = run_failing(data.path(), &["backup", "--out", &name], 1).await;
    assert!(error.contains("nothing"), "{error}");
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[tokio::test]
async fn stopped_backup_leaves_no_file() {
    use std::process::Stdio;
    use std::time::Duration;

    use rustix::process::{Pid, Signal, kill_process};
    use tokio::net::TcpListener;

    let (files, silent) = (TempDir::new().unwrap(), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let (_, name) = file(&files, "all.jsonl");
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_lambda-chat"));
    command.args(["backup", "--out", &name]).env_clear().env("AWS_ENDPOINT_URL_DYNAMODB", endpoint);
    let backup = command.stderr(Stdio::piped()).spawn().unwrap();
    // It has connected, so it has created its draft file, and waits.
    let _connection = tokio::time::timeout(Duration::from_secs(20), silent.accept()).await.unwrap().unwrap();
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 1);
    kill_process(Pid::from_child(&backup), Signal::INT).unwrap();
    let Output { status, stderr, .. } = backup.wait_with_output().unwrap();
    assert_eq!((status.code(), String::from_utf8(stderr).unwrap().as_str()), (Some(1), "lambda-chat: stopped\n"));
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn invalid_backup_is_one_line_without_writes() {
    let (data, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    run_successfully(data.path(), &["keys", "create", "--user", "olga_the_user"]).await;
    let (_, whole) = file(&files, "whole.jsonl");
    run_successfully(data.path(), &["backup", "--out", &whole]).await;
    let whole = fs::read(&whole).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    let cases: [(&[u8], &str); 6] = [
        (b"", "no backup"),
        (b"\x1f\x8b\x08\x00\xff", "unpack"),
        (&whole[..whole.len() / 2], "cut"),
        (text.lines().next().unwrap().as_bytes(), "cut"),
        (&text.replace("\"form\":1", "\"form\":2").into_bytes(), "form 2"),
        (&text.replace("\"K\"", "\"Q\"").into_bytes(), "line 2"),
    ];
    let empty = TempDir::new().unwrap();
    for (number, (bytes, why)) in cases.into_iter().enumerate() {
        let (file, name) = file(&files, &format!("{number}.jsonl"));
        fs::write(file, bytes).unwrap();
        let error = run_failing(empty.path(), &["restore", &name, "--replace"], 2).await;
        assert!(error.contains(&name) && error.contains(why) && !error.contains("olga_the_user"), "{error}");
    }
    for name in ["-", files.path().to_str().unwrap()] {
        assert!(run_failing(empty.path(), &["restore", name], 2).await.contains("a file is accepted"));
    }
    run_failing(empty.path(), &["restore", "/nowhere/x"], 1).await;
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "the store was not even opened");
}

#[tokio::test]
async fn too_long_line_is_rejected() {
    let files = TempDir::new().unwrap();
    let (path, name) = file(&files, "long.jsonl");
    fs::write(path, vec![b'x'; 8 * 1024 * 1024]).unwrap();
    assert!(run_failing(files.path(), &["restore", &name], 2).await.contains("longer line"));
}
