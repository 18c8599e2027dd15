//! Reads a tree of folders on several threads.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::directory::{Directory, Entry, Kind};
use crate::document_path::DocumentPath;
use crate::file_info::FileInfo;
use crate::ignore_rules::IgnoreRules;
use crate::interrupt::Interrupt;
use crate::root::Folder;

/// Deepest folder that is read, counted from the start of the walk: each holds a descriptor.
pub(crate) const MAX_DEPTH: usize = 64;

/// Maximum number of files; later ones are left out.
const MAX_FILES: usize = 200_000;

/// Threads of one walk or scan at most.
pub(crate) const MAX_THREADS: usize = 4;

/// How often an idle thread looks whether the walk must end.
const IDLE_INTERVAL: Duration = Duration::from_millis(50);

/// The files of a walk.
#[derive(Debug)]
pub(crate) struct FoundFiles {
    /// Newest first, then by path.
    pub(crate) files: Vec<FoundFile>,
    /// Whether files may be missing: time or a limit ended the walk.
    pub(crate) incomplete: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundFile {
    pub(crate) path: DocumentPath,
    pub(crate) info: FileInfo,
}

/// A walk below one folder.
pub(crate) struct ParallelWalk<'a> {
    interrupt: &'a Interrupt,
    threads: usize,
    queue: Mutex<Queue>,
    /// Notified when a folder is added, and at the end.
    changed: Condvar,
    /// The number of files so far.
    files: AtomicUsize,
    incomplete: AtomicBool,
}

/// Folders that any thread may read. Each holds a descriptor, so there are at most as many as threads.
#[derive(Default)]
struct Queue {
    folders: Vec<OpenFolder>,
    /// Threads that read a folder and may add others.
    busy: usize,
}

/// A folder whose rules have been added.
struct OpenFolder {
    directory: Directory,
    path: DocumentPath,
    rules: IgnoreRules,
    /// How many folders may be read below it, one in the other.
    depth: usize,
}

/// The number of threads that may work at the same time.
pub(crate) fn max_threads() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS)
}

impl<'a> ParallelWalk<'a> {
    pub(crate) fn new(interrupt: &'a Interrupt) -> Self {
        Self {
            interrupt,
            threads: max_threads(),
            queue: Mutex::default(),
            changed: Condvar::new(),
            files: AtomicUsize::new(0),
            incomplete: AtomicBool::new(false),
        }
    }

    /// Finds the files below a folder, in no order.
    pub(crate) fn run(self, folder: Folder) -> FoundFiles {
        let Folder { path, directory, rules } = folder;
        self.queue().folders.push(OpenFolder { directory, path, rules, depth: MAX_DEPTH });
        let files = thread::scope(|scope| {
            let work = || self.work();
            let others: Vec<_> = (1..self.threads).map(|_| scope.spawn(work)).collect();
            let mut files = work();
            for other in others {
                files.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            files
        });
        FoundFiles { files, incomplete: self.incomplete.into_inner() }
    }

    /// Reads folders of the queue until there are none and none can be added.
    fn work(&self) -> Vec<FoundFile> {
        let mut files = Vec::new();
        while let Some(mut folder) = self.take() {
            self.read(&folder.directory, &folder.path, &mut folder.rules, folder.depth, &mut files);
            self.queue().busy -= 1;
            self.changed.notify_all();
        }
        files
    }

    fn take(&self) -> Option<OpenFolder> {
        let mut queue = self.queue();
        loop {
            if let Some(folder) = queue.folders.pop() {
                queue.busy += 1;
                return Some(folder);
            }
            if queue.busy == 0 || self.must_end() {
                return None;
            }
            let waited = self.changed.wait_timeout(queue, IDLE_INTERVAL);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Reads a folder. One that cannot be read is skipped.
    fn read(
        &self,
        directory: &Directory,
        path: &DocumentPath,
        rules: &mut IgnoreRules,
        depth: usize,
        files: &mut Vec<FoundFile>,
    ) {
        for Entry { name, kind } in directory.entries().unwrap_or_default() {
            if self.must_end() {
                return;
            }
            let child = path.join(&name);
            if !rules.is_visible(child.as_str(), kind == Kind::Folder) {
                continue;
            }
            match kind {
                Kind::File(info) => {
                    self.files.fetch_add(1, Ordering::Relaxed);
                    files.push(FoundFile { path: child, info });
                }
                Kind::Folder => self.read_child(directory, &name, child, rules, depth, files),
            }
        }
    }

    /// Reads a folder in a folder, or leaves it to another thread.
    fn read_child(
        &self,
        parent: &Directory,
        name: &str,
        path: DocumentPath,
        rules: &mut IgnoreRules,
        depth: usize,
        files: &mut Vec<FoundFile>,
    ) {
        let Some(depth) = depth.checked_sub(1) else {
            self.incomplete.store(true, Ordering::Relaxed);
            return;
        };
        let Ok(directory) = parent.folder(name) else { return };
        rules.push(&directory, path.as_str());
        let folder = OpenFolder { directory, path, rules: rules.clone(), depth };
        if let Some(OpenFolder { directory, path, .. }) = self.share(folder) {
            self.read(&directory, &path, rules, depth, files);
        }
        rules.pop();
    }

    /// Adds a folder to the queue; returns it if there are enough.
    fn share(&self, folder: OpenFolder) -> Option<OpenFolder> {
        let mut queue = self.queue();
        if self.threads == 1 || queue.folders.len() >= self.threads {
            return Some(folder);
        }
        queue.folders.push(folder);
        self.changed.notify_one();
        None
    }

    /// Whether time or a limit ends the walk; then files are missing.
    fn must_end(&self) -> bool {
        let ends = self.interrupt.is_due() || self.files.load(Ordering::Relaxed) >= MAX_FILES;
        if ends {
            self.incomplete.store(true, Ordering::Relaxed);
        }
        ends
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use super::*;
    use crate::{DocumentRoot, HiddenFiles};

    #[test]
    fn threads_find_every_file_once() {
        let dir = tempfile::TempDir::new().unwrap();
        let mut expected: Vec<String> = Vec::new();
        for number in 0..60 {
            let folder = format!("a{}/b{}/c{number}", number % 3, number % 7);
            fs::create_dir_all(dir.path().join(&folder)).unwrap();
            for name in ["one.md", "two.log"] {
                fs::write(dir.path().join(&folder).join(name), "x").unwrap();
            }
            expected.push(format!("{folder}/one.md"));
        }
        fs::write(dir.path().join("a1/.ignore"), "one.md").unwrap();
        fs::write(dir.path().join(".ignore"), "*.log").unwrap();
        expected.retain(|path| !path.starts_with("a1/"));
        expected.sort();
        let root = DocumentRoot::open(dir.path(), HiddenFiles::Skip).unwrap();
        let interrupt = Interrupt::new(work::StopFlag::default(), Instant::now() + Duration::from_mins(1));
        for threads in 1..=MAX_THREADS {
            let walk = ParallelWalk { threads, ..ParallelWalk::new(&interrupt) };
            let found = walk.run(root.folder(&DocumentPath::default()).unwrap());
            let mut paths: Vec<String> = found.files.into_iter().map(|file| file.path.to_string()).collect();
            paths.sort();
            assert_eq!((paths, found.incomplete), (expected.clone(), false), "{threads} threads");
        }
    }

    #[test]
    fn deeper_folders_are_left_out() {
        let dir = tempfile::TempDir::new().unwrap();
        let deep = dir.path().join(vec!["d"; MAX_DEPTH + 1].join("/"));
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("deep.md"), "x").unwrap();
        fs::write(deep.parent().unwrap().join("seen.md"), "x").unwrap();
        let root = DocumentRoot::open(dir.path(), HiddenFiles::Skip).unwrap();
        let interrupt = Interrupt::new(work::StopFlag::default(), Instant::now() + Duration::from_mins(1));
        let found = ParallelWalk::new(&interrupt).run(root.folder(&DocumentPath::default()).unwrap());
        assert_eq!((found.files.len(), found.incomplete), (1, true));
    }
}
