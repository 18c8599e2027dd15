use std::collections::HashMap;

use domain::Language;
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use prompts::{DocumentTexts, fill};
use tools::Progress;

use super::Arguments;
use super::matches::{FileMatches, Matches};
use super::sink::LineSink;
use crate::document_path::DocumentPath;
use crate::encoding::TextFile;
use crate::glob_search::MAX_GLOB_BYTES;
use crate::interrupt::Interrupt;
use crate::walk::{FileOpener, FoundFiles, find_files};
use crate::{DocumentError, DocumentRoot, PatternFault};

/// Longest pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1000;

/// Largest compiled pattern, in bytes.
const MAX_COMPILED_BYTES: usize = 4 * 1024 * 1024;

/// Longest line that is searched, in bytes; a file with a longer one is searched up to it.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Matching lines are collected up to this many bytes in all; the scan ends there.
const MAX_SCANNED_BYTES: usize = 1_000_000;

/// Files between two reports of progress.
const FILES_PER_REPORT: usize = 2000;

/// A search that can run.
pub(super) struct Scan<'a> {
    found: FoundFiles,
    opener: FileOpener,
    matcher: RegexMatcher,
    searchers: Searchers,
    interrupt: &'a Interrupt,
    scanned_bytes: usize,
}

/// A searcher for each encoding, because each has large buffers.
struct Searchers {
    context: usize,
    by_encoding: HashMap<Option<&'static str>, Searcher>,
}

impl<'a> Scan<'a> {
    /// Checks the arguments and finds the files.
    ///
    /// # Errors
    /// The first argument that is not accepted.
    pub(super) fn new(
        root: &DocumentRoot,
        arguments: &Arguments,
        interrupt: &'a Interrupt,
    ) -> Result<Self, DocumentError> {
        let Arguments { pattern, path, include, context } = arguments;
        let matcher = compile(pattern)?;
        let include = compile_include(include.as_deref().unwrap_or_default())?;
        let start = DocumentPath::parse(path.as_deref().unwrap_or_default())?;
        let mut found = find_files(root, &start, interrupt)?;
        found.files.retain(|file| is_included(&include, file.path.as_str()));
        let searchers = Searchers { context: context.unwrap_or_default().into(), by_encoding: HashMap::new() };
        Ok(Self { found, opener: FileOpener::new(root)?, matcher, searchers, interrupt, scanned_bytes: 0 })
    }

    /// Searches the files; those that are binary or cannot be read are skipped.
    pub(super) fn run(mut self, progress: &Progress, language: Language) -> Matches {
        let files = std::mem::take(&mut self.found.files);
        let total = files.len();
        let mut matches = Matches { incomplete: self.found.incomplete, ..Matches::default() };
        for (searched, file) in files.into_iter().enumerate() {
            if self.must_end() {
                break;
            }
            if searched > 0 && searched % FILES_PER_REPORT == 0 {
                report(progress, language, searched, total);
            }
            if let Ok(found) = self.search(file.path)
                && found.count > 0
            {
                matches.count += found.count;
                matches.files.push(found);
            }
        }
        matches.incomplete |= self.must_end();
        matches
    }

    fn must_end(&self) -> bool {
        self.interrupt.is_due() || self.scanned_bytes >= MAX_SCANNED_BYTES
    }

    fn search(&mut self, path: DocumentPath) -> Result<FileMatches, DocumentError> {
        let text = TextFile::new(self.opener.open(&path)?)?;
        let searcher = self.searchers.get(&text);
        let mut sink = LineSink::new(&self.matcher, self.interrupt, MAX_SCANNED_BYTES - self.scanned_bytes);
        // What was found before a fault of the file counts.
        let _fault = searcher.search_reader(&self.matcher, self.interrupt.reader(text.reader), &mut sink);
        self.scanned_bytes += sink.scanned_bytes();
        Ok(sink.into_matches(path))
    }
}

impl Searchers {
    fn get(&mut self, text: &TextFile) -> &mut Searcher {
        let encoding = text.search_encoding();
        let name = encoding.is_some().then(|| text.encoding.name());
        let context = self.context;
        self.by_encoding.entry(name).or_insert_with(|| {
            SearcherBuilder::new()
                .line_terminator(LineTerminator::crlf())
                .line_number(true)
                .before_context(context)
                .after_context(context)
                .encoding(encoding)
                .binary_detection(BinaryDetection::quit(0))
                .heap_limit(Some(MAX_LINE_BYTES))
                .memory_map(MmapChoice::never())
                .build()
        })
    }
}

/// Compiles a pattern as ripgrep does, within limits.
fn compile(pattern: &str) -> Result<RegexMatcher, DocumentError> {
    if pattern.is_empty() {
        return Err(DocumentError::Blank("pattern"));
    }
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(DocumentError::InvalidPattern(PatternFault::TooLarge));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).crlf(true).size_limit(MAX_COMPILED_BYTES).dfa_size_limit(MAX_COMPILED_BYTES);
    builder.build(pattern).map_err(|error| DocumentError::InvalidPattern(PatternFault::of(pattern, &error)))
}

fn compile_include(glob: &str) -> Result<Override, DocumentError> {
    let invalid = |_| DocumentError::InvalidGlob("include");
    let glob = glob.trim();
    if glob.is_empty() {
        return Ok(Override::empty());
    }
    if glob.len() > MAX_GLOB_BYTES {
        return Err(DocumentError::InvalidGlob("include"));
    }
    let mut builder = OverrideBuilder::new("");
    builder.add(glob).map_err(invalid)?;
    builder.build().map_err(invalid)
}

/// Whether a file is searched; a glob that excludes a folder excludes the files in it.
fn is_included(include: &Override, path: &str) -> bool {
    let mut folders = path.match_indices('/').filter_map(|(end, _)| path.get(..end));
    !include.matched(path, false).is_ignore() && !folders.any(|folder| include.matched(folder, true).is_ignore())
}

fn report(progress: &Progress, language: Language, searched: usize, total: usize) {
    let values = [("done", searched.to_string()), ("total", total.to_string())];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    progress.send(&(fill(DocumentTexts::of(language).progress, &values) + "\n"));
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::*;
    use crate::HiddenFiles;

    #[test]
    fn stopped_scan_reads_no_more_files() {
        let dir = tempfile::TempDir::new().unwrap();
        for number in 0..9 {
            std::fs::write(dir.path().join(format!("{number}.md")), "needle").unwrap();
        }
        let root = DocumentRoot::open(dir.path(), HiddenFiles::Skip).unwrap();
        let arguments: Arguments = serde_json::from_value(json!({"pattern": "needle"})).unwrap();
        let (interrupt, stop) = Interrupt::new(Instant::now() + Duration::from_mins(1));
        let scan = Scan::new(&root, &arguments, &interrupt).unwrap();
        let later = Scan::new(&root, &arguments, &interrupt).unwrap();
        let matches = scan.run(&Progress::default(), Language::En);
        assert_eq!((matches.count, matches.incomplete), (9, false));
        drop(stop);
        let matches = later.run(&Progress::default(), Language::En);
        assert_eq!((matches.count, matches.incomplete), (0, true));
        let walk = find_files(&root, &DocumentPath::default(), &interrupt).unwrap();
        assert!(walk.files.is_empty() && walk.incomplete);
    }
}
