use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Entry, Kind, wrong_kind};
use crate::document_path::is_plain_name;

/// A folder of the root, on systems without descriptors of folders.
///
/// Each entry is checked for links before it is opened. A tree that another program changes meanwhile is not protected
/// as on Unix.
#[derive(Debug)]
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// Opens the root; links to it are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        if fs::metadata(&path)?.is_dir() { Ok(Self(path)) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// Opens a folder in this one.
    pub(crate) fn folder(&self, name: &str) -> io::Result<Self> {
        if self.kind(name)? == Some(Kind::Folder) { Ok(Self(self.0.join(name))) } else { Err(wrong_kind()) }
    }

    /// `None`: files are opened name by name.
    #[cfg(not(unix))]
    pub(crate) fn file_below(&self, _: &str) -> Option<File> {
        None
    }

    /// Opens a regular file in this folder.
    pub(crate) fn file(&self, name: &str) -> io::Result<File> {
        if !matches!(self.kind(name)?, Some(Kind::File(_))) {
            return Err(wrong_kind());
        }
        let file = File::open(self.0.join(name))?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(wrong_kind()) }
    }

    /// The kind of an entry; `None` for one that is neither a file nor a folder.
    pub(crate) fn kind(&self, name: &str) -> io::Result<Option<Kind>> {
        if !is_plain_name(name) {
            return Err(wrong_kind());
        }
        let metadata = fs::symlink_metadata(self.0.join(name))?;
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Ok(match metadata.file_type() {
            kind if kind.is_file() => Some(Kind::File(modified)),
            kind if kind.is_dir() => Some(Kind::Folder),
            _ => None,
        })
    }

    /// The files and folders in this one, ordered by name. Names that are not Unicode or not plain are left out.
    pub(crate) fn entries(&self) -> io::Result<Vec<Entry>> {
        let names = fs::read_dir(&self.0)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let entry = |name: String| Some(Entry { kind: self.kind(&name).ok()??, name });
        let mut entries: Vec<Entry> = names.filter_map(entry).collect();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }
}
