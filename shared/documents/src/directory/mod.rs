//! Open folders. A folder opens its own entries only, and never through a link.

mod unix;

use crate::file_info::FileInfo;

pub(crate) use unix::Directory;

/// The kind of an entry. Links, pipes, sockets and devices are none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file.
    File(FileInfo),
    /// A folder.
    Folder,
}

/// An entry of a folder that models can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// The error for an entry of another kind.
fn wrong_kind() -> std::io::Error {
    std::io::ErrorKind::InvalidInput.into()
}

#[cfg(test)]
mod tests;
