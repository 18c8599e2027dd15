//! `list_directory`: the tree of a folder.

use std::collections::VecDeque;

use prompts::{DocumentTexts, ToolFile};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tools::ToolOutput;

use crate::DocumentError;
use crate::document_path::DocumentPath;
use crate::interrupt::Interrupt;
use crate::tool::{Call, JsonBudget, Operation, json_output};
use crate::tree::{Kind, ROOT_NAME, Tree};

const MAX_ENTRIES: usize = 500;

/// Lists the files and folders below a folder, those near it first. The result is JSON: `tree`, `files`, `count`, and a
/// `note` if entries are left out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListDirectory {
    /// Relative to the root, which is the default.
    #[serde(default)]
    path: Option<String>,
}

impl Operation for ListDirectory {
    const FILE: ToolFile = ToolFile::LIST_DIRECTORY;
    const CATEGORY: &'static str = "file";

    fn run(self, tree: &mut Tree, call: &Call<'_>) -> Result<ToolOutput, DocumentError> {
        let path = DocumentPath::parse(self.path.as_deref().unwrap_or_default())?;
        let (entries, incomplete) = list(tree, &path, call.interrupt)?;
        Ok(render(&path, &entries, incomplete, call))
    }
}

/// Lists a folder breadth first, without recursion, and returns whether entries are left out.
fn list(
    tree: &mut Tree,
    start: &DocumentPath,
    interrupt: &Interrupt,
) -> Result<(Vec<(DocumentPath, Kind)>, bool), DocumentError> {
    if tree.kind(start)? != Kind::Folder {
        return Err(DocumentError::IsFile);
    }
    let (mut entries, mut folders) = (Vec::new(), VecDeque::from([start.clone()]));
    while let Some(folder) = folders.pop_front() {
        for entry in tree.entries(&folder) {
            if entries.len() >= MAX_ENTRIES || interrupt.is_due() {
                return Ok((entries, true));
            }
            folders.extend((entry.1 == Kind::Folder).then(|| entry.0.clone()));
            entries.push(entry);
        }
    }
    Ok((entries, false))
}

fn render(start: &DocumentPath, entries: &[(DocumentPath, Kind)], incomplete: bool, call: &Call<'_>) -> ToolOutput {
    let line = |(path, kind): &(DocumentPath, Kind)| {
        let (slash, info) = match kind {
            Kind::Folder => ("/", String::new()),
            Kind::File(info) => ("", format!(" ({})", info.describe())),
        };
        let indentation = "  ".repeat(path.names().count() - start.names().count());
        format!("{indentation}- {}{slash}{info}", path.names().last().unwrap_or_default())
    };
    let mut budget = JsonBudget::new(call.max_bytes);
    let fits = |entry: &&(DocumentPath, Kind)| budget.take(&format!("{}{}", line(entry), entry.0.as_str()).into());
    let mut shown: Vec<_> = entries.iter().take_while(fits).collect();
    let files: Vec<&str> =
        shown.iter().filter(|(_, kind)| *kind != Kind::Folder).map(|(path, _)| path.as_str()).collect();
    // In the tree the entries of a folder follow it.
    shown.sort_by(|(one, _), (other, _)| one.names().cmp(other.names()));
    let top = format!("- {}/", start.names().last().unwrap_or(ROOT_NAME));
    let tree: Vec<String> = [top].into_iter().chain(shown.iter().map(|entry| line(entry))).collect();
    let mut result = json!({ "tree": tree.join("\n"), "files": files, "count": shown.len() });
    if incomplete || shown.len() < entries.len() {
        result["note"] = DocumentTexts::of(call.language).more_entries.into();
    }
    json_output(&result, format!("{} entries", shown.len()))
}
