//! The program on the command line: messages and exit codes when it cannot start.

#![expect(clippy::unwrap_used, reason = "what a test stands on must hold, or the test has failed")]

use std::process::{Command, Output};

fn lambda_chat(arguments: &[&str], settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lambda-chat"));
    command.args(arguments).env_clear().envs(settings.iter().copied()).output().unwrap()
}

/// Runs a command that must fail with exit code 2, and returns its one-line error.
fn run_failing(arguments: &[&str], settings: &[(&str, &str)]) -> String {
    run_with_code(2, arguments, settings)
}

fn run_with_code(code: i32, arguments: &[&str], settings: &[(&str, &str)]) -> String {
    let output = lambda_chat(arguments, settings);
    let output_text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{output_text}");
    assert_eq!((output_text.lines().count(), output.stdout.len()), (1, 0), "{output_text}");
    output_text
}

#[test]
fn port_in_use_is_exit_code_2() {
    let occupied = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = occupied.local_addr().unwrap().port().to_string();
    let output_text = run_failing(&["--ephemeral", "--port", &port], &[]);
    assert!(output_text.contains(&format!("127.0.0.1:{port}")) && output_text.contains("--port"), "{output_text}");
}

#[test]
fn unusable_data_folder_is_exit_code_2() {
    let file = std::env::current_exe().unwrap();
    let folder = file.join("data");
    let output_text = run_failing(&["--port", "0", "--data", folder.to_str().unwrap()], &[]);
    assert!(output_text.contains(folder.to_str().unwrap()) && output_text.contains("--data"), "{output_text}");
}

#[test]
fn unusable_recording_folder_is_exit_code_2() {
    let file = std::env::current_exe().unwrap();
    let folder = file.join("turns").to_str().unwrap().to_owned();
    let by_setting = run_failing(&["--ephemeral", "--port", "0"], &[("RECORD_TURNS", &folder)]);
    let by_option = run_failing(&["--ephemeral", "--port", "0", "--record", &folder], &[("RECORD_TURNS", "/")]);
    assert!(by_setting.contains(&folder) && by_setting.contains("--record"), "{by_setting}");
    assert_eq!(by_setting, by_option);
}

#[test]
fn invalid_recorded_results_limit_is_exit_code_2() {
    let output_text = run_failing(&["--ephemeral", "--port", "0", "--record", "x"], &[("RECORD_RESULTS", "canary")]);
    assert!(output_text.contains("RECORD_RESULTS: expected a whole number from 1 to 1000000"), "{output_text}");
    assert!(!output_text.contains("canary"));
}

#[test]
fn unusable_document_folder_is_exit_code_2() {
    let file = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let missing = format!("{file}/canary");
    for folder in [&file, &missing] {
        let by_option = run_failing(&["--ephemeral", "--port", "0", "--documents", folder], &[]);
        let by_setting = run_failing(&["--ephemeral", "--port", "0"], &[("DOCUMENTS_DIR", folder)]);
        let accepted = "expected the path of a folder that exists and can be read, or s3://BUCKET/PREFIX";
        assert_eq!(by_option.trim_end(), format!("lambda-chat: --documents: {accepted}"));
        assert_eq!(by_setting.trim_end(), format!("lambda-chat: DOCUMENTS_DIR: {accepted}"));
    }
}

#[test]
fn f122_invalid_setting_is_named_without_its_value() {
    for (name, value) in [
        ("TURN_SECONDS", "canary"),
        ("MODELS", "[canary"),
        ("MODEL_OPTIONS", r#"{"canary":{}}"#),
        ("MODEL_OPTIONS", r#"{"volcano":{"effort":"canary"}}"#),
        ("CHAT_RATE_LIMIT", "canary/1s"),
        ("RESPONSE_MODE", "canary"),
        ("AUTH_NONE_ON_LAMBDA", "canary"),
    ] {
        let output_text = run_failing(&["--ephemeral", "--port", "0"], &[(name, value)]);
        assert!(
            output_text.contains(name) && output_text.contains("expected") && !output_text.contains("canary"),
            "{output_text}"
        );
    }
}

#[test]
fn f147_server_without_authentication_requires_loopback() {
    let output_text = run_failing(&["--ephemeral", "--port", "0", "--host", "0.0.0.0"], &[]);
    assert!(output_text.contains("loopback"), "{output_text}");
}

#[test]
fn impossible_smoke_check_is_exit_code_2() {
    let keys = [("SMOKE_KEY", ""), ("OTHER", "canary")];
    let output_text = run_failing(&["smoke", "https://chat.example", "--key-from", "SMOKE_KEY"], &keys);
    assert!(output_text.contains("SMOKE_KEY"), "{output_text}");
    let output_text = run_failing(&["smoke", "http://chat.example", "--key-from", "OTHER"], &keys);
    assert!(output_text.contains("https://") && !output_text.contains("canary"), "{output_text}");
    assert!(run_failing(&["smoke", "chat.example"], &keys).contains("https://"));
}

#[test]
fn unreachable_deployment_is_exit_code_1_with_cause() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // It answers the first bytes of TLS with another protocol.
    let answering = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut client, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    let tls = run_with_code(1, &["smoke", &format!("https://{address}")], &[]);
    answering.join().unwrap();
    assert!(tls.contains(&format!("https://{address}: ")) && tls.contains("no connection (TLS: "), "{tls}");
    let refused = run_with_code(1, &["smoke", &format!("http://{address}")], &[]);
    assert!(refused.contains("tcp connect error: Connection refused"), "{refused}");
    // A label of a name has 63 characters at most, so no resolver is queried.
    let unknown = run_with_code(1, &["smoke", &format!("http://{}.invalid", "a".repeat(64))], &[]);
    assert!(unknown.contains("no connection (dns error"), "{unknown}");
    let output = lambda_chat(&["health", &format!("http://{address}")], &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("Connection refused"));
}

#[test]
fn completions_are_scripts_of_the_shell() {
    for (shell, part) in
        [("bash", "complete -F "), ("zsh", "#compdef lambda-chat"), ("fish", "complete -c lambda-chat")]
    {
        let output = lambda_chat(&["completions", shell], &[]);
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && script.contains(part) && script.contains("evaluate"), "{shell}: {script}");
    }
}

#[test]
fn help_lists_commands_and_wrong_use_is_2() {
    let help = lambda_chat(&["--help"], &[]);
    assert!(help.status.success());
    let text = String::from_utf8(help.stdout).unwrap();
    assert!(
        [
            "--port",
            "--data",
            "--ephemeral",
            "--record",
            "--documents",
            "keys",
            "users",
            "articles",
            "backup",
            "restore",
            "replay",
            "smoke",
            "check",
            "evaluate",
            "health",
            "completions",
            "environment variables",
            "docs/reference/settings.md"
        ]
        .iter()
        .all(|option| text.contains(option)),
        "{text}"
    );
    assert_eq!(lambda_chat(&["dance"], &[]).status.code(), Some(2));
}
