use std::fmt;

use tools::is_invisible;

use crate::DocumentError;

const MAX_BYTES: usize = 4096;

/// A path below the root: names only, none of which leads up or out. The empty path is the root itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DocumentPath(String);

impl DocumentPath {
    /// Parses a path as a model or a client writes it. `.` and repeated slashes are skipped.
    ///
    /// # Errors
    /// [`DocumentError::InvalidPath`] for an absolute path, for `..`, and for the forms of Windows.
    pub(crate) fn parse(text: &str) -> Result<Self, DocumentError> {
        let names: Vec<&str> = text.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        let is_relative = !text.starts_with('/') && text.len() <= MAX_BYTES && names.iter().copied().all(is_plain_name);
        let path = names.join("/");
        // Also after `./`, which is skipped.
        if is_relative && !has_drive(&path) { Ok(Self(path)) } else { Err(DocumentError::InvalidPath) }
    }

    pub(crate) fn join(&self, name: &str) -> Self {
        Self(if self.0.is_empty() { name.to_owned() } else { format!("{self}/{name}") })
    }

    /// The names of the path, outermost first.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    /// The folders that the path is in, innermost first.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &str> {
        self.0.rmatch_indices('/').filter_map(|(end, _)| self.0.get(..end))
    }

    /// The rest of this path below a folder; the name of the file if the start is the file itself.
    pub(crate) fn below(&self, folder: &Self) -> &str {
        let rest =
            self.0.strip_prefix(&folder.0).map(|rest| rest.trim_start_matches('/')).filter(|rest| !rest.is_empty());
        rest.or_else(|| self.names().last()).unwrap_or_default()
    }

    /// The path as text, with slashes; empty for the root.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DocumentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether an entry of this name can exist for models: no separator, nothing invisible.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let is_odd = |c: char| c.is_control() || is_invisible(c) || matches!(c, '/' | '\\');
    !matches!(name, "" | "." | "..") && !name.contains(is_odd)
}

/// Whether a path begins with a drive of Windows, such as `C:`.
fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<String> {
        DocumentPath::parse(text).ok().map(|path| path.to_string())
    }

    #[test]
    fn relative_paths_are_normalised() {
        for (text, path) in
            [("", ""), (".", ""), ("./a//b/", "a/b"), ("文档/计划.md", "文档/计划.md"), ("a b", "a b"), ("...", "...")]
        {
            assert_eq!(parse(text).as_deref(), Some(path), "{text}");
        }
    }

    #[test]
    fn paths_that_lead_out_are_rejected() {
        for text in [
            "/",
            "..",
            "a/../b",
            "../a",
            "a/..",
            "C:",
            "./C:",
            "c:/a",
            r"a\b",
            r"\\server\share",
            "a\0",
            "a\nb",
            "a\u{202E}b",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert_eq!(parse(&"a/".repeat(2049)), None);
    }
}
