use serde_json::Value;
use tokio::time::Instant;

use crate::Fault;

/// One frame of a stream.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Turn and sequence number; the terminator has none.
    pub(crate) id: Option<(String, u64)>,
    /// The event; the text `[DONE]` for the terminator.
    pub(crate) event: Value,
    /// The index of the read that brought it, from 0.
    pub(crate) read: usize,
    /// When it arrived.
    pub(crate) at: Instant,
}

impl Frame {
    /// Parses the lines between two blank ones; `None` for a comment.
    pub(crate) fn parse(text: &str, read: usize, at: Instant) -> Option<Self> {
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let data = field("data:")?;
        let event = serde_json::from_str(data).unwrap_or_else(|_| Value::from(data));
        let id = field("id:").and_then(|id| id.rsplit_once('-'));
        let id = id.and_then(|(turn, number)| Some((turn.to_owned(), number.parse().ok()?)));
        // `[DONE]` is not valid JSON, so it is kept as text.
        Some(Self { id, event, read, at })
    }

    pub(crate) fn kind(&self) -> &str {
        self.text("type")
    }

    pub(crate) fn text(&self, field: &str) -> &str {
        self.event.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn ends_turn(&self) -> bool {
        matches!(self.kind(), "done" | "error")
    }

    pub(crate) fn is_terminator(&self) -> bool {
        self.event == "[DONE]"
    }

    pub(crate) fn grows(&self) -> bool {
        matches!(self.kind(), "content" | "thinking")
    }
}

/// The concatenated content of the frames.
pub(crate) fn content(frames: &[Frame]) -> String {
    frames.iter().filter(|frame| frame.kind() == "content").map(|frame| frame.text("content")).collect()
}

/// Checks a finished stream against the contract: frames numbered from `first`, one end, then the terminator.
pub(crate) fn whole(frames: &[Frame], first: u64) -> Result<(), Fault> {
    let ends = frames.iter().filter(|frame| frame.ends_turn()).count();
    Fault::unless(ends == 1, "exactly one `done` or `error`", || ends.to_string())?;
    let Some((last, rest)) = frames.split_last() else { return Err(Fault::new("frames", "none")) };
    Fault::unless(last.is_terminator(), "`[DONE]` at the end", || format!("`{}`", last.kind()))?;
    let behind = rest.last().is_some_and(Frame::ends_turn);
    Fault::unless(behind, "`[DONE]` right behind the end of the turn", || "frames between".to_owned())?;
    let turn = rest.first().and_then(|frame| frame.id.as_ref()).map(|(turn, _)| turn.clone()).unwrap_or_default();
    for (frame, number) in rest.iter().zip(first..) {
        let right = frame.id.as_ref().is_some_and(|id| *id == (turn.clone(), number));
        let got = || frame.id.as_ref().map_or("a frame without one".to_owned(), |(_, number)| format!("id {number}"));
        Fault::unless(right, &format!("a frame of this turn with id {number}"), got)?;
    }
    Ok(())
}

/// Checks that the turn ended with `done`, for one of these reasons.
pub(crate) fn done(frames: &[Frame], reasons: &[&str]) -> Result<(), Fault> {
    let expected = || format!("a turn that ends as {}", reasons.join(" or "));
    match frames.iter().find(|frame| frame.ends_turn()) {
        Some(end) if end.kind() == "error" => Err(Fault::new(expected(), format!("the error {}", end.text("code")))),
        Some(end) if reasons.contains(&end.text("finishReason")) => Ok(()),
        Some(end) => Err(Fault::new(expected(), end.text("finishReason"))),
        None => Err(Fault::new(expected(), "no end")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(texts: &[&str]) -> Vec<Frame> {
        texts.iter().filter_map(|text| Frame::parse(text, 0, Instant::now())).collect()
    }

    const START: &str = "id: T-1\ndata: {\"type\":\"start\"}";
    const WORD: &str = "id: T-2\ndata: {\"type\":\"content\",\"content\":\"a\"}";
    const END: &str = "id: T-3\ndata: {\"type\":\"done\",\"finishReason\":\"stop\"}";
    const DONE: &str = "data: [DONE]";

    #[test]
    fn complete_stream_is_numbered_and_ends_once() {
        assert_eq!(whole(&frames(&[START, ": keep-alive", WORD, END, DONE]), 1), Ok(()));
        assert_eq!(whole(&frames(&[WORD, END, DONE]), 2), Ok(()));
        assert_eq!(content(&frames(&[START, WORD, WORD])), "aa");
        for broken in [
            &[START, WORD, END] as &[&str],
            &[START, WORD, DONE],
            &[START, END, DONE],
            &[WORD, END, DONE],
            &[START, WORD, END, END, DONE],
            &[START, "id: U-2\ndata: {\"type\":\"content\"}", END, DONE],
            &[START, "data: {\"type\":\"content\"}", END, DONE],
            &[],
        ] {
            assert!(whole(&frames(broken), 1).is_err(), "{broken:?}");
        }
    }

    #[test]
    fn failed_turn_is_reported_by_its_code() {
        let failed = "id: T-2\ndata: {\"type\":\"error\",\"code\":\"upstream_auth\",\"message\":\"secret\"}";
        assert_eq!(done(&frames(&[START, END]), &["stop", "length"]), Ok(()));
        let fault = done(&frames(&[START, failed]), &["stop"]).unwrap_err().to_string();
        assert_eq!(fault, "expected a turn that ends as stop, got the error upstream_auth");
        assert!(done(&frames(&[START]), &["stop"]).is_err());
        assert!(done(&frames(&[END]), &["stopped"]).is_err());
    }
}
