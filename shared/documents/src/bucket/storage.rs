use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{TempDir, TempPath};

use super::fault::SyncFault;
use super::listing::ListedObject;
use crate::document_path::{DocumentPath, is_plain_name};
use crate::tree::MAX_DEPTH;

/// How the names of these folders begin.
const FOLDER_PREFIX: &str = "lambda-chat-documents-";

/// The file that a process keeps locked while it uses its folder.
const LOCK: &str = "lock";

/// Maximum number of folders of a tree: making and deleting them takes seconds.
const MAX_FOLDERS: usize = 40_000;

const MAX_NAME_BYTES: usize = 255;

/// An object with its path below the root.
pub(super) type Document = (DocumentPath, ListedObject);

/// A folder of the local disk for copies of objects and for trees of them; dropping it deletes it.
#[derive(Debug)]
pub(super) struct Storage {
    folder: TempDir,
    /// Locked as long as it is open.
    _lock: File,
    /// The `ETag` and the complete copy of objects, by key.
    copies: HashMap<String, (String, TempPath)>,
}

impl Storage {
    /// Creates a storage in the folder for temporary files, and deletes those of processes that were killed.
    pub(super) fn create() -> io::Result<Self> {
        delete_abandoned(&std::env::temp_dir());
        let folder = tempfile::Builder::new().prefix(FOLDER_PREFIX).tempdir()?;
        let lock = File::create_new(folder.path().join(LOCK))?;
        lock.lock()?;
        Ok(Self { folder, _lock: lock, copies: HashMap::new() })
    }

    pub(super) fn missing(&self, documents: &[Document]) -> Vec<ListedObject> {
        let is_there =
            |object: &ListedObject| self.copies.get(&object.key).is_some_and(|(etag, _)| *etag == object.etag);
        documents.iter().map(|(_, object)| object).filter(|object| !is_there(object)).cloned().collect()
    }

    /// The folder for new copies. Nothing reads them before [`Self::add`].
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Adds the complete copy of an object, in place of one of an older version.
    pub(super) fn add(&mut self, object: ListedObject, file: TempPath) {
        self.copies.insert(object.key, (object.etag, file));
    }

    /// Deletes the copies of all other objects.
    pub(super) fn keep_only(&mut self, documents: &[Document]) {
        let keys: HashSet<&str> = documents.iter().map(|(_, object)| object.key.as_str()).collect();
        self.copies.retain(|key, _| keys.contains(key.as_str()));
    }

    /// Returns the work that links the copies of these documents into a new tree, which blocks. Dropping the tree deletes it.
    pub(super) fn build_tree(&self, documents: &[Document]) -> impl FnOnce() -> io::Result<TempDir> + Send + use<> {
        let folder = self.folder.path().to_owned();
        let copy = |object: &ListedObject| self.copies.get(&object.key).map(|(_, file)| file.to_path_buf());
        let links = documents.iter().filter_map(|(path, object)| Some((copy(object)?, path.clone())));
        let links: Vec<(PathBuf, DocumentPath)> = links.collect();
        move || {
            let tree = tempfile::Builder::new().prefix("tree-").tempdir_in(folder)?;
            for (copy, path) in links {
                let file = tree.path().join(path.as_str());
                fs::create_dir_all(file.parent().unwrap_or(tree.path()))?;
                fs::hard_link(copy, file)?;
            }
            Ok(tree)
        }
    }
}

/// The objects that can be documents, and how many are too deep for searches. Folder markers (`a/`), keys with a name that
/// tools could not reach (such as `..`), and objects that are also a folder of others are left out.
pub(super) fn documents(prefix: &str, objects: Vec<ListedObject>) -> Result<(Vec<Document>, usize), SyncFault> {
    let documents = objects.into_iter().filter_map(|object| {
        let names = object.key.strip_prefix(prefix)?;
        let is_plain = names.split('/').all(|name| is_plain_name(name) && name.len() <= MAX_NAME_BYTES);
        let path = DocumentPath::parse(names).ok().filter(|_| is_plain)?;
        Some((path, object))
    });
    let (mut documents, too_deep): (Vec<Document>, Vec<Document>) =
        documents.partition(|(path, _)| path.folders().count() <= MAX_DEPTH);
    let mut folders = HashSet::new();
    for (path, _) in &documents {
        // The others have been added with the first one that is known.
        let _known = path.folders().find(|folder| !folders.insert(*folder));
        if folders.len() > MAX_FOLDERS {
            return Err(SyncFault::TooMany("folders", MAX_FOLDERS as u64));
        }
    }
    let is_file: Vec<bool> = documents.iter().map(|(path, _)| !folders.contains(path.as_str())).collect();
    let mut is_file = is_file.into_iter();
    documents.retain(|_| is_file.next().unwrap_or_default());
    Ok((documents, too_deep.len()))
}

/// Deletes the folders whose process no longer holds their lock.
fn delete_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(FOLDER_PREFIX));
        if is_ours && is_abandoned(&entry.path().join(LOCK)) {
            let _in_use = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a lock file exists and no process holds it.
fn is_abandoned(lock: &Path) -> bool {
    let is_file = fs::symlink_metadata(lock).is_ok_and(|metadata| metadata.is_file());
    is_file && File::open(lock).is_ok_and(|lock| lock.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn object(key: &str) -> ListedObject {
        ListedObject { key: key.to_owned(), etag: "e".to_owned(), bytes: 1, last_modified: Timestamp::UNIX_EPOCH }
    }

    fn paths(objects: Vec<ListedObject>) -> (Vec<String>, usize) {
        let (documents, too_deep) = documents("docs/", objects).unwrap();
        (documents.into_iter().map(|(path, _)| path.to_string()).collect(), too_deep)
    }

    #[test]
    fn unreachable_keys_are_left_out() {
        let keys = [
            "docs/a.md",
            "docs/b/c.md",
            "docs/",
            "docs/b/",
            "docs/../x",
            "docs/b/../../x",
            "docs//x",
            "docs/./x",
            "docs/b",
            "docs/a\\b",
            "docs/a\u{7}",
            "other/x",
            "docs",
            "docs/计划.md",
        ];
        let objects = keys.into_iter().chain([&*format!("docs/{}", "n".repeat(256))]).map(object).collect();
        assert_eq!(paths(objects), (vec!["a.md".to_owned(), "b/c.md".to_owned(), "计划.md".to_owned()], 0));
    }

    #[test]
    fn folder_is_found_among_similar_names() {
        let keys = ["docs/a", "docs/a-b", "docs/a/c", "docs/a0", "docs/b"];
        assert_eq!(paths(keys.map(object).into()).0, ["a-b", "a/c", "a0", "b"]);
    }

    #[test]
    fn keys_of_too_many_folders_are_left_out() {
        let deep = |folders: usize| object(&format!("docs/{}a.md", "d/".repeat(folders)));
        let (found, too_deep) = paths(vec![deep(MAX_DEPTH), deep(MAX_DEPTH + 1), deep(500), object("docs/b.md")]);
        assert_eq!((found.len(), too_deep), (2, 2));
        let folders = |count: usize| documents("", (0..count).map(|at| object(&format!("{at}/x/a.md"))).collect());
        assert_eq!(folders(MAX_FOLDERS / 2).unwrap().0.len(), MAX_FOLDERS / 2);
        assert_eq!(folders(MAX_FOLDERS / 2 + 1).unwrap_err(), SyncFault::TooMany("folders", MAX_FOLDERS as u64));
    }

    #[test]
    fn folder_of_a_killed_process_is_deleted() {
        let base = TempDir::new().unwrap();
        let folder = |name: &str| {
            let folder = base.path().join(name);
            fs::create_dir(&folder).unwrap();
            (File::create_new(folder.join(LOCK)).unwrap(), folder)
        };
        let (held, used) = folder("lambda-chat-documents-used");
        held.lock().unwrap();
        let (released, abandoned) = folder("lambda-chat-documents-abandoned");
        drop(released);
        let (_, other) = folder("other");
        delete_abandoned(base.path());
        assert_eq!([&used, &abandoned, &other].map(|folder| folder.exists()), [true, false, true]);
    }
}
