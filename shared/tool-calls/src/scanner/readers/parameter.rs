use super::end_tag::LiteralSection;
use crate::declared_tools::DeclaredTools;
use crate::json::{JsonScan, ScanStep};
use crate::parameter_value;

/// The prefix of Kimi K3's elements, which are written as control tokens.
pub(super) const TOKEN_PREFIX: &str = "<|";

/// Returns the part of a marker before its element's name, which differs between families.
pub(super) fn element_prefix(marker: &str) -> &str {
    let name = ["<|open|>", "<|close|>"].into_iter().find_map(|token| marker.strip_prefix(token));
    if name.is_some() {
        return TOKEN_PREFIX;
    }
    let name = marker.trim_start_matches(['<', '/']);
    if name.starts_with("param") && !name.starts_with("parameter") {
        return "param";
    }
    let element = ["parameter", "function", "invoke", "key", "value"];
    &name[..element.into_iter().find_map(|element| name.find(element)).unwrap_or_default()]
}

#[derive(Default)]
pub(super) struct Parameter {
    pub(super) key: String,
    /// The value of the attribute `string`.
    pub(super) string: Option<bool>,
    pub(super) start: usize,
    /// Only markers with this prefix are recognised in the value.
    pub(super) prefix: String,
    /// Whether the element held the name, and the value follows it: `<parameter>q</parameter>a`.
    pub(super) follows_element: bool,
    /// Whether a line break before its end tag may be part of the value.
    pub(super) keeps_line_end: bool,
    pub(super) literal: LiteralSection,
    /// JSON in the value, read up to a position; created at the first marker.
    pub(super) json: Option<(Box<JsonScan>, usize)>,
    /// Whether the value was found to be no JSON at the first marker.
    pub(super) is_no_json: bool,
}

impl Parameter {
    pub(super) fn is_in_string(&self) -> bool {
        self.json.as_ref().is_some_and(|(json, _)| json.is_in_string())
    }

    /// Whether the text ends inside a JSON string of the value, where no marker counts.
    pub(super) fn ends_in_json_string(&mut self, text: &str, tool: &str, declared: &DeclaredTools) -> bool {
        self.is_no_json = self.is_no_json || self.json.is_none() && !self.may_be_json(text, tool, declared);
        if self.is_no_json {
            return false;
        }
        let (json, at) = self.json.get_or_insert_with(|| (Box::default(), self.start));
        while let ScanStep::NeedMore(next) | ScanStep::Foreign(next) = json.advance(text, *at) {
            if next == text.len() {
                *at = next;
                return json.is_in_string() && !json.broken;
            }
            *at = json.skip_foreign(next);
        }
        false
    }

    fn may_be_json(&self, text: &str, tool: &str, declared: &DeclaredTools) -> bool {
        let list_or_object = |kind: &&str| matches!(*kind, "object" | "array");
        let schema = declared.parameter(tool, &self.key);
        let typed = schema.is_some_and(|schema| parameter_value::schema_types(schema).iter().any(list_or_object));
        let json = self.string.map_or(typed || declared.is_untyped(tool), |string| !string);
        json && text[self.start..].trim_start().starts_with(['{', '['])
    }
}
