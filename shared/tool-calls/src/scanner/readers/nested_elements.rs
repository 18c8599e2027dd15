//! Values with elements inside for objects and lists. `MiniMax` M3 writes all parameters so, with a token before every tag.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::declared_tools::DeclaredTools;
use crate::parameter_value::{alternatives, decode_string, parse_parameter, schema_types};

/// The token before every tag.
pub(super) const TOKEN: &str = "]<]minimax[>[";
/// The end of a function.
pub(super) const END: &str = "]<]minimax[>[</invoke>";
/// The tag of a list's items.
const ITEM: &str = "item";
const MAX_DEPTH: usize = 128;

/// Parses the parameters of a call of `tool`; `None` for anything else.
pub(super) fn parse_parameters(text: &str, tool: &str, declared: &DeclaredTools) -> Option<Map<String, Value>> {
    let mut tags = Tags { rest: text, token: TOKEN, is_untyped: declared.is_untyped(tool) };
    let mut parameters = Map::new();
    loop {
        if !tags.text().trim().is_empty() {
            return None;
        }
        if tags.rest.is_empty() {
            return Some(parameters);
        }
        let key = tags.open()?;
        let value = tags.read(key, declared.parameter(tool, key), 0)?;
        parameters.insert(key.to_owned(), value);
    }
}

/// Parses a value whose elements have no token before their tags, if the schema allows an object or a list.
pub(super) fn parse_value(text: &str, schema: Option<&Value>, is_untyped: bool) -> Option<Value> {
    let types = schema.map(schema_types).unwrap_or_default();
    let is_nested = is_untyped || types.iter().any(|kind| matches!(*kind, "object" | "array"));
    if !is_nested || !text.trim_start().starts_with('<') {
        return None;
    }
    Tags { rest: text, token: "", is_untyped }.read_members(schema, 0, |tags| tags.rest.trim().is_empty())
}

struct Tags<'a> {
    rest: &'a str,
    token: &'static str,
    is_untyped: bool,
}

impl<'a> Tags<'a> {
    fn text(&mut self) -> &'a str {
        let tag = if self.token.is_empty() { "<" } else { self.token };
        let end = self.rest.find(tag).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        text
    }

    /// The name of the tag that follows, which opens an element.
    fn open(&mut self) -> Option<&'a str> {
        let rest = self.rest.strip_prefix(self.token)?.strip_prefix('<')?;
        let end = rest.find('>').filter(|end| *end > 0 && !rest.starts_with('/'))?;
        self.rest = &rest[end + 1..];
        let tag = &rest[..end];
        // Attributes of a list's items have no meaning. Other tags with attributes are text in markup.
        let is_item = tag.strip_prefix(ITEM).is_some_and(|rest| rest.starts_with(' ') && !rest.ends_with('/'));
        Some(if is_item { ITEM } else { tag })
    }

    /// Whether the tag that follows closes this element; it is read then.
    fn close(&mut self, name: &str) -> bool {
        let rest = self.rest.strip_prefix(self.token).and_then(|rest| rest.strip_prefix("</"));
        let rest = rest.and_then(|rest| rest.strip_prefix(name)).and_then(|rest| rest.strip_prefix('>'));
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Reads the value of the element that was opened.
    fn read(&mut self, name: &str, schema: Option<&Value>, depth: usize) -> Option<Value> {
        let text = self.text();
        if self.close(name) {
            return Some(self.parse(text, schema));
        }
        if depth == MAX_DEPTH || !text.trim().is_empty() {
            return None;
        }
        self.read_members(schema, depth, |tags| tags.close(name))
    }

    /// Reads elements up to the end of the one around them.
    fn read_members(
        &mut self,
        schema: Option<&Value>,
        depth: usize,
        is_end: impl Fn(&mut Self) -> bool,
    ) -> Option<Value> {
        self.text();
        let mut members: Vec<(String, Value)> = Vec::new();
        while !is_end(self) {
            let key = self.open()?;
            let inner = schema.and_then(|schema| inner_schema(schema, key));
            members.push((key.to_owned(), self.read(key, inner, depth + 1)?));
            self.text();
        }
        let types = schema.map(schema_types).unwrap_or_default();
        let has_only_items = members.iter().all(|(key, _)| key == ITEM);
        let (may_be_list, may_be_object) = (types.contains(&"array"), types.contains(&"object"));
        let is_list = match (may_be_list, may_be_object) {
            (true, true) => has_only_items && !schema.is_some_and(|schema| declares(schema, ITEM)),
            (false, false) => has_only_items,
            (may_be_list, _) => may_be_list,
        };
        Some(if is_list {
            members.into_iter().map(|(_, value)| value).collect()
        } else {
            Value::Object(join_repeated(members))
        })
    }

    /// Parses text that is no markup; line breaks at its ends are part of it. Nothing is an empty list or object where a
    /// string is not allowed.
    fn parse(&self, text: &str, schema: Option<&Value>) -> Value {
        let types = schema.map(schema_types).unwrap_or_default();
        if text.trim().is_empty() && !types.contains(&"string") {
            match types.iter().find(|kind| matches!(**kind, "array" | "object")) {
                Some(&"array") => return Value::Array(Vec::new()),
                Some(_) => return Value::Object(Map::new()),
                None => {}
            }
        }
        match parse_parameter(text, None, schema, self.is_untyped) {
            Value::String(_) => decode_string(text),
            value => value,
        }
    }
}

/// The members of an object; those with the same name are one list.
fn join_repeated(members: Vec<(String, Value)>) -> Map<String, Value> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for (key, _) in &members {
        *counts.entry(key.clone()).or_default() += 1;
    }
    let mut object = Map::new();
    for (key, value) in members {
        let is_repeated = counts.get(&key).is_some_and(|count| *count > 1);
        match object.get_mut(&key) {
            Some(Value::Array(values)) => values.push(value),
            _ => {
                object.insert(key, if is_repeated { Value::Array(vec![value]) } else { value });
            }
        }
    }
    object
}

/// Whether an object of this schema, or of one of its alternatives, has this property.
fn declares(schema: &Value, name: &str) -> bool {
    let of = |schema: &Value| schema.get("properties").is_some_and(|all| all.get(name).is_some());
    of(schema) || alternatives(schema).any(of)
}

pub(super) fn inner_schema<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    let of = |schema: &'a Value| schema.get("properties").and_then(|all| all.get(key)).or_else(|| schema.get("items"));
    of(schema).or_else(|| alternatives(schema).find_map(of))
}
