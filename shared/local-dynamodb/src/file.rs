//! The database file: private to its owner, and never silently replaced by an empty one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use commands::private_files;
use rusqlite::{Connection, OpenFlags};

/// The first bytes of every SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Name suffixes of the files that SQLite keeps next to the main one.
const COMPANIONS: [&str; 3] = ["", "-wal", "-shm"];

/// Content found at the path of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileContent {
    /// No file, or an empty one: a new store can be created.
    Nothing,
    /// A store of this program.
    Store,
    /// Something else, which must not be written to.
    Foreign,
}

/// Device and inode of the file at a path, which show whether the name still refers to an opened file; `None` if there is
/// none.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Checks that a path of the store is a plain file of this process's user, or does not exist.
///
/// A link would redirect writes and modes, and a pipe would block the start forever.
pub(super) fn check(path: &Path) -> io::Result<()> {
    check_kind(path, fs::FileType::is_file, "a plain file")
}

pub(super) fn check_folder(path: &Path) -> io::Result<()> {
    check_kind(path, fs::FileType::is_dir, "a folder")
}

fn check_kind(path: &Path, is_kind: fn(&fs::FileType) -> bool, kind: &str) -> io::Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata?,
    };
    let name = path.file_name().unwrap_or_default().display();
    if !is_kind(&metadata.file_type()) {
        return Err(io::Error::other(format!("{name} there is not {kind}")));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!("{name} there belongs to another user")));
    }
    Ok(())
}

/// The database file and those that SQLite keeps next to it.
pub(super) fn companions(path: &Path) -> impl Iterator<Item = PathBuf> {
    let name = path.as_os_str();
    COMPANIONS.iter().map(move |end| {
        let mut companion = name.to_owned();
        companion.push(end);
        companion.into()
    })
}

/// Classifies a file without writing to it.
pub(super) fn inspect(path: &Path) -> io::Result<FileContent> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FileContent::Nothing),
        Err(error) => return Err(error),
    };
    let mut head = Vec::new();
    file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut head)?;
    if head.is_empty() {
        return Ok(FileContent::Nothing);
    }
    if head != MAGIC {
        return Ok(FileContent::Foreign);
    }
    drop(file);
    Ok(match tables(path) {
        Ok(tables) if tables.is_empty() => FileContent::Nothing,
        // The embedded DynamoDB lists its tables in `_tables`.
        Ok(tables) if !tables.iter().any(|name| name == "_tables") => FileContent::Foreign,
        // Opening a damaged store gives a better error.
        Ok(_) | Err(_) => FileContent::Store,
    })
}

/// Creates the file if needed, and removes other users' permissions for it and its companions.
pub(super) fn keep_private(path: &Path) -> io::Result<()> {
    match private_files::create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    restrict_all(path)
}

pub(super) fn restrict_all(path: &Path) -> io::Result<()> {
    companions(path).try_for_each(|companion| restrict(&companion))
}

/// Restricts a file to its owner, if it exists and passes [`check`].
pub(super) fn restrict(path: &Path) -> io::Result<()> {
    check(path)?;
    match fs::set_permissions(path, fs::Permissions::from_mode(0o600)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the names of the tables; an error if the file is damaged.
fn tables(path: &Path) -> rusqlite::Result<Vec<String>> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut names = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'")?;
    let names = names.query_map([], |row| row.get(0))?;
    names.collect()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn inspect_distinguishes_store_empty_and_foreign_files() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("file");
        let found = || inspect(&path).unwrap();
        assert_eq!(found(), FileContent::Nothing);
        fs::write(&path, "").unwrap();
        assert_eq!(found(), FileContent::Nothing);
        for foreign in ["SQLite", "a text that is longer than the first bytes"] {
            fs::write(&path, foreign).unwrap();
            assert_eq!(found(), FileContent::Foreign, "{foreign}");
        }
        fs::remove_file(&path).unwrap();
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE notes (body TEXT)").unwrap();
        assert_eq!(found(), FileContent::Foreign);
        fs::remove_file(&path).unwrap();
        dynoxide::Database::new(path.to_str().unwrap()).unwrap();
        assert_eq!(found(), FileContent::Store);
    }

    #[test]
    fn keep_private_removes_other_users_permissions() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.sqlite");
        let names = ["a.sqlite", "a.sqlite-wal"].map(|name| folder.path().join(name));
        for name in &names {
            fs::write(name, "").unwrap();
            fs::set_permissions(name, fs::Permissions::from_mode(0o644)).unwrap();
        }
        keep_private(&path).unwrap();
        for name in &names {
            assert_eq!(fs::metadata(name).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert!(!folder.path().join("a.sqlite-shm").exists());
    }
}
