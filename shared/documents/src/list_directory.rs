//! `list_directory`: the tree of a folder.

use std::collections::VecDeque;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, ToolSpec};
use prompts::{DocumentTexts, ToolFile};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tools::{Tool, ToolContext, ToolError, ToolMetadata, ToolOutput, arguments, markdown, schema};

use crate::call::{CALL_TIMEOUT, MAX_DURATION, run_over};
use crate::directory::Kind;
use crate::document_path::DocumentPath;
use crate::file_info::FileInfo;
use crate::interrupt::Interrupt;
use crate::json_budget::JsonBudget;
use crate::root::ROOT_NAME;
use crate::{DocumentError, DocumentRoot, DocumentSource};

/// Maximum number of entries of a listing.
const MAX_ENTRIES: usize = 500;

/// Lists the files and folders below a folder, those near it first. The result is JSON: `tree`, `count`, and a `note` if
/// entries are left out. People also get `files`, the paths, which models read in the tree.
pub struct ListDirectory {
    source: DocumentSource,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Relative to the root, which is the default.
    #[serde(default)]
    path: Option<String>,
}

/// An entry of a listing; the path of a folder ends with a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Listed {
    path: String,
    depth: usize,
    /// `None` for a folder.
    info: Option<FileInfo>,
}

#[derive(Debug, Default)]
struct Listing {
    /// Breadth first.
    entries: Vec<Listed>,
    incomplete: bool,
}

impl ListDirectory {
    /// Creates the tool over a source.
    pub fn new(source: DocumentSource) -> Self {
        Self { source }
    }
}

#[async_trait]
impl Tool for ListDirectory {
    fn spec(&self, language: Language) -> ToolSpec {
        schema::localised_spec::<Arguments>(&ToolFile::LIST_DIRECTORY, language)
    }

    fn metadata(&self) -> ToolMetadata {
        ToolMetadata::built_in("file").in_folder(self.source.name())
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let language = context.language;
        let Arguments { path } = arguments::parse(arguments, language)?;
        let list = async {
            let path = DocumentPath::parse(path.as_deref().unwrap_or_default())?;
            let start = path.clone();
            let listing = run_over(&self.source, &context.owner, MAX_DURATION, move |root, interrupt| {
                list(root, &start, interrupt)
            });
            Ok((path, listing.await?))
        };
        match list.await {
            Ok((path, listing)) => Ok(render(&path, listing, context.result_budget.max_bytes, language)),
            Err(error) => Err(DocumentError::to_tool_error(&error, self, language)),
        }
    }

    fn timeout(&self) -> Duration {
        CALL_TIMEOUT
    }
}

/// Lists a folder breadth first, without recursion.
fn list(root: &DocumentRoot, start: &DocumentPath, interrupt: &Interrupt) -> Result<Listing, DocumentError> {
    let mut listing = Listing::default();
    let mut folders = VecDeque::from([(start.clone(), 1)]);
    // The start must exist; a folder below it may be removed meanwhile.
    root.folder(start)?;
    while let Some((path, depth)) = folders.pop_front() {
        for entry in root.folder(&path).and_then(|folder| folder.entries()).unwrap_or_default() {
            if listing.entries.len() >= MAX_ENTRIES || interrupt.is_due() {
                return Ok(Listing { incomplete: true, ..listing });
            }
            let child = path.join(&entry.name);
            let (slash, info) = match entry.kind {
                Kind::Folder => ("/", None),
                Kind::File(info) => ("", Some(info)),
            };
            listing.entries.push(Listed { path: format!("{child}{slash}"), depth, info });
            if info.is_none() {
                folders.push_back((child, depth + 1));
            }
        }
    }
    Ok(listing)
}

fn render(start: &DocumentPath, listing: Listing, max_bytes: usize, language: Language) -> ToolOutput {
    let Listing { mut entries, mut incomplete } = listing;
    let mut budget = JsonBudget::new(max_bytes);
    let shown = entries.iter().take_while(|entry| budget.take(&entry.tree_line().into())).count();
    incomplete |= shown < entries.len();
    entries.truncate(shown);
    let files: Vec<&str> =
        entries.iter().map(|entry| entry.path.as_str()).filter(|path| !path.ends_with('/')).collect();
    let mut result = json!({ "tree": tree(start, &entries), "count": entries.len() });
    if incomplete {
        result["note"] = DocumentTexts::of(language).more_entries.into();
    }
    let content = tool_calls::escape(&result.to_string());
    result["files"] = files.into();
    let user_text = Some(markdown::format_result(&result.to_string()));
    ToolOutput { content, user_text, summary: format!("{} entries", entries.len()), ..ToolOutput::default() }
}

/// The tree as lines such as `  - name/`; the entries of a folder follow it.
fn tree(start: &DocumentPath, entries: &[Listed]) -> String {
    let mut ordered: Vec<&Listed> = entries.iter().collect();
    ordered.sort_by(|one, other| one.path.split('/').cmp(other.path.split('/')));
    let name = start.names().last().unwrap_or(ROOT_NAME);
    let lines = ordered.into_iter().map(Listed::tree_line);
    [format!("- {name}/")].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

impl Listed {
    fn tree_line(&self) -> String {
        let name = self.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let slash = if self.path.ends_with('/') { "/" } else { "" };
        let info = self.info.map(|info| format!(" ({})", info.describe())).unwrap_or_default();
        format!("{}- {name}{slash}{info}", "  ".repeat(self.depth))
    }
}
