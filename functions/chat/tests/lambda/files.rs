//! The binary as the process that reads a file.

use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn binary_reads_a_file_and_ends() {
    let mut reader = Command::new(env!("CARGO_BIN_EXE_chat"));
    reader.args(["read-file", "[\"Html\",1000]"]).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = reader.spawn().unwrap();
    process.stdin.take().unwrap().write_all(b"<title>Tea</title><p>a <b>b</b>").unwrap();
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success());
    let expected = r#"{"Ok":{"title":"Tea","text":"a b","pages":null,"truncated":false}}"#;
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}
