//! The stored form of events: one JSON line each, except that consecutive texts share a line as a list.

use domain::{Event, Failure, FinishReason, Source, ToolCall, ToolOutcome, ToolProgress, TurnStart, Usage};
use serde::{Deserialize, Serialize};

/// An event in its stored form, to be appended to a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry(String);

/// An event as JSON. Text deltas dominate, so their names are short.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Event", rename_all = "snake_case")]
enum StoredEvent {
    Started(Box<TurnStart>),
    #[serde(rename = "handover")]
    ModelSwitched {
        model: String,
    },
    #[serde(rename = "t")]
    Text {
        #[serde(rename = "d")]
        delta: String,
    },
    #[serde(rename = "h")]
    Thinking {
        #[serde(rename = "d")]
        delta: String,
    },
    TextReclassified {
        characters: usize,
    },
    ToolCall(Box<ToolCall>),
    ToolProgress(Box<ToolProgress>),
    ToolResult(Box<ToolOutcome>),
    EarlierSource(Box<Source>),
    #[serde(rename = "callers_call")]
    ClientToolCall(Box<ToolCall>),
    Title(String),
    Usage(Box<Usage>),
    Failed(Box<Failure>),
    Done {
        finish_reason: FinishReason,
    },
}

/// An event on a line of its own.
#[derive(Deserialize)]
struct EventLine(#[serde(with = "StoredEvent")] Event);

impl From<&Event> for LogEntry {
    fn from(event: &Event) -> Self {
        let mut json = Vec::new();
        // Plain data can always be serialised.
        let _ = StoredEvent::serialize(event, &mut serde_json::Serializer::new(&mut json));
        Self(String::from_utf8(json).unwrap_or_default())
    }
}

impl LogEntry {
    /// The bytes that it needs at most, with the separator.
    pub(super) fn bytes(&self) -> usize {
        self.0.len() + 1
    }
}

/// The JSON before and after the text of a `Text` event.
const TEXT_EVENT_AFFIXES: (&str, &str) = (r#"{"t":{"d":"#, "}}");

/// Formats events as lines: consecutive texts, which are the majority of events, are a list on one line.
pub(super) fn format_lines(entries: &[LogEntry]) -> String {
    let mut lines = String::with_capacity(entries.iter().map(LogEntry::bytes).sum());
    let mut in_list = false;
    for LogEntry(event) in entries {
        let text = event.strip_prefix(TEXT_EVENT_AFFIXES.0).and_then(|rest| rest.strip_suffix(TEXT_EVENT_AFFIXES.1));
        let before = match (in_list, text.is_some()) {
            (true, true) => ",",
            (true, false) => "]\n",
            (false, true) if lines.is_empty() => "[",
            (false, true) => "\n[",
            (false, false) if lines.is_empty() => "",
            (false, false) => "\n",
        };
        lines.push_str(before);
        lines.push_str(text.unwrap_or(event));
        in_list = text.is_some();
    }
    if in_list {
        lines.push(']');
    }
    lines
}

/// Parses the events of a line; `None` if it is unreadable.
pub(super) fn parse_line(line: &str) -> Option<Vec<Event>> {
    if !line.starts_with('[') {
        return serde_json::from_str(line).ok().map(|EventLine(event)| vec![event]);
    }
    let texts: Vec<String> = serde_json::from_str(line).ok()?;
    Some(texts.into_iter().map(|delta| Event::Text { delta }).collect())
}

#[cfg(test)]
mod tests {
    use domain::{ErrorCode, ToolFailure};
    use serde_json::json;

    use super::*;

    fn outcome() -> ToolOutcome {
        ToolOutcome {
            id: "c1".into(),
            name: "search_web".into(),
            ok: true,
            cached: true,
            duration_ms: 12,
            summary: "1 result".into(),
            sources: vec![Source {
                index: 1,
                title: "茶\n\"".into(),
                url: "https://example.com".into(),
                excerpt: String::new(),
            }],
            error: None,
        }
    }

    fn call(name: &str, arguments: serde_json::Value) -> ToolCall {
        ToolCall { id: "c1".into(), name: name.into(), arguments }
    }

    fn usage(cost_micros: Option<u64>) -> Event {
        let tokens = Usage {
            input_tokens: u64::MAX,
            cached_tokens: 0,
            output_tokens: 2,
            search_credits: 3,
            estimated: true,
            cost_micros,
        };
        Event::Usage(Box::new(tokens))
    }

    /// Every kind of event with its stored line.
    fn samples() -> Vec<(Event, &'static str)> {
        [texts(), calls(), ends()].concat()
    }

    fn texts() -> Vec<(Event, &'static str)> {
        let start = TurnStart { conversation_id: "C".into(), message_id: "M".into(), model: "volcano".into() };
        vec![
            (
                Event::Started(Box::new(start)),
                r#"{"started":{"conversation_id":"C","message_id":"M","model":"volcano"}}"#,
            ),
            (Event::ModelSwitched { model: "backup".into() }, r#"{"handover":{"model":"backup"}}"#),
            (
                Event::Text { delta: "一\n\u{2028}\0\"\\🍵".into() },
                "{\"t\":{\"d\":\"一\\n\u{2028}\\u0000\\\"\\\\🍵\"}}",
            ),
            (Event::Thinking { delta: String::new() }, r#"{"h":{"d":""}}"#),
            (Event::TextReclassified { characters: 2 }, r#"{"text_reclassified":{"characters":2}}"#),
            (Event::Title("茶".into()), r#"{"title":"茶"}"#),
        ]
    }

    fn calls() -> Vec<(Event, &'static str)> {
        let arguments = json!({ "z": 0.25, "a": [1e300, -5, u64::MAX, null, { "": true }] });
        let progress = ToolProgress { id: "c1".into(), name: "report".into(), text: "第一章".into() };
        let failure = ToolFailure { code: "timeout".into(), message: "慢".into() };
        let failed = ToolOutcome { ok: false, error: Some(failure), sources: Vec::new(), ..outcome() };
        vec![
            (
                Event::ToolCall(Box::new(call("search_web", arguments))),
                r#"{"tool_call":{"id":"c1","name":"search_web","arguments":{"z":0.25,"a":[1e+300,-5,18446744073709551615,null,{"":true}]}}}"#,
            ),
            (
                Event::ToolProgress(Box::new(progress)),
                r#"{"tool_progress":{"id":"c1","name":"report","text":"第一章"}}"#,
            ),
            (
                Event::ToolResult(Box::new(outcome())),
                r#"{"tool_result":{"id":"c1","name":"search_web","ok":true,"cached":true,"durationMs":12,"summary":"1 result","sources":[{"index":1,"title":"茶\n\"","url":"https://example.com"}]}}"#,
            ),
            (
                Event::ToolResult(Box::new(failed)),
                r#"{"tool_result":{"id":"c1","name":"search_web","ok":false,"cached":true,"durationMs":12,"summary":"1 result","sources":[],"error":{"code":"timeout","message":"慢"}}}"#,
            ),
            (
                Event::EarlierSource(Box::new(outcome().sources.remove(0))),
                r#"{"earlier_source":{"index":1,"title":"茶\n\"","url":"https://example.com"}}"#,
            ),
            (
                Event::ClientToolCall(Box::new(call("f", json!({})))),
                r#"{"callers_call":{"id":"c1","name":"f","arguments":{}}}"#,
            ),
        ]
    }

    fn ends() -> Vec<(Event, &'static str)> {
        vec![
            (
                usage(None),
                r#"{"usage":{"inputTokens":18446744073709551615,"outputTokens":2,"searchCredits":3,"estimated":true}}"#,
            ),
            (
                usage(Some(7)),
                r#"{"usage":{"inputTokens":18446744073709551615,"outputTokens":2,"searchCredits":3,"estimated":true,"costMicros":7}}"#,
            ),
            (
                Event::Failed(Box::new(Failure::new(ErrorCode::RateLimited, "慢").with_retry_after(7))),
                r#"{"failed":{"code":"rate_limited","message":"慢","retry_after":7,"param":null}}"#,
            ),
            (
                Event::Failed(Box::new(ErrorCode::Interrupted.into())),
                r#"{"failed":{"code":"interrupted","message":"The answer was interrupted.","retry_after":null,"param":null}}"#,
            ),
            (Event::Done { finish_reason: FinishReason::ToolLimit }, r#"{"done":{"finish_reason":"tool_limit"}}"#),
        ]
    }

    #[test]
    fn stored_event_format_is_stable() {
        for (event, line) in samples() {
            assert_eq!(LogEntry::from(&event).0, line);
            assert!(!line.contains('\n'), "{line}");
        }
    }

    #[test]
    fn every_event_round_trips_through_its_line() {
        for (event, line) in samples() {
            let parsed = parse_line(line).unwrap();
            assert_eq!(parsed, [event]);
            assert_eq!(LogEntry::from(&parsed[0]).0, line, "and its arguments keep their order");
        }
    }

    #[test]
    fn unknown_event_is_unreadable() {
        assert_eq!(parse_line(r#"{"mood":{"colour":"blue"}}"#), None);
    }
}
