//! What a check needs again and again from a schema, read once.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use crate::parameter_value::schema_types;

/// The types and enumerations of the parts of a schema, by their addresses.
#[derive(Default)]
pub(super) struct SchemaIndex<'a> {
    types: HashMap<*const Value, Rc<[&'a str]>>,
    enumerations: HashMap<*const Value, Enumeration<'a>>,
}

#[derive(Default)]
pub(super) struct Enumeration<'a> {
    exact: HashSet<&'a Value>,
    /// The values by their text; `None` for several of one text.
    by_text: HashMap<String, Option<&'a Value>>,
}

impl<'a> SchemaIndex<'a> {
    pub(super) fn types(&mut self, schema: &'a Value) -> Rc<[&'a str]> {
        Rc::clone(self.types.entry(schema).or_insert_with(|| distinct_types(schema).into()))
    }

    pub(super) fn accepts_null(&mut self, schema: &'a Value) -> bool {
        let listed = schema.get("enum").and_then(Value::as_array);
        let listed = listed.map(|allowed| self.enumeration(allowed).exact.contains(&Value::Null));
        let kinds = self.types(schema);
        kinds.contains(&"null") || listed.unwrap_or(kinds.is_empty())
    }

    pub(super) fn enumeration(&mut self, allowed: &'a [Value]) -> &Enumeration<'a> {
        self.enumerations.entry(allowed.as_ptr()).or_insert_with(|| Enumeration::new(allowed))
    }
}

impl<'a> Enumeration<'a> {
    fn new(allowed: &'a [Value]) -> Self {
        let mut all = Self::default();
        for value in allowed {
            // The same value twice is one.
            if !all.exact.insert(value) {
                continue;
            }
            match all.by_text.entry(text(value)) {
                Entry::Vacant(free) => drop(free.insert(Some(value))),
                Entry::Occupied(mut known) => drop(known.insert(None)),
            }
        }
        all
    }

    /// The value itself, or the only one that differs in case, white space or quotes.
    pub(super) fn find(&self, value: &Value) -> Option<&'a Value> {
        let exact = self.exact.get(value).copied();
        exact.or_else(|| self.by_text.get(&text(value)).copied().flatten())
    }
}

/// The text of a value, without differences of case.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned).trim().to_lowercase()
}

/// The types that a schema accepts, each once; there are few, because all unknown ones accept anything.
pub(super) fn distinct_types(schema: &Value) -> Vec<&str> {
    const KNOWN: [&str; 7] = ["string", "integer", "number", "boolean", "object", "array", "null"];
    let mut seen = HashSet::new();
    let known = |kind: &str| KNOWN.into_iter().find(|known| *known == kind);
    schema_types(schema).into_iter().filter(|kind| seen.insert(known(kind))).collect()
}
