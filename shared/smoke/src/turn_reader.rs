use std::time::Duration;

use futures_util::StreamExt;
use sse::MAX_EVENT_BYTES;
use tokio::time::{Instant, timeout_at};

use crate::frames::{Frame, check_complete_stream, content_of};
use crate::full_response::describe_failure;
use crate::transports::{Request, Response};
use crate::{CheckFailure, Target, Timeouts};

/// Reads a turn as one client.
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

    /// A field of the first event.
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
