//! Fuzzing of paths, line ranges and texts in any encoding.

use std::fs::{self, File};
use std::io::Read;

use ::fuzz::{ensure, run, run_text};

use crate::LineRange;
use crate::document_path::DocumentPath;
use crate::encoding::TextFile;

#[test]
fn fuzz_paths_never_lead_out() {
    let samples = ["notes/计划.md", "./a//b/", "a/../b", r"C:\a", "/etc/passwd", "a\u{202e}b"];
    run_text("document path", &samples, &["/", "..", ".", r"\", "\0", "C:", "\u{200b}", "//"], |text| {
        let Ok(path) = DocumentPath::parse(text) else { return Ok(()) };
        let is_inside = path.names().all(|name| !matches!(name, "." | "..") && !name.contains(['/', '\\', '\0']));
        ensure(is_inside && !path.as_str().starts_with('/'), || format!("{path:?}"))?;
        let again = DocumentPath::parse(path.as_str());
        ensure(again.as_ref() == Ok(&path), || format!("{path:?} is read again as {again:?}"))
    });
}

#[test]
fn fuzz_line_ranges_have_at_most_2000_lines() {
    run_text(
        "line range",
        &["1-1", "7", "3-2002", "0-1"],
        &["-", "0", "9", "+", " ", "18446744073709551615"],
        |text| {
            let Some(range) = LineRange::parse(text) else { return Ok(()) };
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            let [first, last] = [first, last].map(|number| number.parse::<usize>().unwrap_or_default());
            let is_bounded = first >= 1 && last.checked_sub(first).is_some_and(|more| more < 2000);
            ensure(is_bounded, || format!("{range:?}"))?;
            ensure(range == LineRange::new(first - 1, last - first + 1), || format!("{range:?}"))
        },
    );
}

#[test]
fn fuzz_texts_of_any_encoding_are_read() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("a.txt");
    let utf16: Vec<u8> = "\u{feff}预算 a\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let samples: [&[u8]; 6] = [
        "会议纪要\r\n预算 a\n".as_bytes(),
        b"Proc\xE8s-verbal\nL'\xE9t\xE9\n",
        b"\xBB\xE1\xD2\xE9\xBC\xCD\xD2\xAA\n\xD4\xA4\xCB\xE3\n",
        &utf16,
        b"\xFE\xFF\0a\xD8\0",
        b"plain",
    ];
    run("text file", &samples, &["\u{feff}", "\n", "\r\n", "\0", "é", "预"], |bytes| {
        fs::write(&path, bytes).and_then(|()| File::open(&path)).map_err(|error| error.to_string()).and_then(|file| {
            let Ok(text) = TextFile::read(file, Vec::new()) else {
                return ensure(bytes.contains(&0), || "text without NUL is refused".to_owned());
            };
            let mut decoded = Vec::new();
            text.decode().read_to_end(&mut decoded).map_err(|error| error.to_string())?;
            let decoded = String::from_utf8_lossy(&decoded);
            let text = std::str::from_utf8(bytes).unwrap_or(&decoded);
            // Of several byte-order marks at the beginning the decoder removes two.
            let [written, read] = [text, &*decoded].map(|text| text.trim_start_matches('\u{feff}'));
            let is_unchanged = written == read;
            ensure(is_unchanged, || format!("UTF-8 is read as {decoded:?}"))?;
            ensure(decoded.len() <= 3 * bytes.len().max(1), || format!("{} bytes", decoded.len()))
        })
    });
}
