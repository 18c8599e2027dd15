//! A tree has nothing but its own files and folders.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, mknodat};
use tempfile::TempDir;

use super::{HiddenFiles, IGNORE_FILES, Kind, MAX_DEPTH, MAX_IGNORE_BYTES, Tree, open};
use crate::DocumentError;
use crate::document_path::DocumentPath;
use crate::interrupt::Interrupt;

/// Entries that are no files or folders of the root.
const REFUSED: &[&str] = &[
    "link",
    "link_out",
    "folder_link",
    "folder_out",
    "dangling",
    "loop",
    "self",
    "pipe",
    "socket",
    "missing",
    "..",
    "/etc/passwd",
    "../outside",
    "a\0",
    "folder_link/inner.md",
    "folder_out/outside",
    "self/file",
    "folder/../file",
    "file/inner.md",
];

/// Folders with a file, a folder, links of every kind, a pipe and a socket in `root`; a file is outside of it.
fn folders() -> TempDir {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("root");
    fs::create_dir_all(root.join("folder")).unwrap();
    fs::write(dir.path().join("outside"), "secret").unwrap();
    fs::write(root.join("file"), "text").unwrap();
    fs::write(root.join("folder/inner.md"), "text").unwrap();
    for (target, name) in [
        ("file", "link"),
        ("../outside", "link_out"),
        ("folder", "folder_link"),
        ("..", "folder_out"),
        ("nowhere", "dangling"),
        ("loop2", "loop"),
        ("loop", "loop2"),
        (".", "self"),
    ] {
        symlink(target, root.join(name)).unwrap();
    }
    make_pipe(&root.join("pipe"));
    UnixListener::bind(root.join("socket")).unwrap();
    dir
}

fn make_pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, 0o600.into(), 0).unwrap();
}

fn tree(path: &Path) -> Tree {
    Tree::open(path, HiddenFiles::Skip).unwrap()
}

fn interrupt() -> Interrupt {
    Interrupt::new(work::StopFlag::default(), Instant::now() + Duration::from_mins(1))
}

fn text(mut file: File) -> String {
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn links_pipes_and_sockets_are_never_opened() {
    let dir = folders();
    let root = dir.path().join("root");
    let mut tree = tree(&root);
    let name = |(path, kind): (DocumentPath, Kind)| (path.to_string(), kind == Kind::Folder);
    let kinds: Vec<(String, bool)> = tree.entries(&DocumentPath::default()).map(name).collect();
    assert_eq!(kinds, [("file".to_owned(), false), ("folder".to_owned(), true)]);
    let found = tree.find_files(&DocumentPath::default(), &interrupt()).unwrap();
    assert_eq!((found.files.len(), found.incomplete), (2, false));
    for path in ["file", "folder/inner.md"] {
        assert_eq!(text(tree.file(&DocumentPath::parse(path).unwrap()).unwrap()), "text", "{path}");
    }
    let mut open = |path: &str| DocumentPath::parse(path).and_then(|path| tree.file(&path));
    assert_eq!(open("folder").unwrap_err(), DocumentError::IsFolder);
    for path in REFUSED {
        assert!(open(path).is_err(), "{path:?}");
    }
    assert!(Tree::open(&root.join("file"), HiddenFiles::Skip).is_err(), "a root is a folder");
    assert!(Tree::open(&root.join("missing"), HiddenFiles::Skip).is_err());
}

/// What was found may have been replaced since: then nothing is opened, whatever the system can.
#[test]
fn replaced_files_and_folders_are_not_opened() {
    let dir = folders();
    let root = open::root(&dir.path().join("root")).unwrap();
    for open in [
        open::file,
        open::by_names,
        #[cfg(target_os = "linux")]
        open::in_one_call,
    ] {
        for path in ["file", "folder/inner.md"] {
            assert_eq!(text(open(&root, path).unwrap()), "text", "{path}");
        }
        for path in
            ["link", "link_out", "dangling", "loop", "folder_link/inner.md", "folder_out/outside", "self/file", ""]
        {
            assert!(open(&root, path).is_err(), "{path}");
        }
    }
    for path in ["folder", "pipe", "socket"] {
        assert!(open::file(&root, path).is_err(), "{path}");
    }
}

#[test]
fn root_may_be_a_link() {
    let dir = folders();
    let link = dir.path().join("root_link");
    symlink("root", &link).unwrap();
    assert!(tree(&link).file(&DocumentPath::parse("file").unwrap()).is_ok());
}

#[cfg(target_os = "linux")]
#[test]
fn other_file_systems_are_not_opened() {
    let mut root = tree(Path::new("/"));
    for path in ["proc", "proc/self/status"] {
        assert_eq!(root.kind(&DocumentPath::parse(path).unwrap()), Err(DocumentError::NotFound), "{path}");
    }
    assert!(root.entries(&DocumentPath::default()).all(|(path, _)| path.as_str() != "proc"));
    assert!(open::in_one_call(&root.directory, "proc/self/status").is_err());
    assert!(tree(Path::new("/dev")).file(&DocumentPath::parse("null").unwrap()).is_err());
}

#[test]
fn folders_with_unreadable_ignore_files_do_not_exist() {
    for name in IGNORE_FILES {
        let dir = TempDir::new().unwrap();
        for folder in ["link", "pipe", "long", "plain"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
            fs::write(dir.path().join(folder).join("a.md"), "x").unwrap();
        }
        let file = |folder: &str| dir.path().join(folder).join(name);
        symlink("/dev/zero", file("link")).unwrap();
        make_pipe(&file("pipe"));
        File::create(file("long")).unwrap().set_len(MAX_IGNORE_BYTES + 1).unwrap();
        fs::write(file("plain"), "*.log\n").unwrap();
        let mut tree = tree(dir.path());
        let found = tree.find_files(&DocumentPath::default(), &interrupt()).unwrap();
        assert_eq!(found.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["plain/a.md"]);
        let listed: Vec<(DocumentPath, Kind)> = tree.entries(&DocumentPath::default()).collect();
        assert_eq!(listed.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["plain"]);
        for path in ["link", "pipe", "long", "long/a.md"] {
            assert_eq!(tree.kind(&DocumentPath::parse(path).unwrap()), Err(DocumentError::NotFound), "{path}");
        }
        assert!(Tree::open(&dir.path().join("pipe"), HiddenFiles::Skip).is_err(), "also as a root");
        assert!(Tree::open(&dir.path().join("pipe"), HiddenFiles::Show).is_ok(), "without rules nothing is read");
    }
}

#[test]
fn threads_find_every_file_once() {
    let dir = TempDir::new().unwrap();
    let mut expected: Vec<String> = Vec::new();
    for number in 0..60 {
        let folder = format!("a{}/b{}/c{number}", number % 3, number % 7);
        fs::create_dir_all(dir.path().join(&folder)).unwrap();
        for name in ["one.md", "two.log"] {
            fs::write(dir.path().join(&folder).join(name), "x").unwrap();
        }
        expected.push(format!("{folder}/one.md"));
    }
    fs::write(dir.path().join("a1/.ignore"), "one.md").unwrap();
    fs::write(dir.path().join(".ignore"), "*.log").unwrap();
    expected.retain(|path| !path.starts_with("a1/"));
    expected.sort();
    let tree = tree(dir.path());
    for threads in 1..=4 {
        let found = tree.walk(&DocumentPath::default(), &interrupt(), threads);
        let mut paths: Vec<String> = found.files.into_iter().map(|file| file.path.to_string()).collect();
        paths.sort();
        assert_eq!((paths, found.incomplete), (expected.clone(), false), "{threads} threads");
    }
    let part = tree.walk(&DocumentPath::parse("a2/b2").unwrap(), &interrupt(), 2);
    let part: Vec<String> = part.files.into_iter().map(|file| file.path.to_string()).collect();
    assert!(!part.is_empty() && part.iter().all(|path| path.starts_with("a2/b2/")), "{part:?}");
}

#[test]
fn deeper_folders_are_left_out() {
    let dir = TempDir::new().unwrap();
    let deep = dir.path().join(vec!["d"; MAX_DEPTH + 1].join("/"));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("deep.md"), "x").unwrap();
    fs::write(deep.parent().unwrap().join("seen.md"), "x").unwrap();
    let found = tree(dir.path()).find_files(&DocumentPath::default(), &interrupt()).unwrap();
    assert_eq!((found.files.len(), found.incomplete), (1, true));
}
