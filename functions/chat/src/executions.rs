//! What is kept of a turn's calls: who made them, with what, and how they went.

use agent::CallRecord;
use serde_json::Value;
use store::Execution;

/// Arguments as JSON are kept up to this, in bytes.
const LONGEST: usize = 4 * 1024;

/// Stands for what may be a secret.
const MASKED: &str = "***";

/// Parts of fields' names, in lower case and without separators, whose values are not kept.
const SECRET_NAMES: [&str; 8] =
    ["password", "passwd", "secret", "token", "apikey", "authorization", "credential", "privatekey"];

/// What keys and tokens begin with.
const SECRET_BEGINNINGS: [&str; 7] = ["Bearer ", "Basic ", "sk-", "tvly-", "ghp_", "AKIA", "eyJ"];

/// The calls for an answer as rows, those too that have not finished.
pub(crate) fn of_answer(calls: &[CallRecord], message_id: &str, agent: &str, conversation_id: &str) -> Vec<Execution> {
    let row = |(place, record): (usize, &CallRecord)| {
        let report = record.report.as_ref();
        let error = match report {
            Some(report) => report.error.as_ref().map(|error| error.code.clone()),
            None => Some("not_finished".to_owned()),
        };
        Execution {
            id: format!("{message_id}-{:03}", place + 1),
            agent: agent.to_owned(),
            conversation_id: conversation_id.to_owned(),
            tool: record.call.name.chars().take(100).collect(),
            arguments: kept(&record.call.arguments),
            ok: report.is_some_and(|report| report.ok),
            error,
            bytes: record.bytes,
            duration_ms: report.map_or(0, |report| report.duration_ms),
            cached: report.is_some_and(|report| report.cached),
            credits: record.credits,
        }
    };
    calls.iter().enumerate().map(row).collect()
}

/// Arguments without secrets, shortened to a text when they are long.
fn kept(arguments: &Value) -> Value {
    let masked = masked(arguments);
    let mut text = masked.to_string();
    if text.len() <= LONGEST {
        return masked;
    }
    text.truncate(text.floor_char_boundary(LONGEST));
    Value::String(text)
}

fn masked(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                (name.clone(), if is_secret_name(name) { MASKED.into() } else { masked(value) })
            };
            Value::Object(fields.iter().map(field).collect())
        }
        Value::Array(items) => items.iter().map(masked).collect(),
        Value::String(text) if SECRET_BEGINNINGS.iter().any(|beginning| text.trim_start().starts_with(beginning)) => {
            MASKED.into()
        }
        other => other.clone(),
    }
}

fn is_secret_name(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    SECRET_NAMES.iter().any(|secret| plain.contains(secret))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn f122_what_may_be_a_secret_is_not_kept() {
        let arguments = json!({
            "query": "茶", "api_key": "x", "Authorization": 7, "nested": [{"X-Auth-Token": "t", "n": 1}],
            "header": "Bearer abc", "text": "sk-123", "note": "a sketch",
        });
        let expected = json!({
            "query": "茶", "api_key": "***", "Authorization": "***", "nested": [{"X-Auth-Token": "***", "n": 1}],
            "header": "***", "text": "***", "note": "a sketch",
        });
        assert_eq!(kept(&arguments), expected);
    }

    #[test]
    fn long_arguments_are_kept_as_the_beginning_of_their_text() {
        let kept = kept(&json!({ "text": "好".repeat(5000) }));
        assert!(kept.as_str().is_some_and(|text| text.len() <= LONGEST && text.starts_with("{\"text\":\"好")));
    }
}
