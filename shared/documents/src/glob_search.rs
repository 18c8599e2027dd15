//! `glob_search`: documents by their names.

use globset::{GlobBuilder, GlobMatcher};
use prompts::{DocumentTexts, ToolFile, fill};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tools::ToolOutput;

use crate::DocumentError;
use crate::document_path::DocumentPath;
use crate::interrupt::Interrupt;
use crate::tool::{Call, JsonBudget, Operation, json_output};
use crate::tree::{FoundFiles, Tree};

/// Files of a result, unless a call gives a limit.
const DEFAULT_LIMIT: usize = 100;

/// Maximum number of files of a result.
const MAX_LIMIT: usize = 1000;

pub(crate) const MAX_GLOB_BYTES: usize = 1000;

/// Finds files by a glob, newest first. The result is JSON: `files`, their `details` in the same order, `truncated`, `count`
/// (of all matching files), and a `note` if there are more.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GlobSearch {
    /// Matched without case; without a slash, in every folder.
    pattern: String,
    /// The folder to search, relative to the root, which is the default.
    #[serde(default)]
    path: Option<String>,
    /// Files to skip.
    #[serde(default)]
    offset: usize,
    /// Maximum number of files.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
}

fn default_limit() -> usize {
    DEFAULT_LIMIT
}

impl Operation for GlobSearch {
    const FILE: ToolFile = ToolFile::GLOB_SEARCH;
    const CATEGORY: &'static str = "search";

    fn run(self, tree: &mut Tree, call: &Call<'_>) -> Result<ToolOutput, DocumentError> {
        let (page, count) = self.find_page(tree, call.interrupt)?;
        Ok(render(&page, count, self.offset, call))
    }
}

impl GlobSearch {
    /// The matching files of this page, and the number of all of them.
    fn find_page(&self, tree: &mut Tree, interrupt: &Interrupt) -> Result<(FoundFiles, usize), DocumentError> {
        let glob = compile(&self.pattern)?;
        let start = DocumentPath::parse(self.path.as_deref().unwrap_or_default())?;
        let FoundFiles { mut files, incomplete } = tree.find_files(&start, interrupt)?;
        files.retain(|file| glob.is_match(file.path.below(&start)));
        let count = files.len();
        let files = files.into_iter().skip(self.offset).take(self.limit.min(MAX_LIMIT)).collect();
        Ok((FoundFiles { files, incomplete }, count))
    }
}

/// Compiles a glob over paths below the folder of the search: `*` and `?` match no slash, `**` matches folders.
fn compile(pattern: &str) -> Result<GlobMatcher, DocumentError> {
    let invalid = DocumentError::InvalidGlob("pattern");
    let pattern = pattern.trim();
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    if pattern.is_empty() {
        return Err(DocumentError::Blank("pattern"));
    }
    if pattern.len() > MAX_GLOB_BYTES || pattern.starts_with('/') || pattern.split('/').any(|name| name == "..") {
        return Err(invalid);
    }
    let anywhere = if pattern.contains('/') { String::new() } else { "**/".to_owned() };
    let glob = GlobBuilder::new(&(anywhere + pattern)).case_insensitive(true).literal_separator(true).build();
    Ok(glob.map_err(|_| invalid)?.compile_matcher())
}

fn render(page: &FoundFiles, count: usize, offset: usize, call: &Call<'_>) -> ToolOutput {
    let texts = DocumentTexts::of(call.language);
    let mut budget = JsonBudget::new(call.max_bytes);
    let described = page.files.iter().map(|file| (file.path.as_str(), file.info.describe()));
    let (shown, details): (Vec<&str>, Vec<String>) =
        described.take_while(|(path, info)| budget.take(&json!([path, info]))).unzip();
    let next = offset.saturating_add(shown.len());
    let truncated = next < count || page.incomplete;
    let mut result = json!({ "files": shown, "details": details, "truncated": truncated, "count": count });
    if next < count {
        result["note"] = fill(texts.more_files, &[("offset", &next.to_string())]).into();
    } else if page.incomplete {
        result["note"] = texts.incomplete.into();
    }
    json_output(&result, format!("{count} files"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use fuzz::{ensure, run_text};

    use super::*;
    use crate::HiddenFiles;

    #[test]
    fn fuzz_globs_find_files_or_are_refused() {
        let dir = tempfile::TempDir::new().unwrap();
        std::fs::create_dir_all(dir.path().join("notes/2026")).unwrap();
        for name in ["a.md", "notes/计划.md", "notes/2026/b{1}.txt"] {
            std::fs::write(dir.path().join(name), "x").unwrap();
        }
        let samples = [
            r#"{"pattern": "**/*.{md,txt}", "path": "notes", "offset": 1, "limit": 2}"#,
            r#"{"pattern": "[!a-c]?.M[dD]", "path": "./notes/2026/"}"#,
            r#"{"pattern": "notes/**/b{1}*", "limit": 4294967295}"#,
            r#"{"pattern": "计划*", "path": "a.md"}"#,
        ];
        let tokens =
            ["**", "*", "?", "[", "[!", "]", "{", "}", ",", "/", "..", r"\\", "{a,{b,c}}", "[z-a]", "4294967295"];
        run_text("glob_search", &samples, &tokens, |text| {
            let Ok(arguments) = serde_json::from_str::<GlobSearch>(text) else { return Ok(()) };
            let interrupt = Interrupt::new(work::StopFlag::default(), Instant::now() + Duration::from_mins(1));
            let mut tree = Tree::open(dir.path(), HiddenFiles::Skip).unwrap();
            let Ok((page, count)) = arguments.find_page(&mut tree, &interrupt) else { return Ok(()) };
            ensure(count <= 3 && page.files.len() <= count, || format!("{page:?}"))?;
            ensure(!page.incomplete, || "the walk did not end".to_owned())
        });
    }
}
