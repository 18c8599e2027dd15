use serde_json::{Value, json};

/// All events of one turn, in the order in which they came.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript(pub Vec<Value>);

impl Transcript {
    /// The events of one type.
    pub fn events_of(&self, kind: &str) -> Vec<&Value> {
        self.0.iter().filter(|event| event["type"] == kind).collect()
    }

    /// The conversation that the turn belongs to.
    pub fn conversation_id(&self) -> String {
        self.0[0]["conversationId"].as_str().expect("a start names its conversation").to_owned()
    }

    /// The assistant message that the turn wrote.
    pub fn message_id(&self) -> String {
        self.0[0]["messageId"].as_str().expect("a start names its message").to_owned()
    }

    /// All content, joined.
    pub fn content(&self) -> String {
        self.join_text("content")
    }

    /// All thinking, joined.
    pub fn thinking(&self) -> String {
        self.join_text("thinking")
    }

    fn join_text(&self, kind: &str) -> String {
        self.events_of(kind).iter().filter_map(|event| event[kind].as_str()).collect()
    }

    /// The event that ended the turn.
    pub fn end(&self) -> &Value {
        self.0.last().expect("a transcript is never empty")
    }

    /// Why the answer ends; empty for a turn that failed.
    pub fn finish_reason(&self) -> &str {
        self.end()["finishReason"].as_str().unwrap_or_default()
    }

    /// The code of the error that ended the turn; empty for a turn that did not fail.
    pub fn error_code(&self) -> &str {
        self.end()["code"].as_str().unwrap_or_default()
    }

    /// The events in a form that equal runs share: without titles, adjacent deltas joined, ids and durations replaced
    /// by constants. Calls are numbered in their order.
    pub fn normalise(&self) -> Value {
        let calls: Vec<&Value> = self.events_of("tool_call").iter().map(|call| &call["id"]).collect();
        let mut events: Vec<Value> = Vec::new();
        for event in self.0.iter().filter(|event| event["type"] != "title") {
            if !events.last_mut().is_some_and(|last| append_delta(last, event)) {
                events.push(replace_volatile_fields(event, &calls));
            }
        }
        events.into()
    }
}

/// Appends a delta to one of its own kind.
fn append_delta(last: &mut Value, event: &Value) -> bool {
    let kind = event["type"].as_str().unwrap_or_default();
    if last["type"] != event["type"] || !["content", "thinking"].contains(&kind) {
        return false;
    }
    let (Some(before), Some(delta)) = (last[kind].as_str(), event[kind].as_str()) else { return false };
    last[kind] = format!("{before}{delta}").into();
    true
}

fn replace_volatile_fields(event: &Value, calls: &[&Value]) -> Value {
    let names = [
        ("conversationId", json!("CONVERSATION")),
        ("messageId", json!("MESSAGE")),
        ("requestId", json!("REQUEST")),
        ("durationMs", json!(0)),
        ("id", json!(calls.iter().position(|id| **id == event["id"]).map(|at| format!("CALL-{}", at + 1)))),
    ];
    let mut event = event.clone();
    let fields = event.as_object_mut().expect("an event is an object");
    for (key, name) in names {
        if let Some(value) = fields.get_mut(key) {
            *value = name;
        }
    }
    event
}
