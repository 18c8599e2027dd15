use std::collections::BTreeMap;
use std::ops::Bound::{Included, Unbounded};

use domain::ToolSpec;
use serde_json::{Map, Value};

use crate::parameter_value::required_fields;
use crate::schema_refs::resolve_refs;

/// The declared tools; they decide where the form of a call alone is ambiguous.
#[derive(Debug, Default)]
pub(crate) struct DeclaredTools {
    parameters: BTreeMap<String, Value>,
    first_bytes: Vec<u8>,
}

impl DeclaredTools {
    pub(crate) fn new(tools: &[ToolSpec]) -> Self {
        let mut parameters = BTreeMap::new();
        parameters.extend(tools.iter().map(|tool| (tool.name.clone(), resolve_refs(&tool.parameters).into_owned())));
        let mut first_bytes: Vec<_> = parameters.keys().filter_map(|name: &String| name.bytes().next()).collect();
        first_bytes.dedup();
        Self { parameters, first_bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.parameters.contains_key(name)
    }

    /// The declared name that a model doubled, as in `f.f`; else the name as it is.
    pub(crate) fn undoubled<'a>(&self, name: &'a str) -> &'a str {
        match name.split_once('.') {
            Some((left, right)) if left == right && self.has(left) && !self.has(name) => left,
            _ => name,
        }
    }

    pub(crate) fn has_first_byte(&self, byte: u8) -> bool {
        self.first_bytes.contains(&byte)
    }

    pub(crate) fn has_prefix(&self, start: &str) -> bool {
        if start.bytes().next().is_some_and(|byte| !self.has_first_byte(byte)) {
            return false;
        }
        let next = self.parameters.range::<str, _>((Included(start), Unbounded)).next();
        next.is_some_and(|(name, _)| name.starts_with(start))
    }

    pub(crate) fn parameter(&self, tool: &str, name: &str) -> Option<&Value> {
        self.properties(tool)?.get(name)
    }

    pub(crate) fn has_parameter_prefix(&self, tool: &str, start: &str) -> bool {
        self.properties(tool).is_some_and(|all| all.keys().any(|name| name.starts_with(start)))
    }

    pub(crate) fn any_has_parameter(&self, name: &str) -> bool {
        self.parameters.keys().any(|tool| self.parameter(tool, name).is_some())
    }

    pub(crate) fn accepts(&self, tool: &str, arguments: &Value) -> bool {
        arguments.as_object().is_some_and(|arguments| self.has_required(tool, arguments))
    }

    /// The same for partially read arguments.
    pub(crate) fn has_required(&self, tool: &str, arguments: &Map<String, Value>) -> bool {
        let Some(schema) = self.parameters.get(tool) else { return false };
        required_fields(schema).all(|name| arguments.contains_key(name))
    }

    /// Whether the tool is declared, all required arguments are present, and it has a parameter for every argument. A tool
    /// without a schema takes any.
    pub(crate) fn fits(&self, tool: &str, arguments: &Value) -> bool {
        self.is_untyped(tool)
            || self.accepts(tool, arguments)
                && arguments.as_object().is_some_and(|all| all.keys().all(|name| self.parameter(tool, name).is_some()))
    }

    /// The parameter for the only argument of a call that does not name it: the single required one, or the single one.
    pub(crate) fn unnamed_parameter(&self, tool: &str) -> Option<&str> {
        let schema = self.parameters.get(tool)?;
        let mut required = required_fields(schema);
        match (required.next(), required.next()) {
            (Some(only), None) => Some(only),
            (None, _) => self.only_parameter(tool),
            (Some(_), Some(_)) => None,
        }
    }

    /// Whether the tool is declared without a schema of its parameters.
    pub(crate) fn is_untyped(&self, tool: &str) -> bool {
        self.parameters.get(tool).is_some_and(|schema| !schema.get("properties").is_some_and(Value::is_object))
    }

    pub(crate) fn only_parameter(&self, tool: &str) -> Option<&str> {
        let mut names = self.properties(tool)?.keys();
        names.next().filter(|_| names.next().is_none()).map(String::as_str)
    }

    fn properties(&self, tool: &str) -> Option<&Map<String, Value>> {
        self.parameters.get(tool)?.get("properties")?.as_object()
    }
}
