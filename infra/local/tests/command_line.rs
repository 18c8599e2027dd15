//! The program on the command line: messages and exit codes when it cannot start.

#![expect(clippy::unwrap_used, reason = "what a test stands on must hold, or the test has failed")]

use std::process::{Command, Output};

fn lambda_chat(arguments: &[&str], settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lambda-chat"));
    command.args(arguments).env_clear().envs(settings.iter().copied()).output().unwrap()
}

/// Runs a command that must fail with exit code 2, and returns its one-line error.
fn refusal(arguments: &[&str], settings: &[(&str, &str)]) -> String {
    let output = lambda_chat(arguments, settings);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!((said.lines().count(), output.stdout.len()), (1, 0), "{said}");
    said
}

#[test]
fn port_in_use_is_exit_code_2() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let said = refusal(&["--ephemeral", "--port", &port], &[]);
    assert!(said.contains(&format!("127.0.0.1:{port}")) && said.contains("--port"), "{said}");
}

#[test]
fn unusable_data_folder_is_exit_code_2() {
    let file = std::env::current_exe().unwrap();
    let folder = file.join("data");
    let said = refusal(&["--port", "0", "--data", folder.to_str().unwrap()], &[]);
    assert!(said.contains(folder.to_str().unwrap()) && said.contains("--data"), "{said}");
}

#[test]
fn unusable_recording_folder_is_exit_code_2() {
    let file = std::env::current_exe().unwrap();
    let folder = file.join("turns").to_str().unwrap().to_owned();
    let by_setting = refusal(&["--ephemeral", "--port", "0"], &[("RECORD_TURNS", &folder)]);
    let by_option = refusal(&["--ephemeral", "--port", "0", "--record", &folder], &[("RECORD_TURNS", "/")]);
    assert!(by_setting.contains(&folder) && by_setting.contains("--record"), "{by_setting}");
    assert_eq!(by_setting, by_option);
}

#[test]
fn f122_invalid_setting_is_named_without_its_value() {
    for (name, value) in [
        ("TURN_SECONDS", "canary"),
        ("MODELS", "[canary"),
        ("MODEL_OPTIONS", r#"{"canary":{}}"#),
        ("MODEL_OPTIONS", r#"{"volcano":{"effort":"canary"}}"#),
        ("CHAT_RATE_LIMIT", "canary/1s"),
    ] {
        let said = refusal(&["--ephemeral", "--port", "0"], &[(name, value)]);
        assert!(said.contains(name) && said.contains("expected") && !said.contains("canary"), "{said}");
    }
}

#[test]
fn f147_server_without_authentication_requires_loopback() {
    let said = refusal(&["--ephemeral", "--port", "0", "--host", "0.0.0.0"], &[]);
    assert!(said.contains("loopback"), "{said}");
}

#[test]
fn impossible_smoke_check_is_exit_code_2() {
    let keys = [("SMOKE_KEY", ""), ("OTHER", "canary")];
    let said = refusal(&["smoke", "https://chat.example", "--key-from", "SMOKE_KEY"], &keys);
    assert!(said.contains("SMOKE_KEY"), "{said}");
    let said = refusal(&["smoke", "http://chat.example", "--key-from", "OTHER"], &keys);
    assert!(said.contains("https://") && !said.contains("canary"), "{said}");
    assert!(refusal(&["smoke", "chat.example"], &keys).contains("https://"));
}

#[test]
fn unreachable_deployment_fails_every_smoke_check() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let output = lambda_chat(&["smoke", &format!("http://127.0.0.1:{port}")], &[]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().filter(|line| line.starts_with("FAILED")).count(), 7, "{said}");
}

#[test]
fn help_lists_commands_and_wrong_use_is_2() {
    let help = lambda_chat(&["--help"], &[]);
    assert!(help.status.success());
    let text = String::from_utf8(help.stdout).unwrap();
    assert!(
        ["--port", "--data", "--ephemeral", "--record", "keys", "users", "backup", "restore", "replay", "smoke"]
            .iter()
            .all(|word| text.contains(word)),
        "{text}"
    );
    assert_eq!(lambda_chat(&["dance"], &[]).status.code(), Some(2));
}
