//! `read_file`: lines of a document.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, ToolSpec};
use prompts::{DocumentTexts, ToolFile, fill};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tools::{Tool, ToolContext, ToolError, ToolMetadata, ToolOutput, arguments, schema, strip_invisible};

use crate::DocumentSource;
use crate::call::{CALL_TIMEOUT, MAX_DURATION, run_over};
use crate::document_path::DocumentPath;
use crate::json_budget::JsonBudget;
use crate::line_range::{LineRange, Lines, MAX_LINES};

/// Reads lines of a text file. The result is JSON: `content` with a number before each line, `lineCount`, `totalLines`,
/// `filePath`, and a `note` if there is more to read.
pub struct ReadFile {
    source: DocumentSource,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Relative to the root.
    file_path: String,
    /// Lines to skip.
    #[serde(default)]
    offset: u32,
    /// Maximum number of lines, at most 2,000.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<u32>,
}

impl ReadFile {
    /// Creates the tool over a source.
    pub fn new(source: DocumentSource) -> Self {
        Self { source }
    }
}

#[async_trait]
impl Tool for ReadFile {
    fn spec(&self, language: Language) -> ToolSpec {
        schema::localised_spec::<Arguments>(&ToolFile::READ_FILE, language)
    }

    fn metadata(&self) -> ToolMetadata {
        ToolMetadata::built_in("file").in_folder(self.source.name())
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let language = context.language;
        let Arguments { file_path, offset, limit } = arguments::parse(arguments, language)?;
        let (offset, limit) = (as_usize(offset), limit.map_or(MAX_LINES, as_usize));
        let max_bytes = context.result_budget.max_bytes;
        let read = async {
            let path = DocumentPath::parse(&file_path)?;
            let file = path.clone();
            let range = LineRange::new(offset, limit);
            let lines = run_over(&self.source, &context.owner, MAX_DURATION, move |root, interrupt| {
                range.read(root, &file, max_bytes, interrupt)
            });
            Ok((path, lines.await?))
        };
        match read.await {
            Ok((path, lines)) => Ok(render(&path, offset, lines, max_bytes, language)),
            Err(error) => Err(crate::DocumentError::to_tool_error(&error, self, language)),
        }
    }

    fn timeout(&self) -> Duration {
        CALL_TIMEOUT
    }
}

fn as_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn render(path: &DocumentPath, offset: usize, lines: Lines, max_bytes: usize, language: Language) -> ToolOutput {
    let texts = DocumentTexts::of(language);
    let Lines { texts: lines, total, has_cut_line } = lines;
    let mut budget = JsonBudget::new(max_bytes);
    let numbered = (offset + 1..).zip(lines).map(|(number, line)| format!("{number}:{}", strip_invisible(&line)));
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
    let summary = format!("{} of {total} lines of {path}", shown.len());
    ToolOutput { content: tool_calls::escape(&result.to_string()), summary, ..ToolOutput::default() }
}
