//! Records of a turn's tool calls, without secrets and personal data.

use agent::CallRecord;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use redaction::Redactor;
use serde_json::Value;
use store::Execution;

/// Maximum length of stored arguments as JSON, in bytes.
const MAX_ARGUMENT_BYTES: usize = 4 * 1024;

/// Maximum length of a stored tool name, in characters.
const MAX_TOOL_NAME: usize = 100;

/// Replaces a value that may be a secret.
const REDACTED: &str = "***";

/// A field is secret if its name, in lower case and without separators, contains one of these.
const SECRET_NAMES: [&str; 8] =
    ["password", "passwd", "secret", "token", "apikey", "authorization", "credential", "privatekey"];

/// Prefixes of keys and tokens.
const SECRET_PREFIXES: [&str; 6] = ["sk-", "tvly-", "ghp_", "lc_", "AKIA", "eyJ"];

/// Minimum length of a key or token in a text, in bytes; few natural-language terms are as long.
const MIN_SECRET: usize = 16;

/// Minimum length of a credential, in bytes, if the whole text is a scheme and this credential.
const MIN_SOLE_CREDENTIAL: usize = 6;

/// Punctuation that may surround a secret and is never a part of it.
const PUNCTUATION: &str = "\"'`,;:()<>";

/// Separators of names and values, as in queries and JSON. A secret may contain them, so texts are split with and without them.
const SEPARATORS: &str = "{}[]=?&";

/// The records of the tool calls of an answer, including calls that have not finished. `first` is the number of calls of
/// the answer before them.
pub(crate) fn executions<'a>(
    calls: impl Iterator<Item = CallRecord<'a>>,
    first: usize,
    redactor: &Redactor,
    message_id: &str,
    agent: &str,
    conversation_id: &str,
) -> Vec<Execution> {
    let row = |(index, record): (usize, CallRecord<'_>)| {
        let outcome = record.outcome;
        let error = match outcome {
            Some(outcome) => outcome.error.as_ref().map(|error| error.code.clone()),
            None => Some("not_finished".to_owned()),
        };
        Execution {
            id: format!("{message_id}-{:03}", index + 1),
            agent: agent.to_owned(),
            conversation_id: conversation_id.to_owned(),
            tool: redactor.redact_text(&record.call.name).chars().take(MAX_TOOL_NAME).collect(),
            arguments: redact_arguments(&record.call.arguments, redactor),
            ok: outcome.is_some_and(|outcome| outcome.ok),
            error,
            bytes: record.bytes,
            duration_ms: outcome.map_or(0, |outcome| outcome.duration_ms),
            cached: outcome.is_some_and(|outcome| outcome.cached),
            credits: record.credits,
        }
    };
    (first..).zip(calls).map(row).collect()
}

/// Arguments without secrets and personal data; long ones are truncated to the beginning of their JSON text.
///
/// Only the stored part is searched for personal data, with a margin in which an address or a number may end.
pub(super) fn redact_arguments(arguments: &Value, redactor: &Redactor) -> Value {
    const MARGIN: usize = 512;
    let redacted = redact_secrets(arguments);
    let mut text = redacted.to_string();
    if text.len() <= MAX_ARGUMENT_BYTES {
        return redactor.redact_json(&redacted);
    }
    text.truncate(text.floor_char_boundary(MAX_ARGUMENT_BYTES + MARGIN));
    let mut text = redactor.redact_text(&text).into_owned();
    text.truncate(text.floor_char_boundary(MAX_ARGUMENT_BYTES));
    Value::String(text)
}

fn redact_secrets(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                (name.clone(), if is_secret_name(name) { REDACTED.into() } else { redact_secrets(value) })
            };
            Value::Object(fields.iter().map(field).collect())
        }
        Value::Array(items) => items.iter().map(redact_secrets).collect(),
        Value::String(text) if holds_secret(text) => REDACTED.into(),
        other => other.clone(),
    }
}

/// Whether the text contains a key, a token, or a credential after its HTTP `Authorization` scheme.
fn holds_secret(text: &str) -> bool {
    let chunks: Vec<_> = text.split_whitespace().map(|chunk| chunk.trim_matches(is_punctuation)).collect();
    let is_separator = |mark: char| mark.is_whitespace() || is_punctuation(mark) || SEPARATORS.contains(mark);
    let parts: Vec<_> = text.split(is_separator).filter(|part| !part.is_empty()).collect();
    is_sole_credential(&chunks) || any_secret(&chunks) || any_secret(&parts)
}

fn is_punctuation(mark: char) -> bool {
    PUNCTUATION.contains(mark)
}

fn any_secret(chunks: &[&str]) -> bool {
    let mut pairs = chunks.iter().zip(chunks.iter().skip(1));
    chunks.iter().any(|chunk| is_key(chunk)) || pairs.any(|(scheme, chunk)| is_credential(scheme, chunk))
}

/// Whether a text is the value of an `Authorization` header: a scheme, and a credential that is more than letters.
fn is_sole_credential(chunks: &[&str]) -> bool {
    let [scheme, credential] = chunks else { return false };
    let plain = credential.trim_end_matches(['.', '?', '!']);
    let is_opaque = credential.len() >= MIN_SOLE_CREDENTIAL && !plain.bytes().all(|byte| byte.is_ascii_alphabetic());
    ["bearer", "basic"].contains(&&*scheme.to_ascii_lowercase()) && is_opaque && is_graphic(credential)
}

fn is_key(chunk: &str) -> bool {
    is_long_and_graphic(chunk) && SECRET_PREFIXES.iter().any(|prefix| chunk.starts_with(prefix))
}

fn is_credential(scheme: &str, chunk: &str) -> bool {
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => is_long_and_graphic(chunk),
        // A name and a password with a colon between them.
        "basic" => {
            let unpadded = chunk.trim_end_matches('=');
            let decoded = STANDARD_NO_PAD.decode(unpadded).or_else(|_| URL_SAFE_NO_PAD.decode(unpadded));
            decoded.is_ok_and(|pair| pair.contains(&b':'))
        }
        _ => false,
    }
}

fn is_long_and_graphic(chunk: &str) -> bool {
    chunk.len() >= MIN_SECRET && is_graphic(chunk)
}

fn is_graphic(chunk: &str) -> bool {
    chunk.bytes().all(|byte| byte.is_ascii_graphic())
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
    fn f122_possible_secrets_are_redacted() {
        let arguments = json!({
            "query": "茶", "api_key": "x", "Authorization": 7, "nested": [{"X-Auth-Token": "t", "n": 1}],
            "header": "Bearer 0123456789abcdef", "text": "sk-0123456789abc", "note": "a sketch",
        });
        let expected = json!({
            "query": "茶", "api_key": "***", "Authorization": "***", "nested": [{"X-Auth-Token": "***", "n": 1}],
            "header": "***", "text": "***", "note": "a sketch",
        });
        assert_eq!(redact_arguments(&arguments, &Redactor::default()), expected);
    }

    #[test]
    fn f122_only_secrets_in_texts_are_redacted() {
        for secret in [
            "Basic YWRhOnNlc2FtZQ==",
            "curl -H 'Authorization: Bearer abcdefghijklmnop'",
            "bearer\tabcdefghijklmnop",
            "my key is `tvly-0123456789abcdef`, use it",
            "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhZGEifQ.AAAA",
            "AKIAIOSFODNN7EXAMPLE",
            "lc_01J00000000000000000000000_0",
            "OPENAI_API_KEY=sk-0123456789abcdef",
            "https://x/?api_key=tvly-0123456789abcdef",
            "https://x/?n=1&key=tvly-0123456789abcdef&m=2",
            "Authorization:Bearer abcdefghijklmnop",
            r#"{"auth":"Bearer abcdefghijklmnop"}"#,
            r#"{"keys":["sk-0123456789abcdef"]}"#,
            "Bearer abcdefgh=ijklmnop for you",
            "as sk-0123:456789:abcdef",
            "send Basic YWRhOnNlc2FtZQ with it",
            "send Basic YWRhOnNlc2FtZT8_Pz8- with it",
            "Bearer abc123",
            "Basic YWRhOnNlc2FtZQ",
            "Basic c2VzYW1l_-",
            "basic \"se-same\"",
        ] {
            assert_eq!(redact_arguments(&json!(secret), &Redactor::default()), REDACTED, "{secret}");
        }
        for harmless in [
            "Basic income in Finland",
            "Basic mathematics",
            "Basic mathematics?",
            "Basic 经济学是什么？",
            "Bearer 3",
            "a Bearer abc123",
            "basic",
            "https://x/?q=sk-learn&n=1",
            "Bearer of bad news",
            "sk-learn or sk-SK",
            "the bearer bonds",
            "AKIA",
            "eyJ is how a token begins",
            "好".repeat(20).as_str(),
        ] {
            assert_eq!(redact_arguments(&json!(harmless), &Redactor::default()), harmless);
        }
    }

    #[test]
    fn long_arguments_are_truncated_to_their_beginning() {
        let truncated = redact_arguments(&json!({ "text": "好".repeat(5000) }), &Redactor::default());
        assert!(
            truncated
                .as_str()
                .is_some_and(|text| text.len() <= MAX_ARGUMENT_BYTES && text.starts_with("{\"text\":\"好"))
        );
    }
}
