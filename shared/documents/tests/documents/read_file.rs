use documents::{LineRange, read_lines};
use domain::{Membership, Owner};
use serde_json::json;

use crate::support::{Documents, context_of};

#[tokio::test]
async fn lines_are_numbered_from_the_offset() {
    let documents = Documents::new(&[("notes/a.md", b"one\r\ntwo\n\nfour")]);
    let read = documents.call("read_file", json!({"file_path": "notes/a.md"})).await.unwrap();
    let expected =
        json!({"content": "1:one\n2:two\n3:\n4:four", "lineCount": 4, "totalLines": 4, "filePath": "notes/a.md"});
    assert_eq!(read, expected);
    let read =
        documents.call("read_file", json!({"file_path": "./notes//a.md", "offset": 1, "limit": 2})).await.unwrap();
    let note = "There is more: continue with offset 3.";
    let expected =
        json!({"content": "2:two\n3:", "lineCount": 2, "totalLines": 4, "filePath": "notes/a.md", "note": note});
    assert_eq!(read, expected);
    let beyond = documents.call("read_file", json!({"file_path": "notes/a.md", "offset": 9})).await.unwrap();
    assert_eq!((&beyond["content"], &beyond["lineCount"], &beyond["totalLines"]), (&json!(""), &json!(0), &json!(4)));
}

#[tokio::test]
async fn lines_and_their_characters_are_limited_to_2000() {
    let text = format!("{}\n{}", "汉".repeat(2500), "x\n".repeat(2999));
    let documents = Documents::new(&[("a.md", text.as_bytes())]);
    let read = documents.call("read_file", json!({"file_path": "a.md", "limit": 5000})).await.unwrap();
    assert_eq!((&read["lineCount"], &read["totalLines"]), (&json!(2000), &json!(3000)));
    let content = read["content"].as_str().unwrap();
    assert_eq!(content.lines().next().unwrap(), format!("1:{}", "汉".repeat(2000)));
    assert!(content.ends_with("\n2000:x"));
    assert_eq!(read["note"], "There is more: continue with offset 2000. Overlong lines are cut.");
}

#[tokio::test]
async fn result_budget_cuts_between_lines() {
    let text = "0123456789\n".repeat(1000);
    let documents = Documents::new(&[("a.md", text.as_bytes())]);
    let read = documents.call_in("read_file", json!({"file_path": "a.md"}), &context_of(1500)).await.unwrap();
    let count = read["lineCount"].as_u64().unwrap();
    assert!((40..120).contains(&count), "{count}");
    assert!(read["note"].as_str().unwrap().contains(&format!("offset {count}")));
}

#[tokio::test]
async fn empty_file_has_no_lines() {
    let documents = Documents::new(&[("a.md", b"")]);
    let read = documents.call("read_file", json!({"file_path": "a.md"})).await.unwrap();
    assert_eq!(read, json!({"content": "", "lineCount": 0, "totalLines": 0, "filePath": "a.md"}));
}

#[tokio::test]
async fn folder_is_refused_with_the_right_tool() {
    let documents = Documents::new(&[("notes/a.md", b"x")]);
    let error = documents.call("read_file", json!({"file_path": "notes"})).await.unwrap_err();
    assert!(error.contains("list it with list_directory"), "{error}");
    assert!(documents.call("read_file", json!({"file_path": "."})).await.unwrap_err().contains("list_directory"));
}

#[tokio::test]
async fn client_reads_exactly_the_lines_of_a_range() {
    let documents = Documents::new(&[("a.md", b"one\r\ntwo\nthree")]);
    let owner = Owner::new("ada");
    let lines = async |range| {
        read_lines(&documents.source, (&owner, &Membership::default()), "a.md", LineRange::parse(range).unwrap()).await
    };
    assert_eq!(lines("2-3").await.as_deref(), Ok("two\nthree\n"));
    assert_eq!(lines("1").await.as_deref(), Ok("one\n"));
    assert_eq!(lines("9-12").await.as_deref(), Ok(""));
}
