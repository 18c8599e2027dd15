//! The table of routes and types in `api.txt`.

use std::collections::BTreeMap;

/// The routes of a table, and its types in their order.
#[derive(Default)]
pub(crate) struct Table<'a> {
    pub(crate) routes: Vec<Route<'a>>,
    pub(crate) types: Vec<(&'a str, String)>,
}

/// A route with the group to which it belongs.
pub(crate) struct Route<'a> {
    pub(crate) group: Group<'a>,
    pub(crate) method: &'a str,
    /// With a `*` before a parameter that may contain slashes.
    pub(crate) path: &'a str,
    pub(crate) id: &'a str,
    pub(crate) summary: &'a str,
    /// The other lines.
    pub(crate) lines: Vec<&'a str>,
}

/// The first line of a group: its tag, who has access, and the format of errors.
#[derive(Clone, Copy, Default)]
pub(crate) struct Group<'a> {
    pub(crate) tag: &'a str,
    pub(crate) access: &'a str,
    pub(crate) errors: &'a str,
}

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

impl<'a> Table<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let (mut table, mut group) = (Self::default(), Group::default());
        // Whether the last line at the margin began a type.
        let mut in_type = false;
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let first = line.split(' ').next().unwrap_or_default();
            if let Some(head) = line.strip_prefix('[') {
                group = Group::parse(head.trim_end_matches(']'));
            } else if METHODS.contains(&first) {
                in_type = false;
                table.routes.push(Route::parse(line, group));
            } else if let (false, Some((name, rest))) = (line.starts_with(' '), line.split_once(" = ")) {
                in_type = true;
                table.types.push((name, rest.to_owned()));
            } else if let (true, Some((_, text))) = (in_type, table.types.last_mut()) {
                *text = format!("{text}\n{line}");
            } else if let Some(route) = table.routes.last_mut() {
                route.add(line.trim());
            }
        }
        table
    }

    pub(crate) fn types_by_name(&self) -> BTreeMap<&'a str, String> {
        self.types.iter().cloned().collect()
    }
}

impl<'a> Group<'a> {
    fn parse(head: &'a str) -> Self {
        let (tag, rest) = head.split_once(": ").unwrap_or((head, "public"));
        let (access, errors) = rest.split_once(", ").unwrap_or((rest, "Error"));
        Self { tag, access, errors }
    }
}

impl<'a> Route<'a> {
    fn parse(line: &'a str, group: Group<'a>) -> Self {
        let mut parts = line.split(' ');
        let [method, path, id] = std::array::from_fn(|_| parts.next().unwrap_or_default());
        assert!(!id.is_empty() && parts.next().is_none(), "not a method, a path and a name: {line}");
        Self { group, method, path, id, summary: "", lines: Vec::new() }
    }

    fn add(&mut self, line: &'a str) {
        if self.summary.is_empty() {
            self.summary = line;
        } else {
            self.lines.push(line);
        }
    }
}
