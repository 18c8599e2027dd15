use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, openat, statat};

use super::{Entry, Kind, wrong_kind};
use crate::document_path::is_plain_name;
use crate::file_info::FileInfo;

/// An open folder of the root's file system.
///
/// Entries are opened relative to its descriptor and without following links, so no change of the tree while it is
/// read can lead out of the root.
#[derive(Debug)]
pub(crate) struct Directory {
    file: File,
    device: u64,
}

impl Directory {
    /// Opens the root; links to it are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let fd = rustix::fs::open(path, folder_flags(), Mode::empty())?;
        let file = File::from(fd);
        let device = file.metadata()?.dev();
        Ok(Self { file, device })
    }

    /// Opens a folder in this one; a mount point of another file system is not opened.
    pub(crate) fn folder(&self, name: &str) -> io::Result<Self> {
        if !is_plain_name(name) {
            return Err(wrong_kind());
        }
        let fd = openat(&self.file, name, folder_flags() | OFlags::NOFOLLOW, Mode::empty())?;
        let file = File::from(fd);
        let device = file.metadata()?.dev();
        if device == self.device { Ok(Self { file, device }) } else { Err(wrong_kind()) }
    }

    /// Opens a regular file in this folder.
    pub(crate) fn file(&self, name: &str) -> io::Result<File> {
        // Opening a pipe or a device has effects of its own.
        if !matches!(self.kind(name)?, Some(Kind::File(_))) {
            return Err(wrong_kind());
        }
        // It may have been replaced since: this never waits, and the kind is checked again.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(openat(&self.file, name, flags, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(wrong_kind()) }
    }

    /// Opens a regular file at a path of plain names below this folder, in one system call; `None` if the system cannot, or
    /// if there is none. The caller has seen that a regular file is there.
    ///
    /// The kernel refuses links, other file systems and every way out, as [`Self::folder`] does name by name.
    #[cfg(target_os = "linux")]
    pub(crate) fn file_below(&self, path: &str) -> Option<File> {
        use rustix::fs::{ResolveFlags, openat2};
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
        if !path.split('/').all(is_plain_name) {
            return None;
        }
        let file = File::from(openat2(&self.file, path, flags, Mode::empty(), resolve).ok()?);
        file.metadata().is_ok_and(|metadata| metadata.is_file()).then_some(file)
    }

    /// `None`: files are opened name by name.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn file_below(&self, _: &str) -> Option<File> {
        None
    }

    /// The kind of an entry; `None` for one that is neither a file nor a folder.
    pub(crate) fn kind(&self, name: &str) -> io::Result<Option<Kind>> {
        if !is_plain_name(name) {
            return Err(wrong_kind());
        }
        let stat = statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Some(Kind::File(info(&stat))),
            FileType::Directory => Some(Kind::Folder),
            _ => None,
        })
    }

    /// The files and folders in this one, ordered by name. Names that are not UTF-8 or not plain are left out.
    pub(crate) fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.file)? {
            let entry = entry?;
            let is_candidate =
                matches!(entry.file_type(), FileType::RegularFile | FileType::Directory | FileType::Unknown);
            let Some(name) = plain_name(entry.file_name()).filter(|_| is_candidate) else { continue };
            let kind = match entry.file_type() {
                FileType::Directory => Some(Kind::Folder),
                // It may have been removed since.
                _ => self.kind(name).unwrap_or(None),
            };
            entries.extend(kind.map(|kind| Entry { name: name.to_owned(), kind }));
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

fn plain_name(name: &CStr) -> Option<&str> {
    name.to_str().ok().filter(|name| is_plain_name(name))
}

/// The size and the time of the last change; times before 1970 count as 1970.
fn info(stat: &Stat) -> FileInfo {
    let seconds = u64::try_from(stat.st_mtime).unwrap_or_default();
    let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or_default();
    let modified = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
    FileInfo { bytes: u64::try_from(stat.st_size).unwrap_or_default(), modified }
}
