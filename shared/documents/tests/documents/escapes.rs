//! No path leaves the root, whatever it is spelled like.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use documents::{HiddenFiles, LineRange, read_lines};
use domain::{Membership, Owner};
use serde_json::json;

use crate::support::Documents;

const SECRET: &str = "canary-outside";

/// Documents with links of every kind, a pipe, a socket, hidden and ignored files; a secret is outside of them.
fn documents(hidden: HiddenFiles) -> Documents {
    let files: [(&str, &[u8]); 6] = [
        ("notes/plan.md", b"the plan\n"),
        (".env", SECRET.as_bytes()),
        (".git/config", SECRET.as_bytes()),
        ("private/key.pem", SECRET.as_bytes()),
        ("notes/draft.tmp", SECRET.as_bytes()),
        (".gitignore", b"private/\n*.tmp\n"),
    ];
    let documents = Documents::with_hidden(&files, hidden);
    let (root, outside) = (documents.path(), documents.outside());
    fs::write(outside.join("outside.md"), SECRET).unwrap();
    fs::create_dir(outside.join("docs-backup")).unwrap();
    fs::write(outside.join("docs-backup/outside.md"), SECRET).unwrap();
    let absolute = outside.to_str().unwrap();
    let links = [
        ("../outside.md", "link.md"),
        ("..", "up"),
        ("/", "slash"),
        (absolute, "absolute"),
        ("/etc/passwd", "passwd"),
        ("/proc/self/root", "proc"),
        ("notes/../../outside.md", "mixed.md"),
        ("loop_b", "loop_a"),
        ("loop_a", "loop_b"),
        (".", "here"),
        ("chain_b", "chain_a"),
        ("link.md", "chain_b"),
        ("plan.md", "notes/alias.md"),
    ];
    for (target, name) in links {
        symlink(target, root.join(name)).unwrap();
    }
    rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    UnixListener::bind(root.join("socket")).unwrap();
    documents
}

/// What an attempt is aimed at, as a path below some folder.
const TARGETS: [&str; 8] = [
    "outside.md",
    "etc/passwd",
    "etc/hosts",
    "docs-backup/outside.md",
    "proc/self/environ",
    "proc/self/cmdline",
    "root/.ssh/id_rsa",
    "dev/null",
];

/// Beginnings that lead, or may lead, out of the root.
const BEGINNINGS: &[&str] = &[
    "/",
    "//",
    "///",
    "./..//",
    "../",
    "../../",
    "../../../",
    "../../../../../../../../",
    "./../",
    "notes/../../",
    "notes/../../../..",
    "notes/./../../",
    "./notes/.././../",
    "%2e%2e/",
    "%2e%2e%2f",
    "..%2f",
    "%2f",
    "..%252f",
    "..%c0%af",
    "....//",
    ".../",
    "..;/",
    "..\\",
    "..\\..\\",
    ".\\..\\",
    "notes\\..\\..\\",
    "\\",
    "\\\\",
    "\\\\server\\share\\",
    "\\\\?\\C:\\",
    "//server/share/",
    "C:",
    "C:/",
    "C:\\",
    "c:\\windows\\..\\",
    "file:///",
    "file://localhost/",
    "~",
    "~/",
    "~root/",
    "$HOME/",
    "${PWD}/../",
    "%USERPROFILE%\\",
    "up/",
    "slash/",
    "absolute/",
    "here/up/",
    "here/../../",
    "proc/",
    "up/up/",
    "notes/plan.md/../../../",
    "notes/plan.md/..",
    "\0/",
    "../\0",
    "notes\0/../../",
    "\u{FF0E}\u{FF0E}/",
    "\u{2025}/",
    "\u{2024}\u{2024}/",
    "..\u{2215}",
    "..\u{FF0F}",
    "..\u{200B}/",
    "\u{202E}../",
    "..\n/",
    " ../",
    "../ ",
    "\t/",
    "./././../",
    "a/b/c/../../../../",
];

/// Names in the root that are no documents.
const INSIDE: &[&str] = &[
    "link.md",
    "passwd",
    "mixed.md",
    "loop_a",
    "loop_b",
    "chain_a",
    "chain_b",
    "pipe",
    "socket",
    "notes/alias.md",
    "up/docs/notes/plan.md",
    "here/notes/plan.md",
    "absolute/docs/notes/plan.md",
    "proc/etc/passwd",
    "notes/plan.md/",
    "notes/plan.md/x",
    "notes/plan.md\0",
    "notes/plan.md\0.txt",
    "notes/../notes/plan.md",
    "notes\\plan.md",
    "/notes/plan.md",
    "docs/notes/plan.md",
    "../docs/notes/plan.md",
    "NOTES/plan.md ",
    "file:notes/plan.md",
];

/// Names that exist only if hidden and ignored files are shown.
const HIDDEN: &[&str] = &[
    ".env",
    "./.env",
    ".git/config",
    ".git/./config",
    "private/key.pem",
    "private//key.pem",
    "notes/draft.tmp",
    ".gitignore",
];

fn attempts() -> Vec<String> {
    let aimed = BEGINNINGS.iter().flat_map(|beginning| TARGETS.map(|target| format!("{beginning}{target}")));
    aimed.chain(INSIDE.iter().map(ToString::to_string)).collect()
}

/// Whether a path with a slash at its end names the file: that is how paths are normalised.
fn is_harmless(path: &str) -> bool {
    path == "notes/plan.md/"
}

#[tokio::test]
async fn f151_hundreds_of_escapes_all_fail() {
    let documents = documents(HiddenFiles::Skip);
    let attempts = attempts();
    assert!(attempts.len() >= 300, "{}", attempts.len());
    for path in attempts.iter().filter(|path| !is_harmless(path)) {
        for (tool, arguments) in [
            ("read_file", json!({"file_path": path})),
            ("grep_search", json!({"pattern": ".", "path": path})),
            ("glob_search", json!({"pattern": "**", "path": path})),
            ("list_directory", json!({"path": path})),
        ] {
            let outcome = documents.call(tool, arguments).await;
            let error = outcome.expect_err(path);
            assert!(!error.contains("canary") && !error.contains("root:"), "{path}: {error}");
        }
        let read =
            read_lines(&documents.source, (&Owner::new("a"), &Membership::default()), path, LineRange::default()).await;
        assert!(read.is_err(), "{path}");
    }
}

#[tokio::test]
async fn hidden_and_ignored_files_do_not_exist() {
    let documents = documents(HiddenFiles::Skip);
    for path in HIDDEN {
        let error = documents.call("read_file", json!({"file_path": path})).await.unwrap_err();
        assert_eq!(error, "The tool call failed: there is no such file or folder", "{path}");
        assert!(documents.call("grep_search", json!({"pattern": ".", "path": path})).await.is_err());
        assert!(
            read_lines(&documents.source, (&Owner::new("a"), &Membership::default()), path, LineRange::default())
                .await
                .is_err()
        );
    }
    assert_eq!(documents.call("grep_search", json!({"pattern": "canary"})).await.unwrap()["count"], 0);
    let all = documents.call("glob_search", json!({"pattern": "*"})).await.unwrap();
    assert_eq!(all["files"], json!(["notes/plan.md"]));
}

#[tokio::test]
async fn hidden_files_are_read_if_they_are_shown() {
    let documents = documents(HiddenFiles::Show);
    for path in HIDDEN {
        assert!(documents.call("read_file", json!({"file_path": path})).await.is_ok(), "{path}");
    }
    for path in attempts().iter().filter(|path| !is_harmless(path)) {
        assert!(documents.call("read_file", json!({"file_path": path})).await.is_err(), "{path}");
    }
}

#[tokio::test]
async fn f151_globs_find_nothing_outside() {
    let documents = documents(HiddenFiles::Skip);
    for pattern in [
        "../**",
        "/**",
        "/etc/*",
        "notes/../../*",
        "**/../*",
        "up/**",
        "slash/etc/*",
        "**/outside.md",
        "**/passwd",
        "..",
        ".",
    ] {
        if let Ok(found) = documents.call("glob_search", json!({"pattern": pattern})).await {
            assert_eq!(found["count"], 0, "{pattern}");
        }
        for include in [pattern.to_owned(), format!("!{pattern}")] {
            if let Ok(found) =
                documents.call("grep_search", json!({"pattern": "canary|root:", "include": include})).await
            {
                assert_eq!(found["count"], 0, "{include}");
            }
        }
    }
}

#[tokio::test]
async fn f151_swapped_folder_never_leads_out() {
    let documents = Documents::new(&[("real/a.md", b"inside\n")]);
    let (root, outside) = (documents.path(), documents.outside().join("other"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a.md"), SECRET).unwrap();
    symlink(&outside, root.join("link")).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let swapping = std::thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            for name in ["real", "link"] {
                fs::rename(root.join(name), root.join("swap")).unwrap();
                fs::rename(root.join("swap"), root.join(name)).unwrap();
            }
        }
    });
    for _ in 0..1000 {
        let read = documents.call("read_file", json!({"file_path": "swap/a.md"})).await;
        assert!(read.is_err() || read.is_ok_and(|read| read["content"] == "1:inside"));
        let found = documents.call("grep_search", json!({"pattern": "canary"})).await.unwrap();
        assert_eq!(found["count"], 0);
    }
    stop.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
}
