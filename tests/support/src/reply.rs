use std::io;

use serde_json::Value;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::Gate;

/// How a reply marks the end of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// Each write is one chunk; the client detects a disconnect.
    Chunked,
    /// The body ends with the connection; the client cannot detect a disconnect.
    UntilClose,
}

/// One step of a fake server's reply.
#[derive(Clone)]
enum Step {
    Send(Vec<u8>),
    Wait(Gate),
    Stall,
    Close,
    Reset,
}

/// What the server does with the connection after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionAction {
    Keep,
    Close,
    Reset,
}

/// A scripted reply: status, headers and a body in steps; the test controls its timing and its disconnects.
#[derive(Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    framing: Framing,
    before: Vec<Step>,
    body: Vec<Step>,
}

impl Reply {
    /// A reply with this status and an empty body.
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), framing: Framing::Chunked, before: Vec::new(), body: Vec::new() }
    }

    /// A reply with a JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::status(status).header("content-type", "application/json").bytes(body.to_string())
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends these bytes as one write, which the client reads as one chunk.
    #[must_use]
    pub fn bytes(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.body.push(Step::Send(bytes.into()));
        self
    }

    /// Waits at the gate before the next step.
    #[must_use]
    pub fn wait(mut self, gate: &Gate) -> Self {
        self.body.push(Step::Wait(gate.clone()));
        self
    }

    /// Waits at the gate before the first byte of the reply.
    #[must_use]
    pub fn wait_before_head(mut self, gate: &Gate) -> Self {
        self.before.push(Step::Wait(gate.clone()));
        self
    }

    /// Sends nothing more and keeps the connection until the client disconnects.
    #[must_use]
    pub fn stall(mut self) -> Self {
        self.body.push(Step::Stall);
        self
    }

    /// Closes the connection in the middle of the body.
    #[must_use]
    pub fn disconnect(mut self) -> Self {
        self.body.push(Step::Close);
        self
    }

    /// Resets the connection (TCP) in the middle of the body.
    #[must_use]
    pub fn reset(mut self) -> Self {
        self.body.push(Step::Reset);
        self
    }

    /// Ends the body with the connection instead of by chunked framing.
    #[must_use]
    pub fn until_close(mut self) -> Self {
        self.framing = Framing::UntilClose;
        self
    }

    /// A reply that never starts: the server does not even send the status line.
    pub fn no_response() -> Self {
        let mut reply = Self::status(200);
        reply.before.push(Step::Stall);
        reply
    }

    /// A reply that resets the connection before the status line.
    pub fn reset_before_head() -> Self {
        let mut reply = Self::status(200);
        reply.before.push(Step::Reset);
        reply
    }

    /// Splits the whole body into chunks of `size` bytes, independent of its writes; drops its gates.
    #[must_use]
    pub fn in_chunks_of(mut self, size: usize) -> Self {
        let whole = self.body.iter().filter_map(|step| if let Step::Send(bytes) = step { Some(bytes) } else { None });
        let whole: Vec<u8> = whole.flatten().copied().collect();
        self.body = whole.chunks(size).map(|piece| Step::Send(piece.to_vec())).collect();
        self
    }

    /// Plays the script; an error means that the client disconnected.
    pub(crate) async fn play(&self, stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<ConnectionAction> {
        for step in &self.before {
            if let Some(after) = self.run_step(step, stream).await? {
                return Ok(after);
            }
        }
        stream.write_all(self.encode_head().as_bytes()).await?;
        for step in &self.body {
            if let Some(after) = self.run_step(step, stream).await? {
                return Ok(after);
            }
        }
        if self.framing == Framing::UntilClose {
            return Ok(ConnectionAction::Close);
        }
        stream.write_all(b"0\r\n\r\n").await?;
        Ok(ConnectionAction::Keep)
    }

    async fn run_step(
        &self,
        step: &Step,
        stream: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<Option<ConnectionAction>> {
        match step {
            Step::Send(bytes) if bytes.is_empty() => {}
            Step::Send(bytes) => stream.write_all(&self.frame(bytes)).await?,
            Step::Wait(gate) => gate.pass().await,
            Step::Stall => std::future::pending().await,
            Step::Close => return Ok(Some(ConnectionAction::Close)),
            Step::Reset => return Ok(Some(ConnectionAction::Reset)),
        }
        Ok(None)
    }

    fn frame(&self, bytes: &[u8]) -> Vec<u8> {
        match self.framing {
            Framing::UntilClose => bytes.to_vec(),
            Framing::Chunked => [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat(),
        }
    }

    fn encode_head(&self) -> String {
        let framing = match self.framing {
            Framing::Chunked => "transfer-encoding: chunked",
            Framing::UntilClose => "connection: close",
        };
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let head = format!("HTTP/1.1 {} Scripted\r\n{framing}\r\n", self.status);
        headers.fold(head, |head, line| head + &line) + "\r\n"
    }
}
