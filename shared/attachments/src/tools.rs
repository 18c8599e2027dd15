//! The tools by which a model reads files that do not fit its prompt.

use std::sync::Arc;

use async_trait::async_trait;
use domain::{Attachment, Language, Owner, ToolSpec, TurnError};
use prompts::{AttachmentTexts, ToolFile, fill};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tools::{Tool, ToolCallError, ToolContext, ToolError, ToolMetadata, ToolOutput, arguments, schema};
use work::LONG_WORK;

use crate::Attachments;
use crate::passages::{self, PAGE_SEPARATOR, Passage};

/// The most passages of a search.
const MAX_PASSAGES: usize = 10;

/// Bytes that the fields around a text take.
const FRAME_BYTES: usize = 400;

/// The documents of a conversation, for the tools of one turn.
struct AttachedFiles {
    attachments: Attachments,
    owner: Owner,
    files: Vec<Attachment>,
}

/// Searches the files of the conversation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    /// Terms.
    #[schemars(length(max = 400))]
    query: String,
}

/// Reads lines or pages of a file of the conversation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    /// The file's name.
    name: String,
    /// The first line or page.
    #[serde(default)]
    #[schemars(range(min = 1))]
    from: Option<usize>,
    /// The last line or page.
    #[serde(default)]
    #[schemars(range(min = 1))]
    to: Option<usize>,
}

struct SearchAttachments(Arc<AttachedFiles>);

struct ReadAttachment(Arc<AttachedFiles>);

impl Attachments {
    /// The tools that read these documents of an owner.
    pub fn tools(&self, owner: &Owner, files: Vec<Attachment>) -> Vec<Arc<dyn Tool>> {
        let files = AttachedFiles { attachments: self.clone(), owner: owner.clone(), files };
        let files = Arc::new(files);
        vec![Arc::new(SearchAttachments(Arc::clone(&files))), Arc::new(ReadAttachment(files))]
    }
}

impl AttachedFiles {
    async fn text(&self, file: &Attachment, tool: &dyn Tool, language: Language) -> Result<String, ToolError> {
        let unavailable = |error: TurnError| {
            tracing::warn!(code = error.failure.code.as_str(), "a file could not be read");
            let content = tool.failure_text(AttachmentTexts::of(language).unavailable, language);
            ToolCallError::new("unavailable", "The file cannot be read.", content)
        };
        Ok(self.attachments.text(&self.owner, &file.id).await.map_err(unavailable)?)
    }
}

#[async_trait]
impl Tool for SearchAttachments {
    fn spec(&self, language: Language) -> ToolSpec {
        schema::localised_spec::<SearchArguments>(&ToolFile::SEARCH_ATTACHMENTS, language)
    }

    fn metadata(&self) -> ToolMetadata {
        ToolMetadata::built_in("file")
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (files, language) = (&self.0, context.language);
        let SearchArguments { query } = arguments::parse(arguments, language)?;
        let terms = Arc::new(passages::terms(&query));
        let mut found: Vec<(&Attachment, Passage, &str)> = Vec::new();
        for file in &files.files {
            // A file that is gone hides no other one.
            let (Ok(text), terms) = (files.text(file, self, language).await, Arc::clone(&terms)) else { continue };
            let unit = unit_of(&text);
            let search =
                LONG_WORK.run(&context.owner, move |stop| passages::search(&text, &terms, || stop.is_set())).await;
            let broken = || ToolCallError::failed(self, language);
            found.extend(search.ok_or_else(broken)?.into_iter().map(|passage| (file, passage, unit)));
        }
        found.sort_by_key(|(_, passage, _)| std::cmp::Reverse(passage.score));
        let mut space = context.result_budget.max_bytes.saturating_sub(FRAME_BYTES);
        let entry = |(file, Passage { number, text, .. }, unit): &(&Attachment, Passage, &str)| json!({ "name": file.name, *unit: number, "text": text });
        let fits = |entry: &Value| {
            let length = tool_calls::escape(&entry.to_string()).len() + 1;
            space.checked_sub(length).inspect(|rest| space = *rest).is_some()
        };
        let matches: Vec<Value> = found.iter().take(MAX_PASSAGES).map(entry).take_while(fits).collect();
        let summary = format!("{} passages", matches.len());
        let mut result = json!({ "matches": matches });
        if found.is_empty() {
            result["note"] = AttachmentTexts::of(language).no_matches.into();
        }
        Ok(output(&result, summary))
    }
}

#[async_trait]
impl Tool for ReadAttachment {
    fn spec(&self, language: Language) -> ToolSpec {
        schema::localised_spec::<ReadArguments>(&ToolFile::READ_ATTACHMENT, language)
    }

    fn metadata(&self) -> ToolMetadata {
        ToolMetadata::built_in("file")
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (files, language) = (&self.0, context.language);
        let ReadArguments { name, from, to } = arguments::parse(arguments, language)?;
        let texts = AttachmentTexts::of(language);
        // The newest of several files of one name.
        let Some(file) = files.files.iter().rev().find(|file| file.name == name) else {
            let names: Vec<&str> = files.files.iter().map(|file| file.name.as_str()).collect();
            let reason = fill(texts.not_found, &[("name", &name), ("names", &names.join(", "))]);
            return Err(ToolCallError::invalid_arguments(&reason, language).into());
        };
        let text = files.text(file, self, language).await?;
        let (parts, unit) = (passages::parts(&text), unit_of(&text));
        let first = from.unwrap_or(1).clamp(1, parts.len().max(1));
        let last = to.unwrap_or(parts.len()).clamp(first, parts.len().max(first)).min(parts.len());
        let mut space = context.result_budget.max_bytes.saturating_sub(FRAME_BYTES);
        let mut fits = |part: &str| {
            let length = tool_calls::escape(&json!(part).to_string()).len() + 12;
            space.checked_sub(length).inspect(|rest| space = *rest).is_some()
        };
        let wanted = parts.get(first - 1..last).unwrap_or_default();
        let count = wanted.iter().take_while(|part| fits(part)).count().max(1).min(wanted.len());
        let end = first + count - 1;
        let shown = passages::numbered(&wanted[..count], first, unit == "page");
        let mut result = json!({ "name": name, "content": shown, "from": first, "to": end, "total": parts.len() });
        if end < last {
            result["note"] = fill(texts.more, &[("from", &(end + 1).to_string())]).into();
        }
        Ok(output(&result, format!("{unit}s {first}–{end} of {name}")))
    }
}

/// What the numbers of a text count.
fn unit_of(text: &str) -> &'static str {
    if text.contains(PAGE_SEPARATOR) { "page" } else { "line" }
}

fn output(result: &Value, summary: String) -> ToolOutput {
    ToolOutput { content: tool_calls::escape(&result.to_string()), summary, ..ToolOutput::default() }
}
