//! The program as its own process, while the servers of the test run in this one.

use std::process::{Child, Command, Stdio};

use support::with_timeout;

/// What a run of the program left.
#[derive(Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) exit_code: Option<i32>,
    pub(crate) output: String,
    pub(crate) errors: String,
}

/// Runs the program with these settings alone; times and ports in its output are replaced by `N`.
pub(crate) async fn run(arguments: &[&str], settings: &[(&str, &str)]) -> Run {
    finish(start(arguments, settings)).await
}

/// Starts the program with these settings alone.
pub(crate) fn start(arguments: &[&str], settings: &[(&str, &str)]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lambda-chat"));
    command.args(arguments).env_clear().envs(settings.iter().copied());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for the end of the program.
pub(crate) async fn finish(program: Child) -> Run {
    let output = tokio::task::spawn_blocking(move || program.wait_with_output().unwrap());
    let output = with_timeout("the program to end", output).await.unwrap();
    let text = |bytes: Vec<u8>| hide_numbers(&String::from_utf8(bytes).unwrap());
    Run { exit_code: output.status.code(), output: text(output.stdout), errors: text(output.stderr) }
}

/// Replaces ports, and times with one decimal.
fn hide_numbers(text: &str) -> String {
    let port_hidden = text.split("127.0.0.1:").enumerate().map(|(index, part)| match index {
        0 => part.to_owned(),
        _ => format!("127.0.0.1:N{}", part.trim_start_matches(|digit: char| digit.is_ascii_digit())),
    });
    let text = port_hidden.collect::<String>();
    let parts: Vec<&str> = text.split(" s").collect();
    let last = parts.len() - 1;
    let hidden =
        parts.iter().enumerate().map(|(index, part)| if index == last { (*part).to_owned() } else { hide_time(part) });
    hidden.collect::<Vec<_>>().join(" s")
}

/// Replaces a time at the end of a text.
fn hide_time(text: &str) -> String {
    let start = text.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let number = &text[start.len()..];
    if number.contains('.') && number.len() > 2 { format!("{start}N") } else { text.to_owned() }
}

#[test]
fn only_times_and_ports_are_hidden() {
    let text = "127.0.0.1:80 after 12.5 s, 5 s. 1.5 x, 3.0 s";
    assert_eq!(hide_numbers(text), "127.0.0.1:N after N s, 5 s. 1.5 x, N s");
}
