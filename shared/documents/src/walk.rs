//! The files below a folder, newest first.

use std::fs::File;

use crate::DocumentError;
use crate::directory::Directory;
use crate::document_path::DocumentPath;
use crate::file_info::FileInfo;
use crate::interrupt::Interrupt;
use crate::parallel_walk::{FoundFile, FoundFiles, ParallelWalk};
use crate::root::{DocumentRoot, Target, open_file};

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
        Target::File(file) => {
            let metadata = file.metadata().map_err(|_| DocumentError::Unreadable)?;
            let file = FoundFile { path: path.clone(), info: FileInfo::from(&metadata) };
            FoundFiles { files: vec![file], incomplete: false }
        }
        Target::Folder(folder) => ParallelWalk::new(interrupt).run(folder),
    };
    found.files.sort_unstable_by(|one, other| {
        other.info.modified.cmp(&one.info.modified).then_with(|| one.path.as_str().cmp(other.path.as_str()))
    });
    Ok(found)
}

/// Opens the files of a walk, whose rules have been applied; remembers the folder of the last one.
pub(crate) struct FileOpener<'a> {
    root: &'a Directory,
    last: Option<(DocumentPath, Directory)>,
}

impl<'a> FileOpener<'a> {
    pub(crate) fn new(root: &'a Directory) -> Self {
        Self { root, last: None }
    }

    pub(crate) fn open(&mut self, path: &DocumentPath) -> Result<File, DocumentError> {
        if let Some(file) = self.root.file_below(path.as_str()) {
            return Ok(file);
        }
        let (folder, name) = path.split().ok_or(DocumentError::IsFolder)?;
        if self.last.as_ref().is_none_or(|(last, _)| *last != folder) {
            self.last = self.open_folder(&folder)?.map(|directory| (folder, directory));
        }
        open_file(self.last.as_ref().map_or(self.root, |(_, directory)| directory), name)
    }

    /// Opens a folder by its names; `None` for the root.
    fn open_folder(&self, path: &DocumentPath) -> Result<Option<Directory>, DocumentError> {
        let mut opened: Option<Directory> = None;
        for name in path.names() {
            let parent = opened.as_ref().unwrap_or(self.root);
            opened = Some(parent.folder(name).map_err(|_| DocumentError::NotFound)?);
        }
        Ok(opened)
    }
}
