use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use tempfile::{TempDir, TempPath};

use super::fault::SyncFault;
use super::listing::ListedObject;
use crate::document_path::{DocumentPath, is_plain_name};
use crate::parallel_walk::MAX_DEPTH;

/// How the names of these folders begin.
const FOLDER_PREFIX: &str = "lambda-chat-documents-";

/// The file that a process keeps locked while it uses its folder.
const LOCK: &str = "lock";

/// Maximum number of folders of a tree: making and deleting them takes seconds.
const MAX_FOLDERS: usize = 40_000;

/// Longest name of a file, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// A folder of the local disk for copies of objects and for trees of them; dropping it deletes it.
#[derive(Debug)]
pub(super) struct Storage {
    folder: TempDir,
    /// Locked as long as it is open.
    _lock: File,
    copies: HashMap<String, Copy>,
}

/// A complete copy of an object.
#[derive(Debug)]
struct Copy {
    etag: String,
    /// Dropping it deletes the file.
    file: TempPath,
}

/// The documents of a listing.
#[derive(Debug)]
pub(super) struct Documents {
    pub(super) documents: Vec<(DocumentPath, ListedObject)>,
    /// How many objects are below too many folders.
    pub(super) too_deep: usize,
}

/// A tree that is not built yet.
#[derive(Debug)]
pub(super) struct TreePlan {
    folder: TempDir,
    links: Vec<(PathBuf, DocumentPath)>,
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

    /// Whether the object is there as listed.
    pub(super) fn has(&self, object: &ListedObject) -> bool {
        self.copies.get(&object.key).is_some_and(|copy| copy.etag == object.etag)
    }

    /// The folder for new copies. Nothing reads them before [`Self::add`].
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Adds the complete copy of an object, in place of one of an older version.
    pub(super) fn add(&mut self, object: &ListedObject, file: TempPath) {
        self.copies.insert(object.key.clone(), Copy { etag: object.etag.clone(), file });
    }

    /// Deletes the copies of all other objects.
    pub(super) fn keep_only(&mut self, objects: &[(DocumentPath, ListedObject)]) {
        let keys: HashSet<&str> = objects.iter().map(|(_, object)| object.key.as_str()).collect();
        self.copies.retain(|key, _| keys.contains(key.as_str()));
    }

    /// Starts a tree of these objects, all of which have copies.
    pub(super) fn plan(&self, objects: &[(DocumentPath, ListedObject)]) -> io::Result<TreePlan> {
        let link = |(path, object): &(DocumentPath, ListedObject)| {
            Some((self.copies.get(&object.key)?.file.to_path_buf(), path.clone()))
        };
        let folder = tempfile::Builder::new().prefix("tree-").tempdir_in(&self.folder)?;
        Ok(TreePlan { folder, links: objects.iter().filter_map(link).collect() })
    }
}

impl TreePlan {
    /// Links the copies into the tree; nothing is copied. Blocks. Dropping the tree deletes it.
    pub(super) fn build(self) -> io::Result<TempDir> {
        let Self { folder, links } = self;
        let mut last_folder = None;
        for (copy, path) in links {
            let file = folder.path().join(path.as_str());
            let parent = file.parent().map(Path::to_owned);
            if last_folder != parent {
                parent.as_ref().map_or(Ok(()), fs::create_dir_all)?;
                last_folder = parent;
            }
            fs::hard_link(copy, file)?;
        }
        Ok(folder)
    }
}

/// The objects that can be documents, with their paths below the root, and how many are too deep for searches. Folder markers
/// (`a/`), keys with a name that tools could not reach (such as `..`), and objects that are also a folder of others are left
/// out.
///
/// # Errors
/// [`SyncFault::TooManyFolders`].
pub(super) fn documents(prefix: &str, objects: Vec<ListedObject>) -> Result<Documents, SyncFault> {
    let mut too_deep = 0;
    let mut path = |key: &str| {
        let names = key.strip_prefix(prefix)?;
        if names.split('/').nth(MAX_DEPTH + 1).is_some() {
            too_deep += 1;
            return None;
        }
        let is_plain = names.split('/').all(|name| is_plain_name(name) && name.len() <= MAX_NAME_BYTES);
        if is_plain { DocumentPath::parse(names).ok() } else { None }
    };
    let documents = objects.into_iter().filter_map(|object| Some((path(&object.key)?, object)));
    let mut documents: Vec<(DocumentPath, ListedObject)> = documents.collect();
    if count_folders(&documents) > MAX_FOLDERS {
        return Err(SyncFault::TooManyFolders(MAX_FOLDERS));
    }
    let paths: BTreeSet<String> = documents.iter().map(|(path, _)| path.to_string()).collect();
    documents.retain(|(path, _)| {
        let inside = format!("{path}/");
        !paths
            .range::<str, _>((Bound::Included(inside.as_str()), Bound::Unbounded))
            .next()
            .is_some_and(|next| next.starts_with(&inside))
    });
    Ok(Documents { documents, too_deep })
}

/// The number of folders of a tree: each path adds those that it does not share with the one before it in order.
fn count_folders(documents: &[(DocumentPath, ListedObject)]) -> usize {
    let mut paths: Vec<&str> = documents.iter().map(|(path, _)| path.as_str()).collect();
    paths.sort_unstable();
    let mut before = "";
    paths.into_iter().fold(0, |count, path| {
        let shared = path.split('/').zip(before.split('/')).take_while(|(one, other)| one == other).count();
        before = path;
        count + path.split('/').count().saturating_sub(1 + shared)
    })
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
    use std::time::SystemTime;

    use super::*;

    fn object(key: &str) -> ListedObject {
        ListedObject { key: key.to_owned(), etag: "e".to_owned(), bytes: 1, modified: SystemTime::UNIX_EPOCH }
    }

    fn paths(objects: Vec<ListedObject>) -> (Vec<String>, usize) {
        let Documents { documents, too_deep } = documents("docs/", objects).unwrap();
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
        assert_eq!(folders(MAX_FOLDERS / 2).unwrap().documents.len(), MAX_FOLDERS / 2);
        assert_eq!(folders(MAX_FOLDERS / 2 + 1).unwrap_err(), SyncFault::TooManyFolders(MAX_FOLDERS));
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
