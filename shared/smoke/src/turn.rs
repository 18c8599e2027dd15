use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::{Instant, timeout_at};

use crate::answer::refused;
use crate::door::{Request, Response};
use crate::told::{Frame, content, whole};
use crate::{Fault, Limits, Target};

/// Reads a turn as one client.
pub(crate) struct Turn {
    response: Response,
    /// The bytes of an incomplete frame.
    rest: Vec<u8>,
    pub(crate) frames: Vec<Frame>,
    reads: usize,
    asked: Instant,
    until: Instant,
    limits: Limits,
}

impl Turn {
    /// Sends the request and reads the head of the response, which must be a stream.
    pub(crate) async fn open(target: &Target, request: Request, limits: Limits) -> Result<Self, Fault> {
        let asked = Instant::now();
        let response = target.sent(request, limits.turn).await?;
        if response.status != 200 {
            return Err(Fault::new("a stream", refused(response, limits.answer).await));
        }
        let until = asked + limits.turn;
        Ok(Self { response, rest: Vec::new(), frames: Vec::new(), reads: 0, asked, until, limits })
    }

    /// Sets the deadline of the turn to this time from now.
    pub(crate) fn within(&mut self, limit: Duration) {
        self.until = Instant::now() + limit;
    }

    /// Reads until a frame matches; returns the time from the request to that frame.
    pub(crate) async fn until(&mut self, what: &str, wanted: fn(&Frame) -> bool) -> Result<Duration, Fault> {
        loop {
            if let Some(frame) = self.frames.iter().find(|frame| wanted(frame)) {
                return Ok(frame.at - self.asked);
            }
            if !self.read().await? {
                return Err(Fault::new(what, "the end of the stream"));
            }
        }
    }

    /// Reads to the end of the stream and checks it against the contract.
    pub(crate) async fn read_out(&mut self, first: u64) -> Result<(), Fault> {
        self.until("the end of the turn", Frame::ends_turn).await?;
        self.until("`[DONE]`", Frame::is_terminator).await?;
        self.within(self.limits.close);
        let open = "an end of the stream behind `[DONE]`";
        while self.read().await.map_err(|_| Fault::new(open, "an open or broken connection"))? {}
        whole(&self.frames, first)
    }

    /// One read of the connection; false at its end.
    async fn read(&mut self) -> Result<bool, Fault> {
        let late = |_| Fault::new("more of the stream", "nothing in time: it does not end");
        let read = timeout_at(self.until, self.response.body.next()).await.map_err(late)?;
        let Some(bytes) = read else { return Ok(false) };
        let bytes = bytes.map_err(|lost| Fault::new("more of the stream", lost.to_string()))?;
        self.rest.extend_from_slice(&bytes);
        let now = Instant::now();
        while let Some(end) = self.rest.windows(2).position(|pair| pair == b"\n\n") {
            let frame: Vec<u8> = self.rest.drain(..end + 2).collect();
            self.frames.extend(Frame::parse(&String::from_utf8_lossy(&frame), self.reads, now));
        }
        self.reads += 1;
        Ok(true)
    }

    pub(crate) fn content(&self) -> String {
        content(&self.frames)
    }

    /// A field of the first event.
    pub(crate) fn started(&self, field: &str) -> String {
        self.frames.first().map(|frame| frame.text(field)).unwrap_or_default().to_owned()
    }

    /// The number of reads that brought deltas, and the time between the first and the last of them.
    pub(crate) fn arrivals(&self) -> (usize, Duration) {
        let mut growing = self.frames.iter().filter(|frame| frame.grows());
        let Some(first) = growing.next() else { return (0, Duration::ZERO) };
        let (mut reads, mut last) = (1, first);
        for frame in growing {
            reads += usize::from(frame.read != last.read);
            last = frame;
        }
        (reads, last.at - first.at)
    }
}
