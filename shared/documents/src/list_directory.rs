//! `list_directory`: the tree of a folder.

use std::collections::VecDeque;

use prompts::{DocumentTexts, ToolFile};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tools::{ToolOutput, markdown};

use crate::DocumentError;
use crate::document_path::DocumentPath;
use crate::file_info::FileInfo;
use crate::interrupt::Interrupt;
use crate::json_budget::JsonBudget;
use crate::root::ROOT_NAME;
use crate::tool::{Call, Operation, json_output};
use crate::tree::{Kind, Tree};

/// Maximum number of entries of a listing.
const MAX_ENTRIES: usize = 500;

/// Lists the files and folders below a folder, those near it first. The result is JSON: `tree`, `count`, and a `note` if
/// entries are left out. People also get `files`, the paths, which models read in the tree.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListDirectory {
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

impl Operation for ListDirectory {
    const FILE: ToolFile = ToolFile::LIST_DIRECTORY;
    const CATEGORY: &'static str = "file";

    fn run(self, tree: &mut Tree, call: &Call<'_>) -> Result<ToolOutput, DocumentError> {
        let path = DocumentPath::parse(self.path.as_deref().unwrap_or_default())?;
        Ok(render(&path, list(tree, &path, call.interrupt)?, call))
    }
}

/// Lists a folder breadth first, without recursion.
fn list(tree: &mut Tree, start: &DocumentPath, interrupt: &Interrupt) -> Result<Listing, DocumentError> {
    if tree.kind(start)? != Kind::Folder {
        return Err(DocumentError::IsFile);
    }
    let mut listing = Listing::default();
    let mut folders = VecDeque::from([(start.clone(), 1)]);
    while let Some((folder, depth)) = folders.pop_front() {
        for (path, kind) in tree.entries(&folder) {
            if listing.entries.len() >= MAX_ENTRIES || interrupt.is_due() {
                return Ok(Listing { incomplete: true, ..listing });
            }
            let (slash, info) = match kind {
                Kind::Folder => ("/", None),
                Kind::File(info) => ("", Some(info)),
            };
            listing.entries.push(Listed { path: format!("{path}{slash}"), depth, info });
            if info.is_none() {
                folders.push_back((path, depth + 1));
            }
        }
    }
    Ok(listing)
}

fn render(start: &DocumentPath, listing: Listing, call: &Call<'_>) -> ToolOutput {
    let Listing { mut entries, mut incomplete } = listing;
    let mut budget = JsonBudget::new(call.max_bytes);
    let shown = entries.iter().take_while(|entry| budget.take(&entry.tree_line().into())).count();
    incomplete |= shown < entries.len();
    entries.truncate(shown);
    let mut result = json!({ "tree": tree_text(start, &entries), "count": entries.len() });
    if incomplete {
        result["note"] = DocumentTexts::of(call.language).more_entries.into();
    }
    let output = json_output(&result, format!("{} entries", entries.len()));
    let paths = entries.iter().map(|entry| entry.path.as_str());
    result["files"] = paths.filter(|path| !path.ends_with('/')).collect();
    ToolOutput { user_text: Some(markdown::format_result(&result.to_string())), ..output }
}

/// The tree as lines such as `  - name/`; the entries of a folder follow it.
fn tree_text(start: &DocumentPath, entries: &[Listed]) -> String {
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
