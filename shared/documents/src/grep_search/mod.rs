//! `grep_search`: documents by a regular expression over their lines.

#[cfg(test)]
mod fuzz;
mod matches;
mod scan;
mod sink;

use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, ToolSpec};
use prompts::{DocumentTexts, ToolFile};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tools::{Tool, ToolContext, ToolError, ToolMetadata, ToolOutput, arguments, schema};

use self::matches::{FileMatches, Matches};
use self::scan::Scan;
use crate::DocumentSource;
use crate::call::{CALL_TIMEOUT, MAX_DURATION, run_over};
use crate::json_budget::JsonBudget;

/// Longest result, in bytes, however large the model's window is: a narrower search is better than a longer result.
const MAX_RESULT_BYTES: usize = 64 * 1024;

/// Searches files, newest first. The result is JSON: `matches` (a file each, with `lines` such as `12:text`, or `11-text`
/// for context), `count` (of matching lines), `files`, `truncated`, and a `note` if something is left out.
pub struct GrepSearch {
    source: DocumentSource,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// A regular expression, matched in each line.
    pattern: String,
    /// The folder or file to search, relative to the root, which is the default.
    #[serde(default)]
    path: Option<String>,
    /// A glob of the files to search, as in `.gitignore`; `!` before it excludes.
    #[serde(default)]
    include: Option<String>,
    /// Lines to show before and after each match.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10))]
    context: Option<u8>,
}

impl GrepSearch {
    /// Creates the tool over a source.
    pub fn new(source: DocumentSource) -> Self {
        Self { source }
    }
}

#[async_trait]
impl Tool for GrepSearch {
    fn spec(&self, language: Language) -> ToolSpec {
        schema::localised_spec::<Arguments>(&ToolFile::GREP_SEARCH, language)
    }

    fn metadata(&self) -> ToolMetadata {
        ToolMetadata::built_in("search").in_folder(self.source.name())
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let language = context.language;
        let arguments: Arguments = arguments::parse(arguments, language)?;
        let progress = context.progress.clone();
        let search = run_over(&self.source, &context.owner, MAX_DURATION, move |root, interrupt| {
            Ok(Scan::new(root, &arguments, interrupt)?.run(&progress, language))
        });
        match search.await {
            Ok(matches) => Ok(render(matches, context.result_budget.max_bytes.min(MAX_RESULT_BYTES), language)),
            Err(error) => Err(error.to_tool_error(self, language)),
        }
    }

    fn timeout(&self) -> Duration {
        CALL_TIMEOUT
    }
}

fn render(matches: Matches, max_bytes: usize, language: Language) -> ToolOutput {
    let texts = DocumentTexts::of(language);
    let Matches { files, count, incomplete } = matches;
    let (mut budget, total) = (JsonBudget::new(max_bytes), files.len());
    let mut cut = false;
    let mut shown = Vec::new();
    for file in files {
        let (entry, is_whole) = file_entry(file, &mut budget);
        cut |= !is_whole;
        shown.extend(entry);
    }
    let summary = format!("{count} matches in {total} files");
    let mut result = json!({ "matches": shown, "count": count, "files": total, "truncated": cut || incomplete });
    if cut {
        result["note"] = texts.more_matches.into();
    } else if incomplete {
        result["note"] = texts.incomplete.into();
    }
    ToolOutput { content: tool_calls::escape(&result.to_string()), summary, ..ToolOutput::default() }
}

/// The entry of a file with the lines that fit, and whether these are all; no entry if not even one line fits.
fn file_entry(file: FileMatches, budget: &mut JsonBudget) -> (Option<Value>, bool) {
    let FileMatches { path, lines, count, is_cut } = file;
    let mut entry = json!({ "file": path.as_str(), "lines": [] });
    if is_cut {
        entry["count"] = count.into();
    }
    if !budget.take(&entry) {
        return (None, false);
    }
    let all = lines.len();
    let shown: Vec<String> = lines.into_iter().take_while(|line| budget.take(&line.as_str().into())).collect();
    let is_whole = shown.len() == all && !is_cut;
    let is_empty = shown.is_empty();
    entry["lines"] = shown.into();
    ((!is_empty).then_some(entry), is_whole)
}
