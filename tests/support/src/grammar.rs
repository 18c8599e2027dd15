use std::collections::BTreeSet;

use serde_json::Value;

use crate::description::check_event;

/// The grammar of a turn's event stream, checked frame by frame; panics on a frame that the contract does not allow.
pub(crate) struct Grammar {
    request: String,
    accumulated: bool,
    turn: Option<String>,
    /// The id of the last frame; empty before the first.
    last_id: String,
    seen_once: Vec<String>,
    /// The ids of calls that have no result yet.
    open_calls: BTreeSet<String>,
    state: StreamState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamState {
    Running,
    /// Running or ended; the frames up to `Last-Event-ID` were not read.
    Resumed,
    Ended,
    Terminated,
}

impl Grammar {
    /// The grammar of the response to this request.
    pub(crate) fn new(request: &str, accumulated: bool) -> Self {
        Self {
            request: request.to_owned(),
            accumulated,
            turn: None,
            last_id: String::new(),
            seen_once: Vec::new(),
            open_calls: BTreeSet::new(),
            state: StreamState::Running,
        }
    }

    /// The grammar of the rest of a turn, after the frame with this id.
    pub(crate) fn resumed_after(request: &str, last: &str) -> Self {
        // Earlier frames are unknown: the last one may have had any type.
        let (turn, _) = parse_id(last);
        let (turn, last_id) = (Some(turn.to_owned()), last.to_owned());
        Self { turn, last_id, state: StreamState::Resumed, ..Self::new(request, false) }
    }

    /// The id of the last frame; empty before the first.
    pub(crate) fn last_id(&self) -> String {
        self.last_id.clone()
    }

    /// Checks a frame; `None` when it is not an event.
    pub(crate) fn read_frame(&mut self, frame: &str) -> Option<Value> {
        assert_ne!(self.state, StreamState::Terminated, "nothing follows the terminator: {frame}");
        if frame == ": keep-alive" {
            return None;
        }
        if frame == "data: [DONE]" {
            assert!(
                matches!(self.state, StreamState::Ended | StreamState::Resumed),
                "the terminator follows done or error"
            );
            self.state = StreamState::Terminated;
            return None;
        }
        assert_ne!(self.state, StreamState::Ended, "only the terminator follows done or error: {frame}");
        let (id, data) = frame.split_once('\n').unwrap_or_else(|| panic!("not an id and a data line: {frame:?}"));
        let is_first = self.read_id(id);
        let data = data.strip_prefix("data: ").unwrap_or_else(|| panic!("not a data line: {frame:?}"));
        assert!(!data.contains(['\n', '\r']), "one data line: {frame:?}");
        let event = serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {frame:?}"));
        self.read_event(&event, is_first);
        Some(event)
    }

    /// `id: <turn>-<position>`; positions grow as numbers.
    fn read_id(&mut self, line: &str) -> bool {
        let id = line.strip_prefix("id: ").unwrap_or_else(|| panic!("not an id line: {line:?}"));
        let ((turn, position), is_first) = (parse_id(id), self.last_id.is_empty());
        assert!(is_first || position > parse_id(&self.last_id).1, "ids grow: {id} after {}", self.last_id);
        id.clone_into(&mut self.last_id);
        let first = self.turn.get_or_insert_with(|| turn.to_owned());
        assert!(is_ulid(turn) && turn == first, "one turn per stream: {id:?}");
        is_first
    }

    fn read_event(&mut self, event: &Value, is_first: bool) {
        let kind = event["type"].as_str().unwrap_or_else(|| panic!("an event without a type: {event}"));
        assert_eq!(is_first, kind == "start", "start comes first and once: {event}");
        self.check_fields(kind, event);
        // A load spike has thousands of deltas, whose fields are known now.
        if !["content", "thinking"].contains(&kind) {
            check_event(event);
        }
        self.check_ids(kind, event);
        if ["title", "usage"].contains(&kind) {
            assert!(!self.seen_once.iter().any(|seen| seen == kind), "{kind} comes once at most");
            self.seen_once.push(kind.to_owned());
        }
        let id = event["id"].as_str().unwrap_or_default();
        match kind {
            "tool_call" => assert!(self.open_calls.insert(id.to_owned()), "ids of calls differ: {event}"),
            "tool_result" => {
                let is_open = self.open_calls.remove(id);
                assert!(is_open || self.state == StreamState::Resumed, "a result follows its call, once: {event}");
            }
            _ => {}
        }
        if ["done", "error"].contains(&kind) {
            // Nobody ends the calls of a process that is gone.
            let is_lost = event["code"] == "interrupted";
            assert!(is_lost || self.open_calls.is_empty(), "each call has a result: {:?}", self.open_calls);
            let seen = self.seen_once.iter().any(|seen| seen == "usage");
            assert!(seen || self.state == StreamState::Resumed, "usage comes before the end: {event}");
            self.state = StreamState::Ended;
        }
    }

    /// Checks that an event has exactly the fields of the contract.
    fn check_fields(&self, kind: &str, event: &Value) {
        let expected: &[&str] = match kind {
            "start" => &["type", "conversationId", "messageId", "model"],
            "content" | "thinking" if self.accumulated => &["type", "content", "thinking"],
            "thinking" => &["type", "thinking"],
            "content" => &["type", "content"],
            "reclassify" => &["type", "characters"],
            "tool_call" => &["type", "id", "name", "arguments"],
            "tool_progress" => &["type", "id", "name", "text"],
            "tool_result" => &["type", "id", "name", "ok", "cached", "durationMs", "summary", "sources"],
            "title" => &["type", "title"],
            "usage" => &["type", "inputTokens", "outputTokens", "searchCredits", "estimated"],
            "done" => &["type", "finishReason"],
            "error" => &["type", "code", "message", "retryable", "requestId"],
            _ => panic!("an event of no known type: {event}"),
        };
        let failed = kind == "tool_result" && event["ok"] == false;
        let optional: &[&str] = match kind {
            "start" => &["continues"],
            "tool_result" if failed => &["error"],
            "usage" => &["costMicros", "cachedTokens"],
            "done" => &["models"],
            "error" => &["retryAfterSeconds", "models"],
            _ => &[],
        };
        let extra = optional.iter().copied().filter(|name| failed || event.get(*name).is_some());
        let expected: BTreeSet<&str> = expected.iter().copied().chain(extra).collect();
        assert_eq!(field_names(event), expected, "the fields of {kind}: {event}");
        if failed {
            assert_eq!(field_names(&event["error"]), BTreeSet::from(["code", "message"]), "{event}");
        }
    }

    fn check_ids(&self, kind: &str, event: &Value) {
        match kind {
            "start" => {
                let ids = [&event["conversationId"], &event["messageId"]];
                assert!(ids.iter().all(|id| id.as_str().is_some_and(is_ulid)), "ids are ULIDs: {event}");
            }
            "error" => assert_eq!(event["requestId"], self.request, "the error names its request: {event}"),
            _ => {}
        }
    }

    /// Checks that the stream is complete at the end of the body.
    pub(crate) fn finish(&self) {
        assert_eq!(self.state, StreamState::Terminated, "the body ends after the terminator");
    }
}

/// The turn and the position in a frame's id.
fn parse_id(id: &str) -> (&str, f64) {
    let position = id.rsplit_once('-').and_then(|(turn, position)| Some((turn, position.parse().ok()?)));
    position.unwrap_or_else(|| panic!("not <turn>-<position>: {id:?}"))
}

fn is_ulid(text: &str) -> bool {
    text.len() == 26 && text.bytes().all(|byte| b"0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains(&byte))
}

/// The names of an object's fields.
pub(crate) fn field_names(value: &Value) -> BTreeSet<&str> {
    value.as_object().into_iter().flat_map(serde_json::Map::keys).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = r#"id: 01J00000000000000000000000-1
data: {"type":"start","conversationId":"01J00000000000000000000000","messageId":"01J00000000000000000000000","model":"openai"}"#;
    const USAGE: &str = r#"id: 01J00000000000000000000000-2
data: {"type":"usage","inputTokens":1,"outputTokens":2,"searchCredits":0,"estimated":false}"#;
    const DONE: &str = r#"id: 01J00000000000000000000000-3
data: {"type":"done","finishReason":"stop"}"#;

    fn check_frames(frames: &[&str]) {
        let mut grammar = Grammar::new("R", false);
        for frame in frames {
            grammar.read_frame(frame);
        }
        grammar.finish();
    }

    #[test]
    fn complete_stream_with_keep_alive_is_accepted() {
        check_frames(&[START, ": keep-alive", USAGE, DONE, "data: [DONE]"]);
    }

    #[test]
    #[should_panic(expected = "ids grow")]
    fn repeated_id_is_rejected() {
        check_frames(&[START, &USAGE.replace("-2", "-1")]);
    }

    #[test]
    #[should_panic(expected = "start comes first")]
    fn stream_without_start_is_rejected() {
        check_frames(&[r#"id: 01J00000000000000000000000-1
data: {"type":"content","content":"x"}"#]);
    }

    #[test]
    #[should_panic(expected = "usage comes before the end")]
    fn end_without_usage_is_rejected() {
        check_frames(&[START, &DONE.replace("-3", "-2")]);
    }

    #[test]
    #[should_panic(expected = "only the terminator follows")]
    fn second_end_is_rejected() {
        check_frames(&[START, USAGE, DONE, &DONE.replace("-3", "-4")]);
    }

    #[test]
    #[should_panic(expected = "the terminator follows")]
    fn terminator_without_an_end_is_rejected() {
        check_frames(&[START, "data: [DONE]"]);
    }

    #[test]
    #[should_panic(expected = "the body ends after the terminator")]
    fn body_without_a_terminator_is_rejected() {
        check_frames(&[START, USAGE, DONE]);
    }

    #[test]
    #[should_panic(expected = "one turn per stream")]
    fn frame_of_another_turn_is_rejected() {
        check_frames(&[START, &USAGE.replace("01J00000000000000000000000-2", "01J00000000000000000000001-2")]);
    }

    #[test]
    #[should_panic(expected = "the fields of content")]
    fn unknown_field_is_rejected() {
        check_frames(&[
            START,
            r#"id: 01J00000000000000000000000-2
data: {"type":"content","content":"x","extra":1}"#,
        ]);
    }
}
