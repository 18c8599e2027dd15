//! `glob_search`: documents by their names.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, ToolSpec};
use globset::{GlobBuilder, GlobMatcher};
use prompts::{DocumentTexts, ToolFile, fill};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tools::{Tool, ToolContext, ToolError, ToolMetadata, ToolOutput, arguments, schema};

use crate::call::{CALL_TIMEOUT, MAX_DURATION, run_over};
use crate::document_path::DocumentPath;
use crate::interrupt::Interrupt;
use crate::json_budget::JsonBudget;
use crate::parallel_walk::FoundFile;
use crate::walk::find_files;
use crate::{DocumentError, DocumentRoot, DocumentSource};

/// Files of a result, unless a call gives a limit.
const DEFAULT_LIMIT: u32 = 100;

/// Maximum number of files of a result.
const MAX_LIMIT: u32 = 1000;

/// Longest pattern, in bytes.
pub(crate) const MAX_GLOB_BYTES: usize = 1000;

/// Finds files by a glob, newest first. The result is JSON: `files`, their `details` in the same order, `truncated`, `count`
/// (of all matching files), and a `note` if there are more.
pub struct GlobSearch {
    source: DocumentSource,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Matched without case; without a slash, in every folder.
    pattern: String,
    /// The folder to search, relative to the root, which is the default.
    #[serde(default)]
    path: Option<String>,
    /// Files to skip.
    #[serde(default)]
    offset: u32,
    /// Maximum number of files.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u32,
}

fn default_limit() -> u32 {
    DEFAULT_LIMIT
}

/// The matching files of a page.
#[derive(Debug)]
struct Page {
    files: Vec<FoundFile>,
    /// The number of all matching files.
    count: usize,
    incomplete: bool,
}

impl GlobSearch {
    /// Creates the tool over a source.
    pub fn new(source: DocumentSource) -> Self {
        Self { source }
    }
}

#[async_trait]
impl Tool for GlobSearch {
    fn spec(&self, language: Language) -> ToolSpec {
        schema::localised_spec::<Arguments>(&ToolFile::GLOB_SEARCH, language)
    }

    fn metadata(&self) -> ToolMetadata {
        ToolMetadata::built_in("search").in_folder(self.source.name())
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let language = context.language;
        let arguments: Arguments = arguments::parse(arguments, language)?;
        let offset = arguments.offset;
        let search = run_over(&self.source, &context.owner, MAX_DURATION, move |root, interrupt| {
            find_page(root, &arguments, interrupt)
        });
        match search.await {
            Ok(page) => Ok(render(page, offset, context.result_budget.max_bytes, language)),
            Err(error) => Err(error.to_tool_error(self, language)),
        }
    }

    fn timeout(&self) -> Duration {
        CALL_TIMEOUT
    }
}

fn find_page(root: &DocumentRoot, arguments: &Arguments, interrupt: &Interrupt) -> Result<Page, DocumentError> {
    let Arguments { pattern, path, offset, limit } = arguments;
    let glob = compile(pattern)?;
    let start = DocumentPath::parse(path.as_deref().unwrap_or_default())?;
    let found = find_files(root, &start, interrupt)?;
    let below = |path: &DocumentPath| path.below(&start).to_owned();
    let matching: Vec<FoundFile> = found.files.into_iter().filter(|file| glob.is_match(below(&file.path))).collect();
    let as_usize = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let count = matching.len();
    let page = matching.into_iter().skip(as_usize(*offset)).take(as_usize(*limit).min(as_usize(MAX_LIMIT)));
    Ok(Page { files: page.collect(), count, incomplete: found.incomplete })
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

fn render(page: Page, offset: u32, max_bytes: usize, language: Language) -> ToolOutput {
    let texts = DocumentTexts::of(language);
    let Page { files, count, incomplete } = page;
    let mut budget = JsonBudget::new(max_bytes);
    let described = files.into_iter().map(|file| (file.path.to_string(), file.info.describe()));
    let (shown, details): (Vec<String>, Vec<String>) =
        described.take_while(|(path, info)| budget.take(&json!([path, info]))).unzip();
    let next = usize::try_from(offset).unwrap_or(usize::MAX).saturating_add(shown.len());
    let truncated = next < count || incomplete;
    let summary = format!("{count} files");
    let mut result = json!({ "files": shown, "details": details, "truncated": truncated, "count": count });
    if next < count {
        result["note"] = fill(texts.more_files, &[("offset", &next.to_string())]).into();
    } else if incomplete {
        result["note"] = texts.incomplete.into();
    }
    ToolOutput { content: tool_calls::escape(&result.to_string()), summary, ..ToolOutput::default() }
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
        let root = DocumentRoot::open(dir.path(), HiddenFiles::Skip).unwrap();
        let samples = [
            r#"{"pattern": "**/*.{md,txt}", "path": "notes", "offset": 1, "limit": 2}"#,
            r#"{"pattern": "[!a-c]?.M[dD]", "path": "./notes/2026/"}"#,
            r#"{"pattern": "notes/**/b{1}*", "limit": 4294967295}"#,
            r#"{"pattern": "计划*", "path": "a.md"}"#,
        ];
        let tokens =
            ["**", "*", "?", "[", "[!", "]", "{", "}", ",", "/", "..", r"\\", "{a,{b,c}}", "[z-a]", "4294967295"];
        run_text("glob_search", &samples, &tokens, |text| {
            let Ok(arguments) = serde_json::from_str::<Arguments>(text) else { return Ok(()) };
            let interrupt = Interrupt::new(work::StopFlag::default(), Instant::now() + Duration::from_mins(1));
            let Ok(page) = find_page(&root, &arguments, &interrupt) else { return Ok(()) };
            ensure(page.count <= 3 && page.files.len() <= page.count, || format!("{page:?}"))?;
            ensure(!page.incomplete, || "the walk did not end".to_owned())
        });
    }
}
