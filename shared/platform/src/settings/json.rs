//! Settings in JSON, whose errors locate the mistake.

use serde::Deserialize;

use super::{SettingError, Settings};

/// The fields of the objects in a value, each with what it accepts as the end of a sentence.
pub type JsonFields = [(&'static str, &'static str)];

impl Settings {
    /// Parses a value in JSON; `None` if unset. `accepted` describes the whole.
    ///
    /// # Errors
    /// The element, the field and the position of the mistake, without any text of the value.
    pub fn parse_json<'a, T: Deserialize<'a>>(
        &'a self,
        name: &str,
        accepted: &str,
        fields: &JsonFields,
    ) -> Result<Option<T>, SettingError> {
        let Some(text) = self.var(name) else { return Ok(None) };
        serde_json::from_str(text).map(Some).map_err(|error| {
            let mut before = text_before(text, &error);
            // A value that is converted may fail when the parser has seen the end of its object.
            if !error.to_string().starts_with("missing field") {
                before = before.strip_suffix('}').unwrap_or(before);
            }
            json_error(name, path_in(before), &error, accepted, fields)
        })
    }
}

/// The text up to the position of an error.
fn text_before<'a>(text: &'a str, error: &serde_json::Error) -> &'a str {
    let start: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    text.get(..start + error.column()).unwrap_or(text)
}

/// The path to the end of the beginning of a JSON text.
fn path_in(text: &str) -> Vec<String> {
    // The index in each array, the key in each object.
    let (mut path, mut string, mut is_escaped) = (Vec::<(Option<usize>, &str)>::new(), None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (string, byte) {
            _ if is_escaped => is_escaped = false,
            (Some(_), b'\\') => is_escaped = true,
            (Some(start), b'"') => {
                if let Some((None, key @ "")) = path.last_mut() {
                    *key = text.get(start..at).unwrap_or_default();
                }
                string = None;
            }
            (None, b'"') => string = Some(at + 1),
            (None, b'[') => path.push((Some(0), "")),
            (None, b'{') => path.push((None, "")),
            (None, b']' | b'}') => drop(path.pop()),
            (None, b',') => path.iter_mut().last().into_iter().for_each(|part| *part = (part.0.map(|at| at + 1), "")),
            _ => {}
        }
    }
    let names = path.into_iter().filter(|part| *part != (None, ""));
    names.map(|(index, key)| index.map_or_else(|| format!(".{key}"), |index| format!("[{index}]"))).collect()
}

fn json_error(
    name: &str,
    mut path: Vec<String>,
    error: &serde_json::Error,
    accepted: &str,
    fields: &JsonFields,
) -> SettingError {
    let position = format!("line {}, column {}", error.line(), error.column());
    if !error.is_data() {
        return SettingError::new(name, format!("{accepted}; it is not JSON at {position}"));
    }
    // The parser names a missing field, which is the product's own, and an unknown one, which may be a secret.
    let message = error.to_string();
    if let Some((field, _)) = message.strip_prefix("missing field `").and_then(|rest| rest.split_once('`')) {
        path.push(format!(".{field}"));
    } else if message.starts_with("unknown field") || message.starts_with("duplicate field") {
        path.pop();
    }
    let last = path.last().map(|part| part.trim_start_matches('.'));
    let accepted = match fields.iter().find(|(field, _)| last == Some(field)) {
        Some((_, accepted)) => (*accepted).to_owned(),
        None if path.is_empty() => accepted.to_owned(),
        None => {
            let names: Vec<_> = fields.iter().map(|(field, _)| *field).collect();
            format!("an object with no other fields than {}, each once", names.join(", "))
        }
    };
    SettingError::new(name, format!("{accepted} ({position})")).at(path.concat())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Colour {
        Red,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors are compared")]
    struct Row {
        name: String,
        colour: Option<Colour>,
    }

    const FIELDS: &JsonFields = &[("name", "a text"), ("colour", "red")];

    fn mistake<'a, T: Deserialize<'a> + std::fmt::Debug>(settings: &'a Settings) -> String {
        settings.parse_json::<T>("ROWS", "some rows", FIELDS).unwrap_err().to_string()
    }

    #[test]
    fn mistake_in_json_is_located_without_its_text() {
        let object = "an object with no other fields than name, colour, each once";
        for (text, expected) in [
            ("secret", "ROWS: expected some rows; it is not JSON at line 1, column 1".to_owned()),
            ("[{\"name\": secret", "ROWS: expected some rows; it is not JSON at line 1, column 11".to_owned()),
            ("[] secret", "ROWS: expected some rows; it is not JSON at line 1, column 4".to_owned()),
            ("[\n{\"name\":\"a\"", "ROWS: expected some rows; it is not JSON at line 2, column 11".to_owned()),
            ("{}", "ROWS: expected some rows (line 1, column 0)".to_owned()),
            ("[1]", format!("ROWS[0]: expected {object} (line 1, column 2)")),
            ("[{\"name\":\"a\"},\n{\"name\":1}]", "ROWS[1].name: expected a text (line 2, column 9)".to_owned()),
            (r#"[{"colour":"red"}]"#, "ROWS[0].name: expected a text (line 1, column 17)".to_owned()),
            (r#"[{"name":"a","colour":"secret"}]"#, "ROWS[0].colour: expected red (line 1, column 30)".to_owned()),
            (r#"[{"name":"a","secret":1}]"#, format!("ROWS[0]: expected {object} (line 1, column 21)")),
        ] {
            assert_eq!(mistake::<Vec<Row>>(&Settings::from_pairs([("ROWS", text)])), expected, "{text}");
        }
        let by_name = Settings::from_pairs([("ROWS", r#"{"one":{"name":"a"},"two.x":{"name":2}}"#)]);
        assert_eq!(mistake::<BTreeMap<String, Row>>(&by_name), "ROWS.two.x.name: expected a text (line 1, column 37)");
    }
}
