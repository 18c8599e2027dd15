//! Folders refuse everything but their own files and folders.

use std::fs;
use std::io::Read;
use std::path::Path;

use super::{Directory, Kind};
use tempfile::TempDir;

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
    "",
    ".",
    "..",
    "folder/inner.md",
    "/etc/passwd",
    "../outside",
    "a\0",
];

/// A tree in `root` with a file, a folder, links of every kind, a pipe and a socket; a file is outside of it.
fn tree() -> TempDir {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

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
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    UnixListener::bind(root.join("socket")).unwrap();
    dir
}

#[test]
fn links_pipes_and_sockets_are_never_opened() {
    let tree = tree();
    let root = tree.path().join("root");
    let directory = Directory::open(&root).unwrap();
    let kinds: Vec<(String, bool)> =
        directory.entries().unwrap().into_iter().map(|entry| (entry.name, entry.kind == Kind::Folder)).collect();
    assert_eq!(kinds, [("file".to_owned(), false), ("folder".to_owned(), true)]);
    let mut text = String::new();
    directory.file("file").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "text");
    directory.folder("folder").unwrap().file("inner.md").unwrap();
    assert!(directory.folder("file").is_err() && directory.file("folder").is_err());
    for name in REFUSED {
        assert!(directory.file(name).is_err(), "the file {name:?}");
        assert!(directory.folder(name).is_err(), "the folder {name:?}");
    }
    assert!(Directory::open(&root.join("file")).is_err(), "a root is a folder");
    assert!(Directory::open(&root.join("missing")).is_err());
}

#[test]
fn root_may_be_a_link() {
    let tree = tree();
    let link = tree.path().join("root_link");
    std::os::unix::fs::symlink("root", &link).unwrap();
    assert!(Directory::open(&link).is_ok());
}

#[cfg(target_os = "linux")]
#[test]
fn other_file_systems_are_not_opened() {
    let directory = Directory::open(Path::new("/")).unwrap();
    assert!(directory.folder("proc").is_err());
    assert!(Directory::open(Path::new("/dev")).unwrap().file("null").is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn path_opens_files_below_the_root_only() {
    let dir = tree();
    let root = Directory::open(&dir.path().join("root")).unwrap();
    for path in ["file", "folder/inner.md"] {
        let mut text = String::new();
        root.file_below(path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text", "{path}");
    }
    let through_links =
        ["folder_link/inner.md", "folder_out/outside", "self/file", "folder/../file", "folder", "./file"];
    for path in REFUSED.iter().filter(|path| **path != "folder/inner.md").chain(&through_links) {
        assert!(root.file_below(path).is_none(), "{path}");
    }
    assert!(Directory::open(Path::new("/")).unwrap().file_below("proc/self/status").is_none(), "a mount point");
}
