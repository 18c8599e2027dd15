use std::time::Duration;

use futures_util::StreamExt;
use serde_json::Value;
use sse::MAX_EVENT_BYTES;
use tokio::time::{Instant, timeout_at};

use crate::full_response::describe_failure;
use crate::target::{Request, Response};
use crate::{CheckFailure, Target, Timeouts};

pub(crate) struct TurnReader {
    response: Response,
    decoder: sse::Decoder,
    pub(crate) frames: Vec<Frame>,
    read_count: usize,
    requested_at: Instant,
    deadline: Instant,
    timeouts: Timeouts,
}

impl TurnReader {
    /// Sends the request and reads the head of the response, which must be a stream.
    pub(crate) async fn open(target: &Target, request: Request, timeouts: Timeouts) -> Result<Self, CheckFailure> {
        let requested_at = Instant::now();
        let response = target.send(request, timeouts.turn).await?;
        if response.status != 200 {
            return Err(CheckFailure::new("a stream", describe_failure(response, timeouts.answer).await));
        }
        let deadline = requested_at + timeouts.turn;
        Ok(Self {
            response,
            decoder: sse::Decoder::default(),
            frames: Vec::new(),
            read_count: 0,
            requested_at,
            deadline,
            timeouts,
        })
    }

    /// Sets the deadline of the turn to this time from now.
    pub(crate) fn set_time_limit(&mut self, limit: Duration) {
        self.deadline = Instant::now() + limit;
    }

    /// Reads until a frame matches; returns the time from the request to that frame.
    pub(crate) async fn read_until(
        &mut self,
        expected: &str,
        matches: fn(&Frame) -> bool,
    ) -> Result<Duration, CheckFailure> {
        loop {
            if let Some(frame) = self.frames.iter().find(|frame| matches(frame)) {
                return Ok(frame.received_at - self.requested_at);
            }
            if !self.read().await? {
                return Err(CheckFailure::new(expected, "the end of the stream"));
            }
        }
    }

    /// Reads to the end of the stream, from its start or after a position, and checks it against the contract.
    pub(crate) async fn read_to_end(&mut self, after: Option<&str>) -> Result<(), CheckFailure> {
        self.read_until("the end of the turn", Frame::ends_turn).await?;
        self.read_until("`[DONE]`", Frame::is_terminator).await?;
        self.set_time_limit(self.timeouts.close);
        let expected = "an end of the stream after `[DONE]`";
        while self.read().await.map_err(|_| CheckFailure::new(expected, "an open or broken connection"))? {}
        check_complete_stream(&self.frames, after)
    }

    /// One read of the connection; false at its end.
    async fn read(&mut self) -> Result<bool, CheckFailure> {
        let timed_out = |_| CheckFailure::new("more of the stream", "nothing in time: it does not end");
        let read = timeout_at(self.deadline, self.response.body.next()).await.map_err(timed_out)?;
        let Some(bytes) = read else { return Ok(false) };
        let bytes = bytes.map_err(|error| CheckFailure::new("more of the stream", error.to_string()))?;
        self.decode(&bytes)?;
        self.read_count += 1;
        Ok(true)
    }

    /// Adds the frames that the bytes complete; an incomplete frame at the end of the stream does not count.
    fn decode(&mut self, bytes: &[u8]) -> Result<(), CheckFailure> {
        let (frames, read_index, now) = (&mut self.frames, self.read_count, Instant::now());
        self.decoder.push(bytes, &mut |frame| match frame {
            sse::Frame::Event(event) => {
                frames.push(Frame::new(event, read_index, now));
                Ok(())
            }
            sse::Frame::Unknown(_) => Ok(()),
            sse::Frame::TooLong => {
                Err(CheckFailure::new(format!("frames of up to {MAX_EVENT_BYTES} bytes"), "a longer one"))
            }
        })
    }

    pub(crate) fn content(&self) -> String {
        content_of(&self.frames)
    }

    pub(crate) fn start_field(&self, field: &str) -> String {
        self.frames.first().map(|frame| frame.text(field)).unwrap_or_default().to_owned()
    }

    /// The number of reads that brought deltas, and the time between the first and the last of them.
    pub(crate) fn arrivals(&self) -> (usize, Duration) {
        let mut deltas = self.frames.iter().filter(|frame| frame.is_delta());
        let Some(first) = deltas.next() else { return (0, Duration::ZERO) };
        let (mut reads, mut last) = (1, first);
        for frame in deltas {
            reads += usize::from(frame.read_index != last.read_index);
            last = frame;
        }
        (reads, last.received_at - first.received_at)
    }
}

#[derive(Debug)]
pub(crate) struct Frame {
    /// Turn and position; the terminator has none.
    pub(crate) id: Option<(String, String)>,
    /// The event; the text `[DONE]` for the terminator.
    pub(crate) event: Value,
    /// The index of the read that brought it, from 0.
    pub(crate) read_index: usize,
    pub(crate) received_at: Instant,
}

impl Frame {
    pub(crate) fn new(event: sse::Event<'_>, read_index: usize, received_at: Instant) -> Self {
        let id = event.id.and_then(|id| id.rsplit_once('-'));
        let id = id.map(|(turn, position)| (turn.to_owned(), position.to_owned()));
        // `[DONE]` is not valid JSON, so it is kept as text.
        let event = serde_json::from_str(event.data).unwrap_or_else(|_| Value::from(event.data));
        Self { id, event, read_index, received_at }
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

    pub(crate) fn is_delta(&self) -> bool {
        matches!(self.kind(), "content" | "thinking")
    }
}

pub(crate) fn content_of(frames: &[Frame]) -> String {
    frames.iter().filter(|frame| frame.kind() == "content").map(|frame| frame.text("content")).collect()
}

/// Checks a finished stream against the contract: from `start` on, or after a position, frames with growing positions, one
/// end, then the terminator.
pub(crate) fn check_complete_stream(frames: &[Frame], after: Option<&str>) -> Result<(), CheckFailure> {
    let ends = frames.iter().filter(|frame| frame.ends_turn()).count();
    CheckFailure::ensure(ends == 1, "exactly one `done` or `error`", || ends.to_string())?;
    let Some((last, rest)) = frames.split_last() else { return Err(CheckFailure::new("frames", "none")) };
    CheckFailure::ensure(last.is_terminator(), "`[DONE]` at the end", || format!("`{}`", last.kind()))?;
    let follows_end = rest.last().is_some_and(Frame::ends_turn);
    CheckFailure::ensure(follows_end, "`[DONE]` right after the end of the turn", || "frames between".to_owned())?;
    let first = rest.first().map(Frame::kind).unwrap_or_default();
    CheckFailure::ensure(after.is_some() || first == "start", "`start` as the first frame", || format!("`{first}`"))?;
    let turn = rest.first().and_then(|frame| frame.id.as_ref()).map(|(turn, _)| turn.clone()).unwrap_or_default();
    let mut last_number = number(after.unwrap_or("0"));
    for frame in rest {
        let found = frame.id.as_ref().filter(|(of, _)| *of == turn).and_then(|(_, position)| number(position));
        let got =
            || frame.id.as_ref().map_or("a frame without one".to_owned(), |(_, position)| format!("id {position}"));
        CheckFailure::ensure(found > last_number, "a frame of this turn with a greater id", got)?;
        last_number = found;
    }
    Ok(())
}

fn number(position: &str) -> Option<f64> {
    position.parse().ok()
}

/// Checks that the turn ended with `done`, for one of these reasons.
pub(crate) fn check_done(frames: &[Frame], reasons: &[&str]) -> Result<(), CheckFailure> {
    let expected = || format!("a turn that ends as {}", reasons.join(" or "));
    match frames.iter().find(|frame| frame.ends_turn()) {
        Some(end) if end.kind() == "error" => {
            Err(CheckFailure::new(expected(), format!("the error {}", end.text("code"))))
        }
        Some(end) if reasons.contains(&end.text("finishReason")) => Ok(()),
        Some(end) => Err(CheckFailure::new(expected(), end.text("finishReason"))),
        None => Err(CheckFailure::new(expected(), "no end")),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn frames(texts: &[&str]) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut decoder = sse::Decoder::default();
        for text in texts {
            let Ok(()) = decoder.push(format!("{text}\n\n").as_bytes(), &mut |frame| -> Result<(), Infallible> {
                if let sse::Frame::Event(event) = frame {
                    frames.push(Frame::new(event, 0, Instant::now()));
                }
                Ok(())
            });
        }
        frames
    }

    const START: &str = "id: T-1\ndata: {\"type\":\"start\"}";
    const DELTA: &str = "id: T-2\ndata: {\"type\":\"content\",\"content\":\"a\"}";
    const END: &str = "id: T-3\ndata: {\"type\":\"done\",\"finishReason\":\"stop\"}";
    const DONE: &str = "data: [DONE]";

    #[test]
    fn complete_stream_grows_and_ends_once() {
        assert_eq!(check_complete_stream(&frames(&[START, ": keep-alive", DELTA, END, DONE]), None), Ok(()));
        assert_eq!(check_complete_stream(&frames(&[DELTA, END, DONE]), Some("1.0")), Ok(()));
        assert!(check_complete_stream(&frames(&[DELTA, END, DONE]), Some("2.5")).is_err());
        assert_eq!(content_of(&frames(&[START, DELTA, DELTA])), "aa");
        for broken in [
            &[START, DELTA, END] as &[&str],
            &[START, DELTA, DONE],
            &[START, START, END, DONE],
            &[DELTA, END, DONE],
            &[START, DELTA, END, END, DONE],
            &[START, "id: U-2\ndata: {\"type\":\"content\"}", END, DONE],
            &[START, "data: {\"type\":\"content\"}", END, DONE],
            &[],
        ] {
            assert!(check_complete_stream(&frames(broken), None).is_err(), "{broken:?}");
        }
    }

    #[test]
    fn failed_turn_is_reported_by_its_code() {
        let failed = "id: T-2\ndata: {\"type\":\"error\",\"code\":\"upstream_auth\",\"message\":\"secret\"}";
        assert_eq!(check_done(&frames(&[START, END]), &["stop", "length"]), Ok(()));
        let fault = check_done(&frames(&[START, failed]), &["stop"]).unwrap_err().to_string();
        assert_eq!(fault, "expected a turn that ends as stop, got the error upstream_auth");
        assert!(check_done(&frames(&[START]), &["stop"]).is_err());
        assert!(check_done(&frames(&[END]), &["stopped"]).is_err());
    }
}
