//! The data folder: private to its owner, used by one process at a time.

use std::error::Error;
use std::fmt::Display;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use commands::{CommandError, private_files};
use dynoxide::Database;

use super::file::{self, FileContent};

/// The lock file of a server; it is not empty once a store was created in the folder.
const LOCK_FILE: &str = "lock";

/// Content of [`LOCK_FILE`] once a store was created.
const HAS_STORE: &str = "this folder holds a store\n";

pub(super) const DATABASE_FILE: &str = "dynamodb.sqlite";

/// File in which a server of an earlier version published the TCP address of its database.
const OLD_ADDRESS_FILE: &str = "dynamodb.address";

/// Exclusive access to a data folder.
pub(super) struct DataFolder {
    path: PathBuf,
    lock: File,
    /// A lock on the folder itself, because the lock file may be removed.
    _itself: File,
}

pub(super) struct OpenDatabase {
    pub(super) database: Database,
    pub(super) file: PathBuf,
    pub(super) is_new: bool,
}

impl DataFolder {
    /// Creates the folder if needed and locks it for this process: two servers on one file would not see each other's
    /// writes. `None` when another process holds the lock.
    pub(super) fn lock(path: &Path) -> Result<Option<Self>, CommandError> {
        Self::try_lock(path).map_err(|error| unusable(path, &error))
    }

    fn try_lock(path: &Path) -> io::Result<Option<Self>> {
        private_files::create_folder(path)?;
        check_owner(path)?;
        let file = path.join(LOCK_FILE);
        file::restrict(&file)?;
        let Some(lock) = try_lock(open_lock(&file)?)? else { return Ok(None) };
        let Some(itself) = try_lock(File::open(path)?)? else { return Ok(None) };
        let _gone = fs::remove_file(path.join(OLD_ADDRESS_FILE));
        Ok(Some(Self { path: path.to_owned(), lock, _itself: itself }))
    }

    /// Opens the folder's database, or creates one if there never was any.
    pub(super) fn open(&mut self) -> Result<OpenDatabase, CommandError> {
        self.try_open().map_err(|error| unusable(&self.path, &error))
    }

    fn try_open(&mut self) -> Result<OpenDatabase, Box<dyn Error>> {
        let file = self.path.join(DATABASE_FILE);
        let is_new = self.is_new(&file)?;
        let name = file.to_str().ok_or("its name is not Unicode")?;
        file::keep_private(&file)?;
        let database = Database::new(name)?;
        // Each write is in the file before its response, so it survives the process. The disk is synced only
        // occasionally, so a power failure may lose the last writes, but nothing more.
        database.disable_bulk_loading()?;
        self.mark_created()?;
        Ok(OpenDatabase { database, file, is_new })
    }

    /// Returns whether a new store is created; an error if a store should exist and does not, or the file is foreign.
    fn is_new(&mut self, file: &Path) -> Result<bool, Box<dyn Error>> {
        let had_store = self.had_store()?;
        file::restrict_all(file)?;
        match file::inspect(file)? {
            FileContent::Store => Ok(false),
            FileContent::Nothing if !had_store => Ok(true),
            FileContent::Nothing => Err(format!(
                "{DATABASE_FILE}, which holds the conversations, is missing or empty; put it back or restore a backup, \
                 or remove the file {LOCK_FILE} there to begin with nothing"
            )
            .into()),
            FileContent::Foreign => Err(format!("{DATABASE_FILE} there is not a database of this program").into()),
        }
    }

    fn had_store(&mut self) -> io::Result<bool> {
        let mut text = String::new();
        (&self.lock).take(HAS_STORE.len() as u64).read_to_string(&mut text)?;
        Ok(!text.is_empty())
    }

    fn mark_created(&mut self) -> io::Result<()> {
        if !self.lock.metadata()?.len().eq(&0) {
            return Ok(());
        }
        self.lock.write_all(HAS_STORE.as_bytes())
    }
}

pub(super) fn unusable(folder: &Path, reason: &dyn Display) -> CommandError {
    CommandError::wrong_use(format!(
        "cannot keep data in {}: {reason}; choose another folder with --data, or none with --ephemeral",
        folder.display()
    ))
}

/// Whether other users may list a folder.
pub fn is_open_to_others(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

/// The folder above `folder` in which every user may rename it, and so move the store away; `None` if there is none.
///
/// In a folder with the sticky bit, such as `/tmp`, users rename only what is theirs (source: the manual page unlink(2)).
pub fn movable_in(folder: &Path) -> Option<PathBuf> {
    let is_open = |above: &&Path| {
        let mode = fs::metadata(above).map_or(0, |metadata| metadata.permissions().mode());
        mode & 0o002 != 0 && mode & 0o1000 == 0
    };
    fs::canonicalize(folder).ok()?.ancestors().skip(1).find(is_open).map(Path::to_owned)
}

fn open_lock(path: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)
}

fn try_lock(file: File) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Rejects a folder that another user may write to: that user could replace the database.
fn check_owner(folder: &Path) -> io::Result<()> {
    const ROOT: u32 = 0;
    let metadata = fs::metadata(folder)?;
    if metadata.mode() & 0o002 != 0 {
        return Err(io::Error::other("every user can write to it: prevent that with `chmod o-w`"));
    }
    let is_own_group = metadata.gid() == rustix::process::getegid().as_raw();
    if metadata.mode() & 0o020 != 0 && !is_own_group {
        return Err(io::Error::other("another group can write to it: prevent that with `chmod g-w`"));
    }
    if ![rustix::process::geteuid().as_raw(), ROOT].contains(&metadata.uid()) {
        return Err(io::Error::other("it belongs to another user"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use tempfile::TempDir;

    use super::*;

    /// Locks a folder that is free. A process that another test just starts has a copy of each lock until it runs.
    fn lock_folder(folder: &Path) -> DataFolder {
        let give_up_at = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(locked) = DataFolder::lock(folder).unwrap() {
                return locked;
            }
            assert!(Instant::now() < give_up_at, "the folder stays locked");
            std::thread::yield_now();
        }
    }

    fn refusal(folder: &Path) -> String {
        lock_folder(folder).open().err().unwrap().to_string()
    }

    #[test]
    fn missing_or_empty_store_is_not_replaced() {
        let folder = TempDir::new().unwrap();
        assert!(lock_folder(folder.path()).open().unwrap().is_new);
        assert!(!lock_folder(folder.path()).open().unwrap().is_new);
        let file = folder.path().join(DATABASE_FILE);
        fs::write(&file, "").unwrap();
        assert!(refusal(folder.path()).contains("missing or empty"));
        fs::remove_file(&file).unwrap();
        assert!(refusal(folder.path()).contains("missing or empty"));
        assert!(!file.exists(), "nothing was made in its place");
        fs::remove_file(folder.path().join(LOCK_FILE)).unwrap();
        assert!(lock_folder(folder.path()).open().unwrap().is_new);
    }

    #[test]
    fn foreign_file_is_rejected_unchanged() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join(DATABASE_FILE);
        rusqlite::Connection::open(&file).unwrap().execute_batch("CREATE TABLE notes (body TEXT)").unwrap();
        let before = fs::read(&file).unwrap();
        assert!(refusal(folder.path()).contains("not a database of this program"));
        assert_eq!(fs::read(&file).unwrap(), before);
    }

    #[test]
    fn folder_of_earlier_version_opens() {
        let folder = TempDir::new().unwrap();
        drop(Database::new(folder.path().join(DATABASE_FILE).to_str().unwrap()).unwrap());
        fs::write(folder.path().join(LOCK_FILE), "").unwrap();
        fs::write(folder.path().join(OLD_ADDRESS_FILE), "127.0.0.1:1").unwrap();
        assert!(!lock_folder(folder.path()).open().unwrap().is_new);
        assert!(!folder.path().join(OLD_ADDRESS_FILE).exists());
        fs::remove_file(folder.path().join(DATABASE_FILE)).unwrap();
        assert!(refusal(folder.path()).contains("missing"));
    }

    #[test]
    fn removed_lock_file_admits_no_second_server() {
        let folder = TempDir::new().unwrap();
        let first = lock_folder(folder.path());
        fs::remove_file(folder.path().join(LOCK_FILE)).unwrap();
        assert!(DataFolder::lock(folder.path()).unwrap().is_none());
        drop(first);
        lock_folder(folder.path());
    }

    #[test]
    fn world_writable_folder_is_rejected() {
        let folder = TempDir::new().unwrap();
        let set = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        for mode in [0o777, 0o1777, 0o702] {
            set(mode);
            assert!(DataFolder::lock(folder.path()).err().unwrap().to_string().contains("chmod o-w"), "{mode:o}");
        }
        set(0o755);
        assert!(DataFolder::lock(folder.path()).unwrap().is_some());
        assert!(is_open_to_others(folder.path()));
    }

    #[test]
    fn world_writable_folder_above_is_found() {
        let above = TempDir::new().unwrap();
        let folder = above.path().join("private/data");
        fs::create_dir_all(&folder).unwrap();
        for (mode, is_open) in [(0o755, false), (0o777, true), (0o1777, false), (0o772, true)] {
            fs::set_permissions(above.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(movable_in(&folder), is_open.then(|| above.path().canonicalize().unwrap()), "{mode:o}");
        }
    }

    #[test]
    fn link_or_pipe_instead_of_file_is_rejected() {
        use std::os::unix::fs::symlink;
        for name in [LOCK_FILE, DATABASE_FILE, "dynamodb.sqlite-wal"] {
            let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
            let (target, path) = (other.path().join("target"), folder.path().join(name));
            symlink(&target, &path).unwrap();
            let refused = |folder: &Path| match DataFolder::lock(folder).map(drop) {
                Err(error) => error.to_string(),
                Ok(()) => refusal(folder),
            };
            assert!(refused(folder.path()).contains("is not a plain file"), "{name}");
            assert!(!target.exists(), "{name}: nothing was made where the link leads");
            fs::remove_file(&path).unwrap();
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
            assert!(refused(folder.path()).contains("is not a plain file"), "{name}");
        }
    }
}
