//! The stored form of events: one JSON line each, except that consecutive texts share a line as a list.

use std::borrow::Cow;

use domain::{
    AnswerDelta, Event, Failure, FinishReason, Note, Source, ToolCall, ToolEvent, ToolOutcome, ToolProgress, TurnStart,
    Usage,
};
use serde::{Deserialize, Serialize};

/// An event in its stored form, to be appended to a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry(String);

/// An event as JSON. Text deltas dominate, so their names are short.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredEvent<'a> {
    Started(Cow<'a, TurnStart>),
    #[serde(rename = "handover")]
    ModelSwitched {
        model: Cow<'a, str>,
    },
    #[serde(rename = "t")]
    Text {
        #[serde(rename = "d")]
        delta: Cow<'a, str>,
    },
    #[serde(rename = "h")]
    Thinking {
        #[serde(rename = "d")]
        delta: Cow<'a, str>,
    },
    TextReclassified {
        characters: usize,
    },
    ToolCall(Cow<'a, ToolCall>),
    ToolProgress(Cow<'a, ToolProgress>),
    ToolResult(Cow<'a, ToolOutcome>),
    EarlierSource(Cow<'a, Source>),
    #[serde(rename = "callers_call")]
    ClientToolCall(Cow<'a, ToolCall>),
    Title(Cow<'a, str>),
    Usage(Usage),
    Failed(Cow<'a, Failure>),
    Done {
        finish_reason: FinishReason,
    },
}

impl<'a> From<&'a Event> for StoredEvent<'a> {
    fn from(event: &'a Event) -> Self {
        match event {
            Event::Started(start) => Self::Started(Cow::Borrowed(start)),
            Event::Delta(AnswerDelta::Text(delta)) => Self::Text { delta: delta.into() },
            Event::Delta(AnswerDelta::Thinking(delta)) => Self::Thinking { delta: delta.into() },
            Event::Delta(AnswerDelta::Reclassified(characters)) => Self::TextReclassified { characters: *characters },
            Event::Tool(ToolEvent::Call(call)) => Self::ToolCall(Cow::Borrowed(call)),
            Event::Tool(ToolEvent::Progress(progress)) => Self::ToolProgress(Cow::Borrowed(progress)),
            Event::Tool(ToolEvent::Result(outcome)) => Self::ToolResult(Cow::Borrowed(outcome)),
            Event::Tool(ToolEvent::ClientCall(call)) => Self::ClientToolCall(Cow::Borrowed(call)),
            Event::Note(Note::ModelSwitched(model)) => Self::ModelSwitched { model: (&**model).into() },
            Event::Note(Note::EarlierSource(source)) => Self::EarlierSource(Cow::Borrowed(source)),
            Event::Note(Note::Title(title)) => Self::Title((&**title).into()),
            Event::Note(Note::Usage(usage)) => Self::Usage(**usage),
            Event::End(Ok(finish_reason)) => Self::Done { finish_reason: *finish_reason },
            Event::End(Err(failure)) => Self::Failed(Cow::Borrowed(failure)),
        }
    }
}

impl From<StoredEvent<'_>> for Event {
    fn from(event: StoredEvent<'_>) -> Self {
        match event {
            StoredEvent::Started(start) => Self::Started(boxed(start)),
            StoredEvent::Text { delta } => Self::Delta(AnswerDelta::Text(delta.into_owned())),
            StoredEvent::Thinking { delta } => Self::Delta(AnswerDelta::Thinking(delta.into_owned())),
            StoredEvent::TextReclassified { characters } => Self::Delta(AnswerDelta::Reclassified(characters)),
            StoredEvent::ToolCall(call) => Self::Tool(ToolEvent::Call(boxed(call))),
            StoredEvent::ToolProgress(progress) => Self::Tool(ToolEvent::Progress(boxed(progress))),
            StoredEvent::ToolResult(outcome) => Self::Tool(ToolEvent::Result(boxed(outcome))),
            StoredEvent::ClientToolCall(call) => Self::Tool(ToolEvent::ClientCall(boxed(call))),
            StoredEvent::ModelSwitched { model } => Self::Note(Note::ModelSwitched(model.into())),
            StoredEvent::EarlierSource(source) => Self::Note(Note::EarlierSource(boxed(source))),
            StoredEvent::Title(title) => Self::Note(Note::Title(title.into())),
            StoredEvent::Usage(usage) => Self::Note(Note::Usage(Box::new(usage))),
            StoredEvent::Failed(failure) => Self::End(Err(boxed(failure))),
            StoredEvent::Done { finish_reason } => Self::End(Ok(finish_reason)),
        }
    }
}

fn boxed<T: Clone>(value: Cow<'_, T>) -> Box<T> {
    Box::new(value.into_owned())
}

impl From<&Event> for LogEntry {
    fn from(event: &Event) -> Self {
        // Plain data can always be serialised.
        Self(serde_json::to_string(&StoredEvent::from(event)).unwrap_or_default())
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
        return serde_json::from_str::<StoredEvent<'_>>(line).ok().map(|event| vec![event.into()]);
    }
    let texts: Vec<String> = serde_json::from_str(line).ok()?;
    Some(texts.into_iter().map(|delta| Event::Delta(AnswerDelta::Text(delta))).collect())
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
        Event::Note(Note::Usage(Box::new(tokens)))
    }

    /// Every kind of event with its stored line.
    fn samples() -> Vec<(Event, &'static str)> {
        [texts(), calls(), ends()].concat()
    }

    fn texts() -> Vec<(Event, &'static str)> {
        let start = TurnStart {
            continues: false,
            conversation_id: "C".into(),
            message_id: "M".into(),
            model: "volcano".into(),
        };
        vec![
            (
                Event::Started(Box::new(start)),
                r#"{"started":{"conversation_id":"C","message_id":"M","model":"volcano"}}"#,
            ),
            (Event::Note(Note::ModelSwitched("backup".into())), r#"{"handover":{"model":"backup"}}"#),
            (
                Event::Delta(AnswerDelta::Text("一\n\u{2028}\0\"\\🍵".into())),
                "{\"t\":{\"d\":\"一\\n\u{2028}\\u0000\\\"\\\\🍵\"}}",
            ),
            (Event::Delta(AnswerDelta::Thinking(String::new())), r#"{"h":{"d":""}}"#),
            (Event::Delta(AnswerDelta::Reclassified(2)), r#"{"text_reclassified":{"characters":2}}"#),
            (Event::Note(Note::Title("茶".into())), r#"{"title":"茶"}"#),
        ]
    }

    fn calls() -> Vec<(Event, &'static str)> {
        let arguments = json!({ "z": 0.25, "a": [1e300, -5, u64::MAX, null, { "": true }] });
        let progress = ToolProgress { id: "c1".into(), name: "report".into(), text: "第一章".into() };
        let failure = ToolFailure { code: "timeout".into(), message: "慢".into() };
        let failed = ToolOutcome { ok: false, error: Some(failure), sources: Vec::new(), ..outcome() };
        vec![
            (
                Event::Tool(ToolEvent::Call(Box::new(call("search_web", arguments)))),
                r#"{"tool_call":{"id":"c1","name":"search_web","arguments":{"z":0.25,"a":[1e+300,-5,18446744073709551615,null,{"":true}]}}}"#,
            ),
            (
                Event::Tool(ToolEvent::Progress(Box::new(progress))),
                r#"{"tool_progress":{"id":"c1","name":"report","text":"第一章"}}"#,
            ),
            (
                Event::Tool(ToolEvent::Result(Box::new(outcome()))),
                r#"{"tool_result":{"id":"c1","name":"search_web","ok":true,"cached":true,"durationMs":12,"summary":"1 result","sources":[{"index":1,"title":"茶\n\"","url":"https://example.com"}]}}"#,
            ),
            (
                Event::Tool(ToolEvent::Result(Box::new(failed))),
                r#"{"tool_result":{"id":"c1","name":"search_web","ok":false,"cached":true,"durationMs":12,"summary":"1 result","sources":[],"error":{"code":"timeout","message":"慢"}}}"#,
            ),
            (
                Event::Note(Note::EarlierSource(Box::new(outcome().sources.remove(0)))),
                r#"{"earlier_source":{"index":1,"title":"茶\n\"","url":"https://example.com"}}"#,
            ),
            (
                Event::Tool(ToolEvent::ClientCall(Box::new(call("f", json!({}))))),
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
                Event::End(Err(Box::new(Failure::new(ErrorCode::RateLimited, "慢").with_retry_after(7)))),
                r#"{"failed":{"code":"rate_limited","message":"慢","retry_after":7,"param":null}}"#,
            ),
            (
                Event::End(Err(Box::new(ErrorCode::Interrupted.into()))),
                r#"{"failed":{"code":"interrupted","message":"The answer was interrupted.","retry_after":null,"param":null}}"#,
            ),
            (Event::End(Ok(FinishReason::ToolLimit)), r#"{"done":{"finish_reason":"tool_limit"}}"#),
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
