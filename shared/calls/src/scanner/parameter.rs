use crate::declared::Declared;
use crate::json::{Scan, Seen};
use crate::typed;

/// What the markers of GLM's pairs have for a prefix.
pub(super) const PAIR: &str = "arg_";

/// What stands in a marker before the name of its element, which tells families apart.
pub(super) fn prefix(marker: &str) -> &str {
    let name = marker.trim_start_matches(['<', '/']);
    let element =
        ["parameter", "function", "invoke", "key", "value"].into_iter().find_map(|element| name.find(element));
    &name[..element.unwrap_or_default()]
}

/// A parameter whose value is being read.
pub(super) struct Parameter {
    pub(super) key: String,
    /// Whether it is said to be a string.
    pub(super) string: Option<bool>,
    /// Where the value begins.
    pub(super) start: usize,
    /// Only markers with this prefix mean something in it.
    pub(super) prefix: String,
    /// JSON in it, read up to a position; made when a marker is met.
    json: Option<(Box<Scan>, usize)>,
}

impl Parameter {
    pub(super) fn new(key: String, string: Option<bool>, start: usize, prefix: String) -> Self {
        Self { key, string, start, prefix, json: None }
    }

    /// Whether the last marker stood inside a string of JSON.
    pub(super) fn in_string(&self) -> bool {
        self.json.as_ref().is_some_and(|(json, _)| json.in_string())
    }

    /// Whether the end of a text that reaches into the value is inside a string of JSON, where no marker counts.
    pub(super) fn in_json_string(&mut self, text: &str, tool: &str, declared: &Declared) -> bool {
        if self.json.is_none() && !self.may_be_json(text, tool, declared) {
            return false;
        }
        let (json, at) = self.json.get_or_insert_with(|| (Box::default(), self.start));
        while let Seen::More(next) | Seen::Foreign(next) = json.advance(text, *at) {
            if next == text.len() {
                *at = next;
                return json.in_string() && !json.broken();
            }
            *at = json.pass(next);
        }
        false
    }

    fn may_be_json(&self, text: &str, tool: &str, declared: &Declared) -> bool {
        let list_or_object = |kind: &&str| matches!(*kind, "object" | "array");
        let schema = declared.parameter(tool, &self.key);
        let typed = schema.is_some_and(|schema| typed::types(schema).iter().any(list_or_object));
        let json = self.string.map_or(typed || declared.untyped(tool), |string| !string);
        json && text[self.start..].trim_start().starts_with(['{', '['])
    }
}
