use std::env;
use std::fs;
use std::path::Path;

use regex_automata::MatchKind;
use regex_automata::dfa::{StartKind, dense};

use crate::{email, forms, keywords};

/// Compiles patterns in which white space and case have no meaning; returns the file of their table.
fn compiled(patterns: Vec<String>) -> Vec<u8> {
    let patterns: Vec<String> = patterns.into_iter().map(|pattern| format!("(?xi){pattern}")).collect();
    let config = dense::Config::new().match_kind(MatchKind::All).start_kind(StartKind::Anchored).accelerate(false);
    let table = dense::Builder::new().configure(config.minimize(true)).build_many(&patterns).unwrap();
    let (bytes, padding) = table.to_bytes_little_endian();
    bytes[padding..].to_vec()
}

#[test]
fn tables_are_those_of_the_patterns() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/table");
    let others = [("email", email::patterns()), ("keywords", keywords::patterns())];
    for (name, patterns) in forms::patterns().into_iter().chain(others) {
        let (file, made) = (folder.join(format!("{name}.dfa")), compiled(patterns));
        if env::var_os("UPDATE").is_some() {
            fs::write(&file, &made).unwrap();
        }
        let is_same = fs::read(&file).unwrap() == made;
        assert!(is_same, "UPDATE=1 cargo test -p redaction tables_are_those writes {name}.dfa");
    }
}
