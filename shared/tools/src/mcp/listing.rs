//! Lists the usable tools of a server.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::connection::Connection;
use super::exchange::{Audience, Question};
use super::failure::McpFailure;
use super::headers::{Mirrored, mirrored};
use crate::http::parameters;

/// Maximum number of pages of a list that are requested.
const MOST_PAGES: usize = 20;

/// Maximum number of tools of one server; the others are left out.
const MOST_TOOLS: usize = 128;

/// Longest name on the server, in bytes.
const LONGEST_OWN_NAME: usize = 128;

/// Longest name for models, in bytes.
const LONGEST_NAME: usize = 64;

/// Longest description, in characters.
const LONGEST_DESCRIPTION: usize = 1000;

/// A tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listed {
    /// The name on the server.
    pub(super) own_name: String,
    /// The name for models and agents.
    pub(super) name: String,
    pub(super) description: String,
    pub(super) parameters: Value,
    pub(super) mirrored: Vec<Mirrored>,
    /// Whether the server declares that repeating a call has no further effect.
    pub(super) idempotent: bool,
}

/// The tools of a server.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Listing {
    pub(super) tools: Vec<Listed>,
    /// The number of unusable tools: a schema that is too large or has external references, an invalid name, or one
    /// tool too many.
    pub(super) unusable: usize,
}

/// Requests all tools of a server.
pub(super) async fn list(connection: &Connection, audience: &Audience) -> Result<Listing, McpFailure> {
    let mut all = Listing::default();
    let (mut cursor, mut asked) = (None, HashSet::new());
    for _ in 0..MOST_PAGES {
        let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        let question = Question { method: "tools/list", params, headers: Vec::new(), idempotent: true };
        let mut page = connection.ask(&question, audience).await?;
        let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) else {
            return Err(McpFailure::Unreadable);
        };
        all.add(&connection.definition.name, &tools);
        cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        // A list that leads back to an earlier page has no end.
        let goes_on = cursor.as_ref().is_some_and(|cursor| asked.insert(cursor.clone()));
        if !goes_on || all.seen() > MOST_TOOLS {
            break;
        }
    }
    Ok(all)
}

impl Listing {
    /// Adds the next page; tools over the limit are counted but not parsed.
    fn add(&mut self, row: &str, page: &[Value]) {
        for tool in page {
            let listed = if self.seen() < MOST_TOOLS { listed(row, tool) } else { None };
            let new = |listed: &Listed| self.tools.iter().all(|known| known.own_name != listed.own_name);
            match listed.filter(new) {
                Some(listed) => {
                    let name = free(&listed.name, &self.tools);
                    self.tools.push(Listed { name, ..listed });
                }
                None => self.unusable += 1,
            }
        }
    }

    fn seen(&self) -> usize {
        self.tools.len() + self.unusable
    }
}

fn listed(row: &str, tool: &Value) -> Option<Listed> {
    let text = |name: &str| tool.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let own_name = text("name").filter(|name| name.len() <= LONGEST_OWN_NAME)?;
    let mut parameters = parameters::bounded(tool.get("inputSchema")?).ok()?;
    let mirrored = mirrored(&parameters)?;
    plain(&mut parameters);
    let description = text("description").or_else(|| text("title")).unwrap_or(own_name);
    let hint = |name: &str| tool.pointer(&format!("/annotations/{name}")) == Some(&Value::Bool(true));
    Some(Listed {
        own_name: own_name.to_owned(),
        name: name(row, own_name),
        description: line(description),
        parameters,
        mirrored,
        idempotent: hint("readOnlyHint") || hint("idempotentHint"),
    })
}

/// Builds the name with the row's name as prefix: letters, digits, `_` and `-`.
fn name(row: &str, own: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("{row}_{}", own.chars().map(clean).collect::<String>()).chars().take(LONGEST_NAME).collect()
}

/// Returns the name, or if it is in use the name with the first free number.
fn free(name: &str, taken: &[Listed]) -> String {
    let numbered = |number: usize| {
        let end = format!("_{number}");
        format!("{}{end}", name.get(..name.len().min(LONGEST_NAME - end.len())).unwrap_or(name))
    };
    let mut names = std::iter::once(name.to_owned()).chain((2..).map(numbered));
    names.find(|name| taken.iter().all(|known| known.name != *name)).unwrap_or_default()
}

/// Formats a text as one line without headings and tags, and limits its length: the line is part of the prompt.
fn line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    line.chars().take(LONGEST_DESCRIPTION).map(|c| if c == '<' { '＜' } else { c }).collect()
}

/// Formats each description in a schema as one line, and removes the marks that models do not need.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|name, value| name != "x-mcp-header" || value.is_object());
            if let Some(Value::String(description)) = fields.get_mut("description") {
                *description = line(description);
            }
            fields.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(page: &[Value]) -> Listing {
        let mut listing = Listing::default();
        listing.add("row", page);
        listing
    }

    fn names(all: &[Value]) -> (Vec<String>, usize) {
        let Listing { tools, unusable } = listing(all);
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
        let late: Vec<Value> = std::iter::repeat_n(json!({}), MOST_TOOLS).chain([tool("a")]).collect();
        assert_eq!(names(&late), (Vec::new(), MOST_TOOLS + 1), "what comes after the most tools is not looked at");
        let many: Vec<Value> = (0..300).map(|number| tool(&format!("t{number}"))).collect();
        assert_eq!(names(&many).1, 300 - MOST_TOOLS);
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
