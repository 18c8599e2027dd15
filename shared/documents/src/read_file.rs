//! `read_file`: lines of a document.

use prompts::{DocumentTexts, ToolFile, fill};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tools::{ToolOutput, strip_invisible};

use crate::DocumentError;
use crate::document_path::DocumentPath;
use crate::line_range::{LineRange, Lines, MAX_LINES};
use crate::tool::{Call, JsonBudget, Operation, json_output};
use crate::tree::Tree;

/// Reads lines of a text file. The result is JSON: `content` with a number before each line, `lineCount`, `totalLines`,
/// `filePath`, and a `note` if there is more to read.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFile {
    /// Relative to the root.
    file_path: String,
    /// Lines to skip.
    #[serde(default)]
    offset: usize,
    /// Maximum number of lines, at most 2,000.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

impl Operation for ReadFile {
    const FILE: ToolFile = ToolFile::READ_FILE;
    const CATEGORY: &'static str = "file";

    fn run(self, tree: &mut Tree, call: &Call<'_>) -> Result<ToolOutput, DocumentError> {
        let path = DocumentPath::parse(&self.file_path)?;
        let range = LineRange::new(self.offset, self.limit.unwrap_or(MAX_LINES));
        let lines = range.read(tree, &path, call.max_bytes, call.interrupt)?;
        Ok(render(&path, self.offset, lines, call))
    }
}

fn render(path: &DocumentPath, offset: usize, lines: Lines, call: &Call<'_>) -> ToolOutput {
    let texts = DocumentTexts::of(call.language);
    let Lines { texts: lines, total, has_cut_line } = lines;
    let mut budget = JsonBudget::new(call.max_bytes);
    let numbered = lines.iter().enumerate().map(|(at, line)| format!("{}:{}", offset + at + 1, strip_invisible(line)));
    let shown: Vec<String> = numbered.take_while(|line| budget.take(&line.as_str().into())).collect();
    let next = offset.saturating_add(shown.len());
    let more = (next < total).then(|| fill(texts.more_lines, &[("offset", &next.to_string())]));
    let notes = more.into_iter().chain(has_cut_line.then(|| texts.cut_lines.to_owned()));
    let notes = notes.collect::<Vec<_>>().join(" ");
    let mut result = json!({
        "content": shown.join("\n"),
        "lineCount": shown.len(),
        "totalLines": total,
        "filePath": path.as_str(),
    });
    if !notes.is_empty() {
        result["note"] = notes.into();
    }
    json_output(&result, format!("{} of {total} lines of {path}", shown.len()))
}
