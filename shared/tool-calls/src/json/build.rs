use serde_json::{Map, Value};

use super::MAX_DEPTH;

/// Builds a value from the tokens of well-formed JSON.
#[derive(Default)]
pub(super) struct ValueBuilder {
    open: Vec<Container>,
    done: Option<Value>,
}

enum Container {
    Array(Vec<Value>),
    Object { members: Map<String, Value>, key: Option<String> },
}

impl ValueBuilder {
    /// Opens an object or an array; returns false if the nesting is too deep.
    pub(super) fn open(&mut self, object: bool) -> bool {
        let container =
            if object { Container::Object { members: Map::new(), key: None } } else { Container::Array(Vec::new()) };
        self.open.push(container);
        self.open.len() < MAX_DEPTH
    }

    pub(super) fn key(&mut self, name: String) {
        if let Some(Container::Object { key, .. }) = self.open.last_mut() {
            *key = Some(name);
        }
    }

    pub(super) fn value(&mut self, value: Value) {
        match self.open.last_mut() {
            Some(Container::Array(items)) => items.push(value),
            Some(Container::Object { members, key }) => {
                members.insert(key.take().unwrap_or_default(), value);
            }
            None => self.done = Some(value),
        }
    }

    pub(super) fn close(&mut self) {
        match self.open.pop() {
            Some(Container::Array(items)) => self.value(Value::Array(items)),
            Some(Container::Object { members, .. }) => self.value(Value::Object(members)),
            None => {}
        }
    }

    pub(super) fn take(&mut self) -> Option<Value> {
        self.done.take()
    }

    /// The members so far of the outermost object, which may be an item of an array, and the key whose value is being read.
    pub(super) fn outer(&self) -> Option<(&Map<String, Value>, Option<&str>)> {
        self.open.iter().take(2).find_map(|container| match container {
            Container::Object { members, key } => Some((members, key.as_deref())),
            Container::Array(_) => None,
        })
    }
}

/// Parses a literal outside strings: `true`, `false`, `null` or a number. An integer of more than 64 bits becomes a string.
pub(super) fn parse_literal(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    // A float means that the digits did not fit; they must not be rounded silently.
    let is_rounded = value.is_f64() && !text.contains(['.', 'e', 'E']) && text != "-0";
    Some(if is_rounded { Value::String(text.to_owned()) } else { value })
}

/// The open brackets; true is an object, false an array.
#[derive(Default)]
pub(super) struct Nesting {
    open: Vec<bool>,
    objects: usize,
}

impl Nesting {
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn inner(&self) -> Option<bool> {
        self.open.last().copied()
    }

    pub(super) fn open(&mut self, object: bool) {
        self.open.push(object);
        self.objects += usize::from(object);
    }

    /// Closes the nearest bracket of this kind and all inside it; without one, the innermost.
    pub(super) fn close(&mut self, object: bool) {
        let exists = if object { self.objects > 0 } else { self.objects < self.open.len() };
        while let Some(inner) = self.open.pop() {
            self.objects -= usize::from(inner);
            if inner == object || !exists {
                break;
            }
        }
    }
}
