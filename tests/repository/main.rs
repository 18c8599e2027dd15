//! Checks of repository files that no compiler reads, for deployments and releases.
#![expect(clippy::unwrap_used, reason = "what a test expects and does not find ends the test")]

mod contract;
mod dependencies;
mod documents;
mod foreign_input;
mod language;
mod layers;
mod lexer;
mod licence;
mod literals;
mod module_reader;
mod modules;
mod prompt_texts;
mod provenance;
mod sources;
mod template;
mod test_names;

use std::path::PathBuf;

/// The text of a file of the repository.
fn read_file(path: &str) -> String {
    std::fs::read_to_string(repository_root().join(path)).unwrap()
}

/// The repository's folder.
fn repository_root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The text with one passage replaced, which it must contain.
fn mutate(text: &str, (from, to): (&str, &str)) -> String {
    assert!(text.contains(from), "the mutation of {from:?} changes nothing");
    text.replace(from, to)
}
