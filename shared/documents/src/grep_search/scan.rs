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

use super::Arguments;
use super::matches::{FileMatches, Matches};
use super::sink::LineSink;
use crate::directory::Directory;
use crate::document_path::DocumentPath;
use crate::encoding::{FileStart, TextFile};
use crate::glob_search::MAX_GLOB_BYTES;
use crate::interrupt::Interrupt;
use crate::parallel_walk::{FoundFiles, max_threads};
use crate::walk::{FileOpener, find_files};
use crate::{DocumentError, DocumentRoot, PatternFault};

/// Longest pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1000;

/// Largest compiled pattern, in bytes.
const MAX_COMPILED_BYTES: usize = 4 * 1024 * 1024;

/// Longest line that is searched, in bytes; a file with a longer one is searched up to it.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Matching lines are collected up to this many bytes in all; the scan ends there.
const MAX_SCANNED_BYTES: usize = 1_000_000;

/// Files for which another thread is worth its start.
const FILES_PER_THREAD: usize = 128;

/// Size of a thread's buffer at first, in bytes; it grows with the files.
const BUFFER_BYTES: usize = 64 * 1024;

/// Files between two reports of progress.
const FILES_PER_REPORT: usize = 2000;

/// A search that can run.
pub(super) struct Scan<'a> {
    found: FoundFiles,
    root: Directory,
    matcher: RegexMatcher,
    context: usize,
    interrupt: &'a Interrupt,
    /// The length of all matching lines so far.
    scanned_bytes: AtomicUsize,
}

/// One thread of a scan. It takes the next file that no other thread has.
struct Worker<'a> {
    scan: &'a Scan<'a>,
    opener: FileOpener<'a>,
    matcher: RegexMatcher,
    searcher: Searcher,
    /// For the next file.
    buffer: Vec<u8>,
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
        if !include.is_empty() {
            found.files.retain(|file| is_included(&include, file.path.as_str()));
        }
        let context = context.unwrap_or_default().into();
        let root = root.root_folder()?.directory;
        Ok(Self { found, root, matcher, context, interrupt, scanned_bytes: AtomicUsize::new(0) })
    }

    /// Searches the files; those that are binary or cannot be read are skipped.
    pub(super) fn run(self, progress: &Progress, language: Language) -> Matches {
        let next = AtomicUsize::new(0);
        let on_file = |index| {
            if index > 0 && index % FILES_PER_REPORT == 0 {
                report(progress, language, index, self.found.files.len());
            }
        };
        let mut found = thread::scope(|scope| {
            let work = || Worker::new(&self).run(&next, &on_file);
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
}

impl<'a> Worker<'a> {
    fn new(scan: &'a Scan<'a>) -> Self {
        let (opener, buffer) = (FileOpener::new(&scan.root), Vec::with_capacity(BUFFER_BYTES));
        Self { scan, opener, matcher: scan.matcher.clone(), searcher: searcher(scan.context), buffer }
    }

    /// The files with matches and their positions in the order of the search.
    fn run(mut self, next: &AtomicUsize, on_file: &impl Fn(usize)) -> Vec<(usize, FileMatches)> {
        let mut found = Vec::new();
        while !self.scan.must_end() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = self.scan.found.files.get(index) else { break };
            on_file(index);
            let matches = self.search(&file.path).ok().flatten();
            found.extend(matches.map(|matches| (index, matches)));
        }
        found
    }

    /// The matches of a file, if it has any.
    fn search(&mut self, path: &DocumentPath) -> Result<Option<FileMatches>, DocumentError> {
        let Scan { interrupt, scanned_bytes, .. } = self.scan;
        let start = FileStart::read(self.opener.open(path)?, std::mem::take(&mut self.buffer))?;
        let text = TextFile::of(start)?;
        let max_bytes = MAX_SCANNED_BYTES.saturating_sub(scanned_bytes.load(Ordering::Relaxed));
        let mut sink = LineSink::new(&self.matcher, interrupt, max_bytes);
        // What was found before a fault of the file counts.
        let _fault = if let Some(content) = text.as_utf8() {
            let outcome = self.searcher.search_slice(&self.matcher, content, &mut sink);
            self.buffer = text.into_buffer();
            outcome
        } else {
            self.searcher.search_reader(&self.matcher, interrupt.reader(text.decode()), &mut sink)
        };
        scanned_bytes.fetch_add(sink.scanned_bytes(), Ordering::Relaxed);
        let matches = sink.into_matches(path.clone());
        Ok((matches.count > 0).then_some(matches))
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
        let stop = work::StopFlag::default();
        let interrupt = Interrupt::new(stop.clone(), Instant::now() + Duration::from_mins(1));
        let scan = Scan::new(&root, &arguments, &interrupt).unwrap();
        let later = Scan::new(&root, &arguments, &interrupt).unwrap();
        let matches = scan.run(&Progress::default(), Language::En);
        assert_eq!((matches.count, matches.incomplete), (9, false));
        stop.set();
        let matches = later.run(&Progress::default(), Language::En);
        assert_eq!((matches.count, matches.incomplete), (0, true));
        let walk = find_files(&root, &DocumentPath::default(), &interrupt).unwrap();
        assert!(walk.files.is_empty() && walk.incomplete);
    }
}
