//! The hidden command that reads a file, within limits.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// What the command writes for a file of these tests.
fn read(file_type: &str, name: &str) -> Output {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    let mut reader = Command::new(env!("CARGO_BIN_EXE_lambda-chat"));
    reader.args(["read-file", &format!("[\"{file_type}\",1000]")]).env_clear().env("MIMALLOC_ARENA_RESERVE", "0");
    // The processor time of the process is limited too.
    reader.stdin(std::fs::File::open(path).unwrap()).stdout(Stdio::piped()).output().unwrap()
}

fn result(file_type: &str, name: &str) -> Value {
    let output = read(file_type, name);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn documents_are_read_by_the_program() {
    let pdf = &result("Pdf", "models/pdf/two-pages.pdf")["Ok"];
    assert_eq!((&pdf["title"], &pdf["pages"], &pdf["truncated"]), (&json!("Refund policy"), &json!(2), &json!(false)));
    assert!(pdf["text"].as_str().unwrap().contains('\u{c}'), "{pdf}");
    let text = "# Prices\nCity,\"Price, net\",Since,Share\n巴黎,150.5,2026-03-01,0.25\n\"Oslo \"\"north\"\"\",90,2026-03-02 08:30:00\n\
        merged\ntrue\n,,,,,,,far\u{c}# 空 Empty\n\u{c}# Chart\n\u{c}# Hidden\n,hidden text";
    let workbook = json!({ "title": "Price list", "text": text, "pages": 4, "truncated": false });
    assert_eq!(result("Xlsx", "process/prices.xlsx"), json!({ "Ok": workbook }));
}

#[test]
fn failures_are_results_of_the_program() {
    assert_eq!(result("Pdf", "models/pdf/encrypted.pdf"), json!({ "Err": "Encrypted" }));
    assert_eq!(result("Pdf", "models/pdf/scanned.pdf"), json!({ "Err": "NoText" }));
    assert!(result("Docx", "process/prices.xlsx")["Err"]["Damaged"].is_string());
    assert!(!read("Unknown", "process/prices.xlsx").status.success());
}

#[test]
fn memory_of_the_reader_is_limited() {
    let output = read("Pdf", "models/pdf/unpacks-to-700-mb.pdf");
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("memory allocation of"), "{errors}");
}
