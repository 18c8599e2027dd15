use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use domain::Language;
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use prompts::{DocumentTexts, fill};
use tools::Progress;

use super::GrepSearch;
use super::sink::{FileMatches, LineSink};
use crate::DocumentError;
use crate::document_path::DocumentPath;
use crate::encoding::TextFile;
use crate::error::{TOO_LARGE, pattern_fault};
use crate::glob_search::MAX_GLOB_BYTES;
use crate::interrupt::Interrupt;
use crate::tree::{FoundFiles, Tree, max_threads};

const MAX_PATTERN_BYTES: usize = 1000;

const MAX_COMPILED_BYTES: usize = 4 * 1024 * 1024;

/// Longest line that is searched, in bytes; a file with a longer one is searched up to it.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Matching lines are collected up to this many bytes in all; the scan ends there.
const MAX_SCANNED_BYTES: usize = 1_000_000;

/// Files for which another thread is worth its start.
const FILES_PER_THREAD: usize = 128;

/// Files between two reports of progress.
const FILES_PER_REPORT: usize = 2000;

#[derive(Debug, Default)]
pub(super) struct Matches {
    /// The files with matches, newest first.
    pub(super) files: Vec<FileMatches>,
    pub(super) count: usize,
    /// Whether time or a limit ended the scan.
    pub(super) incomplete: bool,
}

/// A search that can run.
pub(super) struct Scan<'a> {
    tree: &'a Tree,
    found: FoundFiles,
    matcher: RegexMatcher,
    context: usize,
    interrupt: &'a Interrupt,
    /// The index of the next file that no thread has taken.
    next: AtomicUsize,
    /// The length of all matching lines so far.
    scanned_bytes: AtomicUsize,
}

impl<'a> Scan<'a> {
    /// Checks the arguments and finds the files.
    pub(super) fn new(
        tree: &'a mut Tree,
        arguments: &GrepSearch,
        interrupt: &'a Interrupt,
    ) -> Result<Self, DocumentError> {
        let GrepSearch { pattern, path, include, context } = arguments;
        let matcher = compile(pattern)?;
        let include = compile_include(include.as_deref().unwrap_or_default())?;
        let start = DocumentPath::parse(path.as_deref().unwrap_or_default())?;
        let mut found = tree.find_files(&start, interrupt)?;
        if !include.is_empty() {
            found.files.retain(|file| is_included(&include, &file.path));
        }
        let context = context.unwrap_or_default().into();
        let (next, scanned_bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ok(Self { tree, found, matcher, context, interrupt, next, scanned_bytes })
    }

    /// Searches the files; those that are binary or cannot be read are skipped.
    pub(super) fn run(self, progress: &Progress, language: Language) -> Matches {
        let mut found = thread::scope(|scope| {
            let work = || self.search_files(progress, language);
            let others: Vec<_> = (1..self.threads()).map(|_| scope.spawn(work)).collect();
            let mut found = work();
            for other in others {
                found.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            found
        });
        found.sort_unstable_by_key(|(index, _)| *index);
        let files: Vec<FileMatches> = found.into_iter().map(|(_, found)| found).collect();
        let count = files.iter().map(|file| file.count).sum();
        Matches { files, count, incomplete: self.found.incomplete || self.must_end() }
    }

    fn threads(&self) -> usize {
        (self.found.files.len() / FILES_PER_THREAD).clamp(1, max_threads())
    }

    fn must_end(&self) -> bool {
        self.interrupt.is_due() || self.scanned_bytes.load(Ordering::Relaxed) >= MAX_SCANNED_BYTES
    }

    /// The work of one thread: the files with matches, with their positions in the order of the search.
    fn search_files(&self, progress: &Progress, language: Language) -> Vec<(usize, FileMatches)> {
        let (regex, mut searcher, mut buffer) = (self.matcher.clone(), searcher(self.context), Vec::new());
        let mut found = Vec::new();
        while !self.must_end() {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = self.found.files.get(index) else { break };
            if index > 0 && index.is_multiple_of(FILES_PER_REPORT) {
                report(progress, language, index, self.found.files.len());
            }
            let matches = self.search(&file.path, &regex, &mut searcher, &mut buffer);
            found.extend(matches.ok().filter(|matches| matches.count > 0).map(|matches| (index, matches)));
        }
        found
    }

    /// The matches of a file, which is read into the buffer.
    fn search(
        &self,
        path: &DocumentPath,
        regex: &RegexMatcher,
        searcher: &mut Searcher,
        buffer: &mut Vec<u8>,
    ) -> Result<FileMatches, DocumentError> {
        let text = TextFile::read(self.tree.open_found(path)?, std::mem::take(buffer))?;
        let max_bytes = MAX_SCANNED_BYTES.saturating_sub(self.scanned_bytes.load(Ordering::Relaxed));
        let mut sink = LineSink::new(regex, self.interrupt, max_bytes);
        // What was found before a fault of the file counts.
        let _fault = if let Some(content) = text.as_utf8() {
            let outcome = searcher.search_slice(regex, content, &mut sink);
            *buffer = text.into_buffer();
            outcome
        } else {
            searcher.search_reader(regex, self.interrupt.reader(text.decode()), &mut sink)
        };
        self.scanned_bytes.fetch_add(sink.scanned_bytes, Ordering::Relaxed);
        Ok(sink.into_matches(path.clone()))
    }
}

/// A searcher of texts that are UTF-8 already.
fn searcher(context: usize) -> Searcher {
    SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .bom_sniffing(false)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MAX_LINE_BYTES))
        .memory_map(MmapChoice::never())
        .build()
}

/// Compiles a pattern as ripgrep does, within limits.
fn compile(pattern: &str) -> Result<RegexMatcher, DocumentError> {
    if pattern.is_empty() {
        return Err(DocumentError::Blank("pattern"));
    }
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(DocumentError::InvalidPattern(TOO_LARGE));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).crlf(true).size_limit(MAX_COMPILED_BYTES).dfa_size_limit(MAX_COMPILED_BYTES);
    builder.build(pattern).map_err(|error| DocumentError::InvalidPattern(pattern_fault(pattern, &error)))
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
fn is_included(include: &Override, path: &DocumentPath) -> bool {
    let is_excluded = |folder| include.matched(folder, true).is_ignore();
    !include.matched(path.as_str(), false).is_ignore() && !path.folders().any(is_excluded)
}

fn report(progress: &Progress, language: Language, searched: usize, total: usize) {
    let (done, total) = (searched.to_string(), total.to_string());
    let text = fill(DocumentTexts::of(language).progress, &[("done", &done), ("total", &total)]);
    progress.send(&(text + "\n"));
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
        let tree = || Tree::open(dir.path(), HiddenFiles::Skip).unwrap();
        let (mut first, mut second) = (tree(), tree());
        let arguments: GrepSearch = serde_json::from_value(json!({"pattern": "needle"})).unwrap();
        let stop = work::StopFlag::default();
        let interrupt = Interrupt::new(stop.clone(), Instant::now() + Duration::from_mins(1));
        let scan = Scan::new(&mut first, &arguments, &interrupt).unwrap();
        let later = Scan::new(&mut second, &arguments, &interrupt).unwrap();
        let matches = scan.run(&Progress::default(), Language::En);
        assert_eq!((matches.count, matches.incomplete), (9, false));
        stop.set();
        let matches = later.run(&Progress::default(), Language::En);
        assert_eq!((matches.count, matches.incomplete), (0, true));
        let walk = tree().find_files(&DocumentPath::default(), &interrupt).unwrap();
        assert!(walk.files.is_empty() && walk.incomplete);
    }
}
