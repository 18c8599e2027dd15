//! `grep_search`: documents by a regular expression over their lines.

#[cfg(test)]
mod fuzz;
mod scan;
mod sink;

use prompts::{DocumentTexts, ToolFile};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tools::ToolOutput;

use self::scan::{Matches, Scan};
use self::sink::FileMatches;
use crate::DocumentError;
use crate::tool::{Call, JsonBudget, Operation, json_output};
use crate::tree::Tree;

/// Longest result, in bytes, however large the model's window is: a narrower search is better than a longer result.
const MAX_RESULT_BYTES: usize = 64 * 1024;

/// Searches files, newest first. The result is JSON: `matches` (a file each, with `lines` such as `12:text`, or `11-text`
/// for context), `count` (of matching lines), `files`, `truncated`, and a `note` if something is left out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrepSearch {
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

impl Operation for GrepSearch {
    const FILE: ToolFile = ToolFile::GREP_SEARCH;
    const CATEGORY: &'static str = "search";

    fn run(self, tree: &mut Tree, call: &Call<'_>) -> Result<ToolOutput, DocumentError> {
        Ok(render(Scan::new(tree, &self, call.interrupt)?.run(&call.progress, call.language), call))
    }
}

fn render(matches: Matches, call: &Call<'_>) -> ToolOutput {
    let texts = DocumentTexts::of(call.language);
    let Matches { files, count, incomplete } = matches;
    let (mut budget, total) = (JsonBudget::new(call.max_bytes.min(MAX_RESULT_BYTES)), files.len());
    let mut cut = false;
    let mut shown = Vec::new();
    for file in files {
        let (entry, is_whole) = file_entry(file, &mut budget);
        cut |= !is_whole;
        shown.extend(entry);
    }
    let mut result = json!({ "matches": shown, "count": count, "files": total, "truncated": cut || incomplete });
    if cut {
        result["note"] = texts.more_matches.into();
    } else if incomplete {
        result["note"] = texts.incomplete.into();
    }
    json_output(&result, format!("{count} matches in {total} files"))
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
