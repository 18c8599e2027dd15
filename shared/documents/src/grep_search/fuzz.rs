//! Fuzzing of searches: no arguments do harm, and a search finds the lines that a reader of the file sees.

use std::fs;
use std::time::{Duration, Instant};

use ::fuzz::{ensure, run, run_text};
use domain::Language;
use regex::Regex;
use tempfile::TempDir;
use tools::Progress;

use super::GrepSearch;
use super::scan::Scan;
use crate::document_path::DocumentPath;
use crate::interrupt::Interrupt;
use crate::tree::Tree;
use crate::{HiddenFiles, LineRange};

/// Patterns with and without a text that every match contains, in both cases, in ASCII and not.
const PATTERNS: [&str; 8] = ["needle", "(?i)NEEDLE", "预算|needle", "é", "n.*e", "(?i)É|k", "[^a-z\r]", "\u{fffd}"];

fn arguments(pattern: &str) -> GrepSearch {
    serde_json::from_value(serde_json::json!({ "pattern": pattern })).unwrap()
}

#[test]
fn fuzz_search_arguments_find_lines_or_are_refused() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("notes")).unwrap();
    for name in ["a.md", "notes/b.txt"] {
        fs::write(dir.path().join(name), "a needle\r\n预算 é\n\n2026-11-23\n").unwrap();
    }
    let samples = [
        r#"{"pattern": "(?i)needle|预算{1,3}?", "path": "notes", "include": "!*.md", "context": 2}"#,
        r#"{"pattern": "^\\s*[^\\x00-\\x7F]+\\b.$", "include": "*.{md,txt}"}"#,
        r#"{"pattern": "\\p{Han}+[[:digit:]&&[^3]]", "path": "a.md", "context": 10}"#,
        r#"{"pattern": "(?P<year>\\d{4})-(?x: 1 1 )(?R)$", "include": "notes/**"}"#,
    ];
    let tokens = [
        "(",
        ")",
        "[",
        "]",
        "{9}",
        "{99}",
        "*",
        "+?",
        "|",
        r"\\b",
        r"\\p{L}",
        "(?i)",
        "(?s).",
        r"\\n",
        r"\\x{10FFFF}",
        "**/",
        "255",
    ];
    run_text("grep_search", &samples, &tokens, |text| {
        let Ok(arguments) = serde_json::from_str::<GrepSearch>(text) else { return Ok(()) };
        let interrupt = Interrupt::new(work::StopFlag::default(), Instant::now() + Duration::from_mins(1));
        let mut tree = Tree::open(dir.path(), HiddenFiles::Skip).unwrap();
        let Ok(scan) = Scan::new(&mut tree, &arguments, &interrupt) else { return Ok(()) };
        let matches = scan.run(&Progress::default(), Language::En);
        let is_bounded = matches.files.len() <= 2 && matches.count <= 8 && !matches.incomplete;
        ensure(is_bounded, || format!("{matches:?}"))?;
        let lines: usize = matches.files.iter().map(|file| file.lines.len()).sum();
        ensure(lines <= 4 * matches.count.max(1), || format!("{matches:?}"))
    });
}

#[test]
fn fuzz_searches_find_what_readers_see() {
    let dir = TempDir::new().unwrap();
    let path = DocumentPath::parse("a.txt").unwrap();
    let utf16: Vec<u8> = "\u{feff}预算 needle\nNeedle\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let samples: [&[u8]; 6] = [
        "预算 é\r\na needle\nNEEDLE\n".as_bytes(),
        b"L'\xE9t\xE9\nune needle\n\xC9\n",
        b"\xD4\xA4\xCB\xE3 needle\n\xBB\xE1\xD2\xE9\n",
        &utf16,
        b"\xEF\xBB\xBFneedle \xFF\nNeedLe",
        "\u{212a} needle ſ".as_bytes(),
    ];
    run("search", &samples, &["\n", "\r\n", "needle", "NEEDLE", "é", "预算", "\u{feff}", "\u{212a}"], |bytes| {
        fs::write(dir.path().join("a.txt"), bytes).map_err(|error| error.to_string())?;
        let interrupt = Interrupt::new(work::StopFlag::default(), Instant::now() + Duration::from_mins(1));
        let mut tree = Tree::open(dir.path(), HiddenFiles::Skip).unwrap();
        let Ok(read) = LineRange::default().read(&mut tree, &path, usize::MAX, &interrupt) else { return Ok(()) };
        let is_comparable = !read.has_cut_line && read.texts.iter().all(|line| !line.contains(['\0', '\r']));
        if !is_comparable || read.total > 50 {
            return Ok(());
        }
        for pattern in PATTERNS {
            let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
            let seen = (1..).zip(&read.texts).filter(|(_, line)| regex.is_match(line));
            let seen: Vec<u64> = seen.map(|(number, _)| number).collect();
            let scan = Scan::new(&mut tree, &arguments(pattern), &interrupt).map_err(|error| format!("{error:?}"))?;
            let found = scan.run(&Progress::default(), Language::En).files;
            let lines = found.iter().flat_map(|file| &file.lines);
            let found: Vec<u64> = lines.filter_map(|line| line.split_once(':')?.0.parse().ok()).collect();
            ensure(found == seen, || format!("{pattern} finds {found:?}, a reader {seen:?} of {:?}", read.texts))?;
        }
        Ok(())
    });
}
