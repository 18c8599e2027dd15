//! Opens files below a folder without following links. Unlike a path, an open folder cannot be replaced.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags, openat};

/// A pipe that is at the file's place must not block.
const FLAGS: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

pub(super) fn root(path: &Path) -> io::Result<File> {
    Ok(rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?.into())
}

/// Opens a regular file at a path of plain names below a folder.
pub(super) fn file(root: &File, path: &str) -> io::Result<File> {
    let file = in_one_call(root, path).or_else(|_| by_names(root, path))?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Lets the kernel refuse links, other file systems and every way out.
#[cfg(target_os = "linux")]
pub(super) fn in_one_call(root: &File, path: &str) -> io::Result<File> {
    use rustix::fs::{ResolveFlags, openat2};
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    Ok(openat2(root, path, FLAGS, Mode::empty(), resolve)?.into())
}

/// Always an error: files are opened name by name.
#[cfg(not(target_os = "linux"))]
pub(super) fn in_one_call(_: &File, _: &str) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Opens each folder of the path from the one before it, for kernels without `openat2`.
pub(super) fn by_names(root: &File, path: &str) -> io::Result<File> {
    let (folders, name) = path.rsplit_once('/').unwrap_or((".", path));
    let mut folder = root.try_clone()?;
    for name in folders.split('/') {
        folder = openat(&folder, name, FLAGS | OFlags::DIRECTORY, Mode::empty())?.into();
    }
    Ok(openat(&folder, name, FLAGS, Mode::empty())?.into())
}
