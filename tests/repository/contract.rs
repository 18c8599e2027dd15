//! `docs/reference/api.md` lists every route, event and error code of the product, and the `OpenAPI` document the latter two.

use std::collections::BTreeSet;

use crate::sources::files_below;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

fn read(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap();
    let mut files = files_below(folder, &[name]);
    assert_eq!(files.len(), 1, "{path}");
    files.remove(0).text
}

fn contract() -> String {
    read("docs/reference/api.md")
}

/// Each method and path of a route table, such as `GET /healthz`.
fn routes(table: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for route in table.split(".route(").skip(1) {
        let path = route.split('"').nth(1).unwrap();
        let handlers = route.split_once(',').unwrap().1;
        for method in METHODS {
            let is_called = handlers.match_indices(&format!("{method}(")).any(|(at, _)| {
                handlers[..at]
                    .chars()
                    .next_back()
                    .is_none_or(|before| !before.is_alphanumeric() && before != ':' && before != '_')
            });
            if is_called {
                found.insert(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    found
}

/// The routes of the first column of the table of routes; `…` repeats the path before it.
fn documented_routes(contract: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let rows = contract.lines().filter(|line| line.starts_with("| `") && line.contains("` /") || line.contains(" /"));
    for cell in rows.filter_map(|row| row.split('|').nth(1)) {
        let mut path = "";
        for span in cell.split('`').skip(1).step_by(2) {
            let Some((method, rest)) = span.split_once(' ') else { continue };
            if rest != "…" {
                path = rest.split('?').next().unwrap_or_default();
            }
            found.insert(format!("{method} {path}"));
        }
    }
    found
}

/// The variants of an enumeration in snake case.
fn variants(source: &str, declaration: &str) -> BTreeSet<String> {
    let body = source.split_once(declaration).unwrap().1.split_once("\n}").unwrap().0;
    let lines = body.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
    let names = lines.filter_map(|line| line.trim().split([' ', '(', '{', ',']).next());
    let variants = names.filter(|name| name.starts_with(|first: char| first.is_ascii_uppercase()));
    variants.map(snake_case).collect()
}

fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(character.to_ascii_lowercase());
    }
    text
}

#[test]
fn contract_lists_all_routes() {
    let table = read("functions/chat/src/lib.rs");
    let table = table.split_once("#[cfg(test)]").map_or(table.as_str(), |(code, _)| code);
    let expected: BTreeSet<String> = routes(table).into_iter().map(|route| route.replace("{*", "{")).collect();
    assert!(expected.len() > 30, "{expected:?}");
    assert_eq!(documented_routes(&contract()), expected);
}

#[test]
fn contract_lists_all_events() {
    let events = variants(&read("shared/client-protocols/src/native.rs"), "enum Payload<'a> {");
    assert!(events.contains("tool_progress") && events.len() > 8, "{events:?}");
    let contract = contract();
    let missing: Vec<_> = events.iter().filter(|event| !contract.contains(&format!("| `{event}` |"))).collect();
    assert_eq!(missing, Vec::<&String>::new());
    let description = read("docs/reference/openapi.json");
    let missing: Vec<_> =
        events.iter().filter(|event| !description.contains(&format!(r#""const":"{event}""#))).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

#[test]
fn contract_lists_all_error_codes() {
    let codes = variants(&read("shared/domain/src/failure.rs"), "declare_error_codes! {");
    assert!(codes.contains("rate_limited") && codes.len() > 20, "{codes:?}");
    let contract = contract();
    let missing: Vec<_> = codes.iter().filter(|code| !contract.contains(&format!("| `{code}` |"))).collect();
    assert_eq!(missing, Vec::<&String>::new());
    let description: serde_json::Value = serde_json::from_str(&read("docs/reference/openapi.json")).unwrap();
    let described = description["components"]["schemas"]["ErrorCode"]["enum"].as_array().unwrap();
    let described: BTreeSet<String> = described.iter().map(|code| code.as_str().unwrap().to_owned()).collect();
    assert_eq!(described, codes);
}
