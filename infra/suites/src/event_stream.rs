use serde_json::Value;

/// Parses the events of a turn's complete stream, which must end with the terminator.
pub fn events(stream: &str) -> Vec<Value> {
    let frames = stream.strip_suffix("data: [DONE]\n\n").unwrap_or_else(|| panic!("a cut stream: {stream}"));
    let data = frames.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).expect("an event is JSON")).collect()
}

/// Returns the only event of a type; panics unless there is exactly one.
pub fn only<'e>(events: &'e [Value], kind: &str) -> &'e Value {
    let mut found = events.iter().filter(|event| event["type"] == kind);
    let first = found.next().unwrap_or_else(|| panic!("no {kind} in {events:?}"));
    assert!(found.next().is_none(), "more than one {kind} in {events:?}");
    first
}
