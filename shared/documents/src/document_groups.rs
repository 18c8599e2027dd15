use std::collections::BTreeMap;

use domain::{Groups, Membership, parse_object};
use icu_normalizer::ComposingNormalizerBorrowed;

use crate::document_path::DocumentPath;

/// The documents that are for groups: paths with the groups that may read what is at or below them. Of several paths the
/// longest decides.
///
/// Letters of both cases, and composed and decomposed ones, are the same, because they are in some file systems.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentGroups(Vec<(String, Groups)>);

impl DocumentGroups {
    /// Parses a JSON object that gives paths arrays of groups; no group is every caller. `None` for another text, for a path
    /// that leads out of the root, and for two equal paths.
    pub fn parse(text: &str) -> Option<Self> {
        // A key that occurs twice is an error; the parser of types would use the last one.
        parse_object(text.as_bytes()).ok()?;
        let rows: BTreeMap<String, Groups> = serde_json::from_str(text).ok()?;
        let row = |(path, groups): (String, Groups)| Some((fold(DocumentPath::parse(&path).ok()?.as_str()), groups));
        let mut rows: Vec<(String, Groups)> = rows.into_iter().map(row).collect::<Option<_>>()?;
        // The longest first; equal paths follow each other.
        rows.sort_by(|(one, _), (other, _)| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        let is_ambiguous = rows.windows(2).any(|pair| matches!(pair, [(one, _), (other, _)] if one == other));
        (!is_ambiguous).then_some(Self(rows))
    }

    /// What exists for a caller.
    pub(crate) fn access_of(&self, caller: &Membership) -> DocumentAccess {
        let rows = self.0.iter().map(|(path, groups)| (path.clone(), caller.may_use(groups)));
        let rows: Vec<(String, bool)> = rows.collect();
        DocumentAccess(if rows.iter().all(|(_, may_read)| *may_read) { Vec::new() } else { rows })
    }
}

/// What exists for a caller: paths and whether what is at or below them does, the longest first. Without a path everything
/// does.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentAccess(Vec<(String, bool)>);

impl DocumentAccess {
    /// Whether a file exists for the caller.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.is_unlimited() || self.decides(&fold(path))
    }

    /// Whether a folder exists for the caller: also because of something below it.
    pub(crate) fn has_folder(&self, path: &str) -> bool {
        if self.is_unlimited() {
            return true;
        }
        let path = fold(path);
        self.decides(&path) || self.0.iter().any(|(other, may_read)| *may_read && is_within(other, &path))
    }

    /// Whether everything exists.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.0.is_empty()
    }

    fn decides(&self, path: &str) -> bool {
        self.0.iter().find(|(folder, _)| is_within(path, folder)).is_none_or(|(_, may_read)| *may_read)
    }
}

/// Whether a path is that of a folder, or below it.
fn is_within(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The form in which paths are compared: file systems of macOS find a file by any case and by any form of its characters.
fn fold(path: &str) -> String {
    let nfc = ComposingNormalizerBorrowed::new_nfc();
    nfc.normalize(&nfc.normalize(path).to_lowercase()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(rules: &str, groups: &[&str]) -> DocumentAccess {
        let groups = Groups::new(groups.iter().map(|name| (*name).to_owned())).unwrap();
        DocumentGroups::parse(rules).unwrap().access_of(&Membership { groups, is_administrator: false })
    }

    #[test]
    fn composed_and_decomposed_paths_are_equal() {
        let access = access("{\"Vertr\u{e4}ge/\": [\"legal\"]}", &[]);
        assert!(!access.has_file("Vertr\u{e4}ge/a.md") && !access.has_file("vertra\u{308}ge/a.md"));
        assert!(access.has_file("Vertrage/a.md"));
    }

    #[test]
    fn longest_path_decides() {
        let rules = r#"{"": ["staff"], "legal/": ["legal"], "./legal//open": [], "Plan.md": ["board"]}"#;
        let files = |groups: &[&str]| {
            let access = access(rules, groups);
            ["a.md", "legal/a.md", "LEGAL/open/a.md", "legal/open.md", "legal2/a.md", "plan.md", "plan.md2"]
                .map(|path| access.has_file(path))
        };
        assert_eq!(files(&[]), [false, false, true, false, false, false, false]);
        assert_eq!(files(&["staff"]), [true, false, true, false, true, false, true]);
        assert_eq!(files(&["legal", "board"]), [false, true, true, true, false, true, false]);
    }

    #[test]
    fn folder_exists_for_what_is_below_it() {
        let rules = r#"{"legal": ["legal"], "legal/a/open": []}"#;
        let folders = |groups: &[&str]| {
            let access = access(rules, groups);
            ["", "legal", "legal/a", "legal/a/open", "legal/b", "other"].map(|path| access.has_folder(path))
        };
        assert_eq!(folders(&[]), [true, true, true, true, false, true]);
        assert_eq!(folders(&["legal"]), [true; 6]);
        assert!(!access(r#"{"legal": ["legal"]}"#, &[]).has_folder("legal"));
        assert!(DocumentGroups::parse(rules).unwrap().access_of(&Membership::administrator()).is_unlimited());
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in [
            "",
            "[]",
            r#"{"a": "legal"}"#,
            r#"{"a": [" "]}"#,
            r#"{"../a": []}"#,
            r#"{"/a": []}"#,
            r#"{"a": [], "A/": []}"#,
            r#"{"a": [], "a": []}"#,
        ] {
            assert_eq!(DocumentGroups::parse(text), None, "{text}");
        }
    }
}
