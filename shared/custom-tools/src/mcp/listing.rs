//! Lists the usable tools of a server.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::exchange::{Connection, Observer, RpcRequest};
use super::headers::{MirroredParameter, mirrored_parameters};
use crate::call_error::CallError;
use crate::http::parameters;

const MAX_PAGES: usize = 20;

/// Maximum number of tools of one server; the others are left out.
const MAX_TOOLS: usize = 128;

const MAX_OWN_NAME_BYTES: usize = 128;

const MAX_NAME_BYTES: usize = 64;

const MAX_DESCRIPTION_CHARS: usize = 1000;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ListedTool {
    pub(super) own_name: String,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) parameters: Value,
    pub(super) mirrored: Vec<MirroredParameter>,
    /// Whether the server declares that repeating a call has no further effect.
    pub(super) idempotent: bool,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct ToolListing {
    pub(super) tools: Vec<ListedTool>,
    /// The number of unusable tools: a schema that is too large or has external references, an invalid name, or one
    /// tool too many.
    pub(super) unusable: usize,
}

pub(super) async fn list_tools(connection: &Connection, observer: &Observer) -> Result<ToolListing, CallError> {
    let mut all = ToolListing::default();
    let (mut cursor, mut cursors) = (None, HashSet::new());
    for _ in 0..MAX_PAGES {
        let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        let rpc = RpcRequest { method: "tools/list", params, headers: Vec::new(), idempotent: true };
        let mut page = connection.call(&rpc, observer).await?;
        let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) else {
            return Err(CallError::Unreadable);
        };
        all.add(&connection.definition.name, &tools);
        cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        // A list that leads back to an earlier page has no end.
        let has_more = cursor.as_ref().is_some_and(|cursor| cursors.insert(cursor.clone()));
        if !has_more || all.count() > MAX_TOOLS {
            break;
        }
    }
    Ok(all)
}

impl ToolListing {
    /// Adds the next page; tools over the limit are counted but not parsed.
    fn add(&mut self, row: &str, page: &[Value]) {
        for tool in page {
            let listed = if self.count() < MAX_TOOLS { parse_tool(row, tool) } else { None };
            let new = |listed: &ListedTool| self.tools.iter().all(|known| known.own_name != listed.own_name);
            match listed.filter(new) {
                Some(listed) => {
                    let name = unique_name(&listed.name, &self.tools);
                    self.tools.push(ListedTool { name, ..listed });
                }
                None => self.unusable += 1,
            }
        }
    }

    fn count(&self) -> usize {
        self.tools.len() + self.unusable
    }
}

fn parse_tool(row: &str, tool: &Value) -> Option<ListedTool> {
    let text = |name: &str| tool.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let own_name = text("name").filter(|name| name.len() <= MAX_OWN_NAME_BYTES)?;
    let mut parameters = parameters::resolve(tool.get("inputSchema")?).ok()?;
    let mirrored = mirrored_parameters(&parameters)?;
    clean_schema(&mut parameters);
    let description = text("description").or_else(|| text("title")).unwrap_or(own_name);
    let hint = |name: &str| tool.pointer(&format!("/annotations/{name}")) == Some(&Value::Bool(true));
    Some(ListedTool {
        own_name: own_name.to_owned(),
        name: qualified_name(row, own_name),
        description: single_line(description),
        parameters,
        mirrored,
        idempotent: hint("readOnlyHint") || hint("idempotentHint"),
    })
}

/// Builds the name with the row's name as prefix: letters, digits, `_` and `-`.
fn qualified_name(row: &str, own: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("{row}_{}", own.chars().map(clean).collect::<String>()).chars().take(MAX_NAME_BYTES).collect()
}

/// Returns the name, or if it is in use the name with the first free number.
fn unique_name(name: &str, others: &[ListedTool]) -> String {
    let numbered = |number: usize| {
        let end = format!("_{number}");
        format!("{}{end}", name.get(..name.len().min(MAX_NAME_BYTES - end.len())).unwrap_or(name))
    };
    let mut names = std::iter::once(name.to_owned()).chain((2..).map(numbered));
    names.find(|name| others.iter().all(|known| known.name != *name)).unwrap_or_default()
}

/// Formats a text as one line without headings and tags, and limits its length: the line is part of the prompt.
fn single_line(text: &str) -> String {
    let parts = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|part| !part.is_empty());
    let line = parts.collect::<Vec<_>>().join(" ");
    line.chars().take(MAX_DESCRIPTION_CHARS).map(|c| if c == '<' { '＜' } else { c }).collect()
}

/// Formats each description in a schema as one line, and removes the marks that models do not need.
fn clean_schema(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|name, value| name != "x-mcp-header" || value.is_object());
            if let Some(Value::String(description)) = fields.get_mut("description") {
                *description = single_line(description);
            }
            fields.values_mut().for_each(clean_schema);
        }
        Value::Array(items) => items.iter_mut().for_each(clean_schema),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(page: &[Value]) -> ToolListing {
        let mut listing = ToolListing::default();
        listing.add("row", page);
        listing
    }

    fn names(all: &[Value]) -> (Vec<String>, usize) {
        let ToolListing { tools, unusable } = listing(all);
        (tools.into_iter().map(|tool| tool.name).collect(), unusable)
    }

    fn tool(name: &str) -> Value {
        json!({"name": name, "inputSchema": {"type": "object"}})
    }

    #[test]
    fn names_are_valid_for_models_and_unique() {
        let long = "x".repeat(100);
        let all = [tool("a.b"), tool("a b"), tool("get-汉"), tool(&long), tool(&format!("{long}y")), tool("a.b")];
        let cut = "x".repeat(60);
        let expected = ["row_a_b".to_owned(), "row_a_b_2".into(), "row_get-_".into(), format!("row_{cut}")];
        let (found, unusable) = names(&all);
        assert_eq!(found[..4], expected);
        assert_eq!((found[4].clone(), found.len(), unusable), (format!("row_{}_2", &cut[2..]), 5, 1));
    }

    #[test]
    fn f134_only_tools_with_unusable_schemas_are_dropped() {
        let deep = (0..30).fold(json!({}), |inner, _| json!({"items": inner}));
        let with = |schema: Value| json!({"name": "t", "inputSchema": schema});
        for schema in [
            json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/s.json"}}}),
            json!({"type": "object", "properties": {"a": deep}}),
            json!({"type": "object", "description": "a".repeat(20_000)}),
            json!({"type": "array"}),
            json!(null),
        ] {
            assert_eq!(names(&[with(schema), tool("b")]), (vec!["row_b".to_owned()], 1));
        }
        assert_eq!(names(&[json!({}), json!("a"), tool(""), tool(&"a".repeat(129))]), (Vec::new(), 4));
        let pattern = json!({"type": "object", "properties": {"a": {"pattern": "(?=a)b"}}});
        assert_eq!(names(&[with(pattern)]).1, 0, "what the server checks itself is not compiled");
        let late: Vec<Value> = std::iter::repeat_n(json!({}), MAX_TOOLS).chain([tool("a")]).collect();
        assert_eq!(names(&late), (Vec::new(), MAX_TOOLS + 1), "what comes after the most tools is not looked at");
        let many: Vec<Value> = (0..300).map(|number| tool(&format!("t{number}"))).collect();
        assert_eq!(names(&many).1, 300 - MAX_TOOLS);
    }

    #[test]
    fn f135_description_is_one_line_without_tags() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "string", "description": "x\n## y <z>", "x-mcp-header": "A"},
        }});
        let found = listing(&[json!({"name": "t", "description": "a\n\n## b\u{7} </tool>", "inputSchema": schema})]);
        let [tool] = &found.tools[..] else { panic!("one tool") };
        assert_eq!(tool.description, "a ## b ＜/tool>");
        assert_eq!(tool.parameters["properties"], json!({"a": {"type": "string", "description": "x ## y ＜z>"}}));
        assert_eq!(tool.mirrored.len(), 1);
    }
}
