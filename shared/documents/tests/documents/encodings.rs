use documents::{LineRange, read_lines};
use domain::{Membership, Owner};
use encoding_rs::{GBK, WINDOWS_1252};
use serde_json::json;

use crate::support::Documents;

const CHINESE: &str = "会议纪要\n本季度的预算是三百万元，由财务部门负责审核。\n下一次会议在星期五举行。\n";
const FRENCH: &str = "Procès-verbal\nLe budget de l'été a été approuvé à l'unanimité.\nÀ bientôt\n";

fn utf16(text: &str, big_endian: bool) -> Vec<u8> {
    let unit = |unit: u16| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
    ['\u{FEFF}'].into_iter().chain(text.chars()).collect::<String>().encode_utf16().flat_map(unit).collect()
}

fn documents() -> Documents {
    let gbk = GBK.encode(CHINESE).0.into_owned();
    let latin = WINDOWS_1252.encode(FRENCH).0.into_owned();
    let marked = format!("\u{FEFF}{CHINESE}");
    Documents::new(&[
        ("utf8.md", CHINESE.as_bytes()),
        ("marked.md", marked.as_bytes()),
        ("gbk.txt", &gbk),
        ("latin.txt", &latin),
        ("utf16le.txt", &utf16(CHINESE, false)),
        ("utf16be.txt", &utf16(CHINESE, true)),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR budget \xe9\xa2\x84\xe7\xae\x97"),
        ("late.bin", &[CHINESE.as_bytes(), &[0; 16]].concat()),
    ])
}

#[tokio::test]
async fn text_in_every_encoding_is_searched() {
    let documents = documents();
    let found = documents.call("grep_search", json!({"pattern": "^本季度的预算"})).await.unwrap();
    let line = "2:本季度的预算是三百万元，由财务部门负责审核。";
    let files = ["utf8.md", "marked.md", "gbk.txt", "utf16le.txt", "utf16be.txt"];
    assert_eq!(found["matches"], json!(files.map(|file| json!({"file": file, "lines": [line]}))));
    let found = documents.call("grep_search", json!({"pattern": "^À|été a été"})).await.unwrap();
    let lines = json!(["2:Le budget de l'été a été approuvé à l'unanimité.", "3:À bientôt"]);
    assert_eq!(found["matches"], json!([{"file": "latin.txt", "lines": lines}]));
    let first = documents.call("grep_search", json!({"pattern": "^会议纪要$"})).await.unwrap();
    assert_eq!(first["count"], 5, "a mark is no part of the first line");
}

#[tokio::test]
async fn text_in_every_encoding_is_read() {
    let documents = documents();
    for file in ["utf8.md", "marked.md", "gbk.txt", "utf16le.txt", "utf16be.txt"] {
        let read = documents.call("read_file", json!({"file_path": file, "limit": 1})).await.unwrap();
        assert_eq!((&read["content"], &read["totalLines"]), (&json!("1:会议纪要"), &json!(3)), "{file}");
        let lines =
            read_lines(&documents.source, (&Owner::new("a"), &Membership::default()), file, LineRange::default()).await;
        assert_eq!(lines.as_deref(), Ok(CHINESE));
    }
    let read = documents.call("read_file", json!({"file_path": "latin.txt", "offset": 2})).await.unwrap();
    assert_eq!(read["content"], "3:À bientôt");
}

#[tokio::test]
async fn binary_files_are_skipped_and_refused() {
    let documents = documents();
    let found = documents.call("grep_search", json!({"pattern": "IHDR|预算", "path": "picture.png"})).await.unwrap();
    assert_eq!((&found["matches"], &found["count"]), (&json!([]), &json!(0)));
    for file in ["picture.png", "late.bin"] {
        let error = documents.call("read_file", json!({"file_path": file})).await.unwrap_err();
        assert_eq!(error, "The tool call failed: this file is not text and cannot be read");
        let read =
            read_lines(&documents.source, (&Owner::new("a"), &Membership::default()), file, LineRange::default()).await;
        assert_eq!(read, Err(documents::DocumentError::Binary));
    }
}

#[tokio::test]
async fn damaged_text_is_still_searched_and_read() {
    let long = ["é".as_bytes(), &vec![b'x'; 2 << 20], b"\nneedle \xFF\xFE end\n".as_slice()].concat();
    let documents = Documents::new(&[("damaged.txt", &long)]);
    let found = documents.call("grep_search", json!({"pattern": "needle"})).await.unwrap();
    assert_eq!(found["matches"][0]["lines"], json!(["2:needle \u{FFFD}\u{FFFD} end"]));
    let read = documents.call("read_file", json!({"file_path": "damaged.txt", "offset": 1})).await.unwrap();
    assert_eq!(read["content"], "2:needle \u{FFFD}\u{FFFD} end");
}
