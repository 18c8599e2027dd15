//! Parameters of a function written as YAML: the part of that language which models use for arguments.

use serde_json::{Map, Value};

use super::nested_elements::inner_schema;
use crate::declared_tools::DeclaredTools;
use crate::json;
use crate::markers::Match;
use crate::parameter_value::{parse_parameter, schema_types};

const MAX_KEY_BYTES: usize = 128;
const MAX_DEPTH: usize = 32;

/// Matches `key:` at the beginning of a text, up to and including the blank or the line break after the colon.
pub(super) fn match_key(text: &str) -> Match<&str> {
    let end = text.find(|c: char| !is_key(c)).unwrap_or(text.len());
    let key = &text[..end];
    if key.len() > MAX_KEY_BYTES || key.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '_') {
        return Match::None;
    }
    let mut after = text[end..].chars();
    match (after.next(), after.next()) {
        (Some(':'), Some(' ' | '\t' | '\r' | '\n')) if end > 0 => Match::Full(key, end + 2),
        (None, _) | (Some(':'), None) => Match::Partial,
        _ => Match::None,
    }
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Parses the parameters of a call of `tool`; `None` for anything else. Parameters that the tool does not have are left out.
///
/// In text with an end tag, `is_closed`, lines that are neither indented nor keys continue the value before them, because
/// models forget to indent long texts.
pub(super) fn parse_parameters(
    text: &str,
    tool: &str,
    declared: &DeclaredTools,
    is_closed: bool,
) -> Option<Map<String, Value>> {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let is_untyped = declared.is_untyped(tool);
    let reader = Reader { is_untyped };
    let is_known = |key: &str| is_untyped || declared.parameter(tool, key).is_some();
    let mut parameters = Map::new();
    let mut rest = skip_blank(&lines);
    let base = indent(rest.first()?);
    while let Some((first, after)) = rest.split_first() {
        let (key, inline) = split_key(first).filter(|_| indent(first) == base)?;
        let length = block_len(after, base, &is_known, is_closed, inline.is_empty());
        let (block, next) = after.split_at(length);
        if is_known(key) {
            let value = reader.read(inline, block, declared.parameter(tool, key), 0)?;
            if value.is_null() && !is_closed {
                return None;
            }
            if !value.is_null() {
                parameters.insert(key.to_owned(), value);
            }
        }
        rest = skip_blank(next);
    }
    Some(parameters)
}

/// The number of lines that belong to the value of a key at this indentation.
fn block_len(lines: &[String], base: usize, is_known: &dyn Fn(&str) -> bool, is_closed: bool, is_empty: bool) -> usize {
    let mut continues = false;
    let end = lines.iter().position(|line| {
        if line.trim().is_empty() || indent(line) > base || is_empty && is_item(line) && indent(line) == base {
            return false;
        }
        match split_key(line) {
            Some((key, _)) if indent(line) == base && (is_known(key) || !continues) => return true,
            _ => continues = is_closed,
        }
        !is_closed
    });
    end.unwrap_or(lines.len())
}

/// Splits a line at its key: the key and the text after the colon.
fn split_key(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.trim_start().split_once(':')?;
    let key = key.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(key);
    let is_separate = rest.is_empty() || rest.starts_with([' ', '\t']);
    (is_separate && !key.is_empty() && key.chars().all(is_key)).then(|| (key, rest.trim()))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn is_item(line: &str) -> bool {
    let line = line.trim();
    line == "-" || line.starts_with("- ")
}

fn skip_blank(lines: &[String]) -> &[String] {
    let is_skipped = |line: &String| line.trim().is_empty() || line.trim_start().starts_with("# ");
    &lines[lines.iter().position(|line| !is_skipped(line)).unwrap_or(lines.len())..]
}

struct Reader {
    is_untyped: bool,
}

impl Reader {
    /// Reads the value of a key: the text after its colon and the lines below it. Without both it is null.
    fn read(&self, inline: &str, block: &[String], schema: Option<&Value>, depth: usize) -> Option<Value> {
        let lines = skip_blank(block);
        if let Some(text) = block_scalar(inline, block) {
            return Some(self.typed(&text, schema));
        }
        let Some(first) = lines.first() else {
            return Some(if inline.is_empty() { Value::Null } else { self.scalar(inline, schema) });
        };
        if !inline.is_empty() || depth == MAX_DEPTH {
            let text = format!("{inline}\n{}", block.join("\n"));
            return Some(self.typed(text.trim_end(), schema));
        }
        let is_text = schema.map(schema_types).is_some_and(|types| types.iter().all(|kind| *kind == "string"));
        if is_item(first) && !is_text {
            self.read_list(lines, schema, depth)
        } else if split_key(first).is_some() && !is_text {
            self.read_map(lines, schema, depth).map(Value::Object)
        } else {
            let text: Vec<_> = lines.iter().map(|line| line.trim()).collect();
            Some(self.scalar(text.join(" ").trim(), schema))
        }
    }

    fn read_list(&self, lines: &[String], schema: Option<&Value>, depth: usize) -> Option<Value> {
        let (mut items, mut rest) = (Vec::new(), lines);
        let items_schema = schema.and_then(|schema| schema.get("items"));
        while let Some((first, after)) = rest.split_first() {
            let base = indent(first);
            let content = first.trim_start().strip_prefix('-')?.trim();
            let length = after.iter().position(|line| !line.trim().is_empty() && indent(line) <= base);
            let (block, next) = after.split_at(length.unwrap_or(after.len()));
            if split_key(content).is_some() {
                let line = format!("{}{content}", " ".repeat(base + 2));
                let member_lines: Vec<_> = [line].into_iter().chain(block.iter().cloned()).collect();
                items.push(Value::Object(self.read_map(&member_lines, items_schema, depth + 1)?));
            } else {
                items.push(self.read(content, block, items_schema, depth + 1)?);
            }
            rest = skip_blank(next);
        }
        Some(Value::Array(items))
    }

    fn read_map(&self, lines: &[String], schema: Option<&Value>, depth: usize) -> Option<Map<String, Value>> {
        let (mut members, mut rest) = (Map::new(), lines);
        let base = indent(lines.first()?);
        while let Some((first, after)) = rest.split_first() {
            let (key, inline) = split_key(first).filter(|_| indent(first) == base)?;
            let (block, next) = after.split_at(block_len(after, base, &|_| true, false, inline.is_empty()));
            let inner = schema.and_then(|schema| inner_schema(schema, key));
            members.insert(key.to_owned(), self.read(inline, block, inner, depth + 1)?);
            rest = skip_blank(next);
        }
        Some(members)
    }

    fn scalar(&self, text: &str, schema: Option<&Value>) -> Value {
        let in_quotes = |quote: char| text.len() > 1 && text.starts_with(quote) && text.ends_with(quote);
        if in_quotes('"') {
            return json::parse(text).unwrap_or_else(|| Value::String(text[1..text.len() - 1].to_owned()));
        }
        if in_quotes('\'') {
            return Value::String(text[1..text.len() - 1].replace("''", "'"));
        }
        self.typed(text, schema)
    }

    /// Reads plain text: what the schema allows or, without a type, what it is in JSON.
    fn typed(&self, text: &str, schema: Option<&Value>) -> Value {
        parse_parameter(text, None, schema, self.is_untyped || schema.is_none())
    }
}

/// The text of a block that keeps its line breaks (`|`) or folds them (`>`), without the last one.
fn block_scalar(inline: &str, block: &[String]) -> Option<String> {
    let folds = inline.starts_with('>');
    let options = inline.strip_prefix(['|', '>'])?;
    if !options.chars().all(|c| matches!(c, '-' | '+' | '0'..='9')) {
        return None;
    }
    let margin = block.iter().find(|line| !line.trim().is_empty()).map_or(0, |line| indent(line));
    let lines = block.iter().map(|line| &line[margin.min(indent(line))..]);
    let text = lines.collect::<Vec<_>>().join("\n");
    let text = text.trim_end();
    if !folds {
        return Some(text.to_owned());
    }
    let paragraphs = text.split("\n\n").map(|paragraph| paragraph.trim().replace('\n', " "));
    Some(paragraphs.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use domain::ToolSpec;
    use serde_json::{Value, json};

    use super::{match_key, parse_parameters};
    use crate::declared_tools::DeclaredTools;
    use crate::markers::Match;

    fn parse(text: &str, is_closed: bool) -> Option<Value> {
        let properties = json!({
            "city": {"type": "string"}, "days": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}},
            "stops": {"type": "array", "items": {"type": "object", "properties": {"at": {"type": "string"}}}},
            "filter": {"type": "object", "properties": {"from": {"type": "string"}, "exact": {"type": "boolean"}}},
        });
        let tool = ToolSpec {
            name: "f".to_owned(),
            description: String::new(),
            parameters: json!({"type": "object", "properties": properties}),
            examples: Vec::new(),
        };
        parse_parameters(text, "f", &DeclaredTools::new(&[tool]), is_closed).map(Value::Object)
    }

    #[test]
    fn scalars_have_the_types_of_the_schema() {
        let text = "\n  # a comment\n  city: Oslo\n  days: 3\n\n  mood: sunny\n";
        assert_eq!(parse(text, true), Some(json!({"city": "Oslo", "days": 3})));
        assert_eq!(parse("city: \"O\\u0073lo\"", true), Some(json!({"city": "Oslo"})));
        assert_eq!(parse("city: 'it''s'", true), Some(json!({"city": "it's"})));
        assert_eq!(parse("city:\n  Oslo\ndays:\n", true), Some(json!({"city": "Oslo"})));
    }

    #[test]
    fn lists_and_maps_are_nested() {
        for tags in ["tags:\n  - a\n  - 'b: c'\n", "tags:\n- a\n- 'b: c'", "tags: [\"a\", \"b: c\"]"] {
            assert_eq!(parse(tags, true), Some(json!({"tags": ["a", "b: c"]})), "{tags}");
        }
        let text = "stops:\n  - at: x\n    by: train\n  -\n    at: '1'\nfilter:\n  from: '2024'\n  exact: true";
        let expected = json!({
            "stops": [{"at": "x", "by": "train"}, {"at": "1"}], "filter": {"from": "2024", "exact": true},
        });
        assert_eq!(parse(text, true), Some(expected));
    }

    #[test]
    fn blocks_keep_or_fold_their_lines() {
        assert_eq!(
            parse("city: |\n  a: 1\n    b\n\n  c\ndays: 1", true),
            Some(json!({"city": "a: 1\n  b\n\nc", "days": 1}))
        );
        assert_eq!(parse("city: >-\n  a\n  b\n\n  c\n", true), Some(json!({"city": "a b\nc"})));
        assert_eq!(
            parse("city: a\n  b\nnot indented\nx: 1\ndays: 1", true),
            Some(json!({"city": "a\n  b\nnot indented\nx: 1", "days": 1}))
        );
        assert_eq!(parse("city: a\nnot indented", false), None);
    }

    #[test]
    fn other_text_is_rejected() {
        for text in ["- a\n- b", "[", "", "city", "city: a\n days: 1\nx"] {
            assert_eq!(parse(text, false), None, "{text}");
        }
    }

    #[test]
    fn key_ends_at_its_colon() {
        assert_eq!(match_key("city: x"), Match::Full("city", 6));
        for text in ["", "ci", "city:"] {
            assert_eq!(match_key(text), Match::Partial, "{text}");
        }
        for text in ["1a: x", "a b: x", "http://x", "- a", "<a>"] {
            assert_eq!(match_key(text), Match::None, "{text}");
        }
    }
}
