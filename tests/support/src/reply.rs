use std::io;

use serde_json::Value;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::Gate;

/// How the end of a reply's body is told to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// Each write is a chunk of its own; a cut is visible.
    Chunked,
    /// The body ends when the connection does; a cut looks like an end.
    UntilClose,
}

/// One thing that a fake server does while it answers.
#[derive(Clone)]
enum Step {
    Send(Vec<u8>),
    Wait(Gate),
    Stall,
    Close,
    Reset,
}

/// What becomes of the connection after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    Keep,
    Close,
    Reset,
}

/// A scripted answer: status, headers and a body in steps, of which the test decides the time and the cuts.
#[derive(Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    framing: Framing,
    before: Vec<Step>,
    body: Vec<Step>,
}

impl Reply {
    /// An answer with this status and an empty body.
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), framing: Framing::Chunked, before: Vec::new(), body: Vec::new() }
    }

    /// An answer with a JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::status(status).header("content-type", "application/json").bytes(body.to_string())
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends these bytes as one write, which the client reads as one piece.
    #[must_use]
    pub fn bytes(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.body.push(Step::Send(bytes.into()));
        self
    }

    /// Waits at the gate before what follows.
    #[must_use]
    pub fn wait(mut self, gate: &Gate) -> Self {
        self.body.push(Step::Wait(gate.clone()));
        self
    }

    /// Waits at the gate before the first byte of the answer.
    #[must_use]
    pub fn held(mut self, gate: &Gate) -> Self {
        self.before.push(Step::Wait(gate.clone()));
        self
    }

    /// Sends nothing more and keeps the connection until the client gives up.
    #[must_use]
    pub fn stall(mut self) -> Self {
        self.body.push(Step::Stall);
        self
    }

    /// Closes the connection in the middle of the body.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.body.push(Step::Close);
        self
    }

    /// Breaks the connection (TCP reset) in the middle of the body.
    #[must_use]
    pub fn reset(mut self) -> Self {
        self.body.push(Step::Reset);
        self
    }

    /// Lets the body end with the connection instead of by chunked framing.
    #[must_use]
    pub fn until_close(mut self) -> Self {
        self.framing = Framing::UntilClose;
        self
    }

    /// Never answers at all: not even the status line is sent.
    pub fn silence() -> Self {
        let mut reply = Self::status(200);
        reply.before.push(Step::Stall);
        reply
    }

    /// Breaks the connection before the status line.
    pub fn refusal() -> Self {
        let mut reply = Self::status(200);
        reply.before.push(Step::Reset);
        reply
    }

    /// Sends the whole body in pieces of `size` bytes, whatever its writes were; gates are left out.
    #[must_use]
    pub fn in_pieces_of(mut self, size: usize) -> Self {
        let whole = self.body.iter().filter_map(|step| if let Step::Send(bytes) = step { Some(bytes) } else { None });
        let whole: Vec<u8> = whole.flatten().copied().collect();
        self.body = whole.chunks(size).map(|piece| Step::Send(piece.to_vec())).collect();
        self
    }

    /// Plays the script; an error means that the client hung up.
    pub(crate) async fn play(&self, stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<After> {
        for step in &self.before {
            if let Some(after) = self.step(step, stream).await? {
                return Ok(after);
            }
        }
        stream.write_all(self.head().as_bytes()).await?;
        for step in &self.body {
            if let Some(after) = self.step(step, stream).await? {
                return Ok(after);
            }
        }
        if self.framing == Framing::UntilClose {
            return Ok(After::Close);
        }
        stream.write_all(b"0\r\n\r\n").await?;
        Ok(After::Keep)
    }

    async fn step(&self, step: &Step, stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<Option<After>> {
        match step {
            Step::Send(bytes) if bytes.is_empty() => {}
            Step::Send(bytes) => stream.write_all(&self.framed(bytes)).await?,
            Step::Wait(gate) => gate.pass().await,
            Step::Stall => std::future::pending().await,
            Step::Close => return Ok(Some(After::Close)),
            Step::Reset => return Ok(Some(After::Reset)),
        }
        Ok(None)
    }

    fn framed(&self, bytes: &[u8]) -> Vec<u8> {
        match self.framing {
            Framing::UntilClose => bytes.to_vec(),
            Framing::Chunked => [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat(),
        }
    }

    fn head(&self) -> String {
        let framing = match self.framing {
            Framing::Chunked => "transfer-encoding: chunked",
            Framing::UntilClose => "connection: close",
        };
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let head = format!("HTTP/1.1 {} Scripted\r\n{framing}\r\n", self.status);
        headers.fold(head, |head, line| head + &line) + "\r\n"
    }
}
