use std::io;
use std::path::Path;

use tempfile::TempDir;

/// The documents of the built-in questions: path and content.
pub(super) const FILES: [(&str, &str); 12] = [
    ("contracts/hosting.md", include_str!("../../questions/documents/contracts/hosting.md")),
    ("contracts/office-lease.md", include_str!("../../questions/documents/contracts/office-lease.md")),
    (
        "contracts/old/office-lease-2019.md",
        include_str!("../../questions/documents/contracts/old/office-lease-2019.md"),
    ),
    ("handbook/on-call.md", include_str!("../../questions/documents/handbook/on-call.md")),
    ("handbook/travel.md", include_str!("../../questions/documents/handbook/travel.md")),
    ("minutes/2026-03-10.md", include_str!("../../questions/documents/minutes/2026-03-10.md")),
    ("minutes/2026-05-12.md", include_str!("../../questions/documents/minutes/2026-05-12.md")),
    ("minutes/readme.txt", include_str!("../../questions/documents/minutes/readme.txt")),
    ("产品/白鹭.md", include_str!("../../questions/documents/产品/白鹭.md")),
    ("产品/苍鹭.md", include_str!("../../questions/documents/产品/苍鹭.md")),
    ("制度/年假.md", include_str!("../../questions/documents/制度/年假.md")),
    ("制度/报销.md", include_str!("../../questions/documents/制度/报销.md")),
];

/// Writes the documents to a temporary folder.
///
/// # Errors
/// That folder cannot be written.
pub(super) fn write() -> io::Result<TempDir> {
    let folder = TempDir::new()?;
    for (path, text) in FILES {
        let file = folder.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(Path::new("")))?;
        std::fs::write(file, text)?;
    }
    Ok(folder)
}
