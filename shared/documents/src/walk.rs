//! The files below a folder, newest first.

use std::fs::File;
use std::time::SystemTime;

use crate::DocumentError;
use crate::directory::{Directory, Kind};
use crate::document_path::DocumentPath;
use crate::ignore_rules::IgnoreRules;
use crate::interrupt::Interrupt;
use crate::root::{DocumentRoot, Folder, Target, open_file};

/// Deepest folder that is read, counted from the start of the walk: each holds a descriptor.
const MAX_DEPTH: usize = 64;

/// Maximum number of files; later ones are left out.
const MAX_FILES: usize = 200_000;

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
    pub(crate) modified: SystemTime,
}

struct Walk<'a> {
    found: FoundFiles,
    rules: IgnoreRules,
    interrupt: &'a Interrupt,
}

/// Finds the files below a path, or the one file that it names.
///
/// # Errors
/// `NotFound` for a path that names nothing.
pub(crate) fn find_files(
    root: &DocumentRoot,
    path: &DocumentPath,
    interrupt: &Interrupt,
) -> Result<FoundFiles, DocumentError> {
    let mut found = match root.resolve(path)? {
        Target::File(_) => {
            let file = FoundFile { path: path.clone(), modified: SystemTime::UNIX_EPOCH };
            FoundFiles { files: vec![file], incomplete: false }
        }
        Target::Folder(folder) => Walk::run(folder, interrupt),
    };
    found.files.sort_by(|one, other| {
        other.modified.cmp(&one.modified).then_with(|| one.path.as_str().cmp(other.path.as_str()))
    });
    Ok(found)
}

impl<'a> Walk<'a> {
    fn run(folder: Folder, interrupt: &'a Interrupt) -> FoundFiles {
        let Folder { path, directory, rules } = folder;
        let found = FoundFiles { files: Vec::new(), incomplete: false };
        let mut walk = Walk { found, rules, interrupt };
        walk.read(&directory, &path, MAX_DEPTH);
        walk.found
    }

    /// Reads a folder whose rules have been added. A folder that cannot be read is skipped.
    fn read(&mut self, directory: &Directory, path: &DocumentPath, depth: usize) {
        for entry in directory.entries().unwrap_or_default() {
            if self.interrupt.is_due() || self.found.files.len() >= MAX_FILES {
                self.found.incomplete = true;
                return;
            }
            let child = path.join(&entry.name);
            if !self.rules.is_visible(child.as_str(), entry.kind == Kind::Folder) {
                continue;
            }
            match entry.kind {
                Kind::File(modified) => self.found.files.push(FoundFile { path: child, modified }),
                Kind::Folder => self.read_child(directory, &entry.name, &child, depth),
            }
        }
    }

    fn read_child(&mut self, parent: &Directory, name: &str, path: &DocumentPath, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            self.found.incomplete = true;
            return;
        };
        if let Ok(directory) = parent.folder(name) {
            self.rules.push(&directory, path.as_str());
            self.read(&directory, path, depth);
            self.rules.pop();
        }
    }
}

/// Opens the files of a walk, whose rules have been applied; remembers the folder of the last one.
pub(crate) struct FileOpener {
    root: Directory,
    last: Option<(DocumentPath, Directory)>,
}

impl FileOpener {
    pub(crate) fn new(root: &DocumentRoot) -> Result<Self, DocumentError> {
        Ok(Self { root: root.root_folder()?.directory, last: None })
    }

    pub(crate) fn open(&mut self, path: &DocumentPath) -> Result<File, DocumentError> {
        let (folder, name) = path.split().ok_or(DocumentError::IsFolder)?;
        if self.last.as_ref().is_none_or(|(last, _)| *last != folder) {
            self.last = self.open_folder(&folder)?.map(|directory| (folder, directory));
        }
        open_file(self.last.as_ref().map_or(&self.root, |(_, directory)| directory), name)
    }

    /// Opens a folder by its names; `None` for the root.
    fn open_folder(&self, path: &DocumentPath) -> Result<Option<Directory>, DocumentError> {
        let mut opened: Option<Directory> = None;
        for name in path.names() {
            let parent = opened.as_ref().unwrap_or(&self.root);
            opened = Some(parent.folder(name).map_err(|_| DocumentError::NotFound)?);
        }
        Ok(opened)
    }
}
