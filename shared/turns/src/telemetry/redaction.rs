//! What is kept of a turn's calls: who made them, with what, and how they went.

use agent::CallRecord;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use redaction::Redactor;
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
const SECRET_BEGINNINGS: [&str; 6] = ["sk-", "tvly-", "ghp_", "lc_", "AKIA", "eyJ"];

/// No key or token is shorter, and few words are as long.
const SHORTEST_SECRET: usize = 16;

/// The same behind a scheme, where the text is nothing else and this is not letters alone.
const SHORTEST_ALONE: usize = 6;

/// What stands around a word.
const AROUND: &str = "\"'`,;:()<>";

/// What parts a name from its value besides, and values from one another. A key may hold these, so they are no end for sure.
const BETWEEN: &str = "{}[]=?&";

/// The calls for an answer as rows, those too that have not finished.
pub(crate) fn executions<'a>(
    calls: impl Iterator<Item = CallRecord<'a>>,
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
            tool: redactor.redact_text(&record.call.name).chars().take(100).collect(),
            arguments: kept(&record.call.arguments, redactor),
            ok: outcome.is_some_and(|outcome| outcome.ok),
            error,
            bytes: record.bytes,
            duration_ms: outcome.map_or(0, |outcome| outcome.duration_ms),
            cached: outcome.is_some_and(|outcome| outcome.cached),
            credits: record.credits,
        }
    };
    calls.enumerate().map(row).collect()
}

/// Arguments without secrets and personal data, shortened to a text when they are long.
///
/// Personal data is looked for in what is kept alone, and in as much after it as an address or a number may have.
fn kept(arguments: &Value, redactor: &Redactor) -> Value {
    const MARGIN: usize = 512;
    let masked = masked(arguments);
    let mut text = masked.to_string();
    if text.len() <= LONGEST {
        return redactor.redact_json(&masked);
    }
    text.truncate(text.floor_char_boundary(LONGEST + MARGIN));
    let mut text = redactor.redact_text(&text).into_owned();
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
        Value::String(text) if holds_secret(text) => MASKED.into(),
        other => other.clone(),
    }
}

/// Whether a word of the text is a key, a token, or what follows the name of a scheme of HTTP's `Authorization`.
fn holds_secret(text: &str) -> bool {
    let whole: Vec<_> = text.split_whitespace().map(|word| word.trim_matches(is_around)).collect();
    let is_mark = |mark: char| mark.is_whitespace() || is_around(mark) || BETWEEN.contains(mark);
    let parts: Vec<_> = text.split(is_mark).filter(|part| !part.is_empty()).collect();
    is_only_a_credential(&whole) || has_secret(&whole) || has_secret(&parts)
}

fn is_around(mark: char) -> bool {
    AROUND.contains(mark)
}

fn has_secret(words: &[&str]) -> bool {
    let mut schemes = words.iter().zip(words.iter().skip(1));
    words.iter().any(|word| is_key(word)) || schemes.any(|(scheme, word)| is_credential(scheme, word))
}

/// Whether a text is a header's value: a scheme and what may be a credential of any form, but no word.
fn is_only_a_credential(words: &[&str]) -> bool {
    let [scheme, word] = words else { return false };
    let plain = word.trim_end_matches(['.', '?', '!']);
    let is_one = word.len() >= SHORTEST_ALONE && !plain.bytes().all(|byte| byte.is_ascii_alphabetic());
    ["bearer", "basic"].contains(&&*scheme.to_ascii_lowercase()) && is_one && is_graphic(word)
}

fn is_key(word: &str) -> bool {
    is_opaque(word) && SECRET_BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
}

fn is_credential(scheme: &str, word: &str) -> bool {
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => is_opaque(word),
        // A name and a password with a colon between them.
        "basic" => {
            let word = word.trim_end_matches('=');
            let decoded = STANDARD_NO_PAD.decode(word).or_else(|_| URL_SAFE_NO_PAD.decode(word));
            decoded.is_ok_and(|pair| pair.contains(&b':'))
        }
        _ => false,
    }
}

fn is_opaque(word: &str) -> bool {
    word.len() >= SHORTEST_SECRET && is_graphic(word)
}

fn is_graphic(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_graphic())
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
            "header": "Bearer 0123456789abcdef", "text": "sk-0123456789abc", "note": "a sketch",
        });
        let expected = json!({
            "query": "茶", "api_key": "***", "Authorization": "***", "nested": [{"X-Auth-Token": "***", "n": 1}],
            "header": "***", "text": "***", "note": "a sketch",
        });
        assert_eq!(kept(&arguments, &Redactor::default()), expected);
    }

    #[test]
    fn f122_a_key_is_not_kept_wherever_it_stands_and_words_that_begin_like_one_are() {
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
            assert_eq!(kept(&json!(secret), &Redactor::default()), MASKED, "{secret}");
        }
        for words in [
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
            assert_eq!(kept(&json!(words), &Redactor::default()), words);
        }
    }

    #[test]
    fn long_arguments_are_kept_as_the_beginning_of_their_text() {
        let kept = kept(&json!({ "text": "好".repeat(5000) }), &Redactor::default());
        assert!(kept.as_str().is_some_and(|text| text.len() <= LONGEST && text.starts_with("{\"text\":\"好")));
    }
}
