use std::borrow::Cow;

use domain::{
    AnswerDelta, Event, FinishReason, ModelAttribution, Note, PositionTracker, ToolCall, ToolEvent, ToolOutcome,
    TurnPosition, Usage,
};
use serde::Serialize;

use crate::Protocol;
use crate::frame::END_MARKER;

/// The native protocol: deltas, one `data:` line per frame with an id, then `data: [DONE]`.
pub struct NativeSse {
    writer: FrameWriter,
    request_id: String,
    attribution: ModelAttribution,
}

/// Writes JSON objects as frames, each with the position after it.
#[derive(Default)]
struct FrameWriter {
    turn_id: String,
    tracker: PositionTracker,
    /// What the client has received of the turn before.
    received: TurnPosition,
    is_resumed: bool,
    /// How many frames the client has, if its id counts frames.
    to_skip: usize,
    /// The last object; its allocation is reused for the next.
    buffer: Vec<u8>,
}

impl NativeSse {
    /// A frame's id is `<turn_id>-<position>`; `request_id` goes into an error frame.
    pub fn new(turn_id: impl Into<String>, request_id: impl Into<String>) -> Self {
        Self {
            writer: FrameWriter { turn_id: turn_id.into(), ..FrameWriter::default() },
            request_id: request_id.into(),
            attribution: ModelAttribution::default(),
        }
    }

    /// Writes only what follows this position; the turn's events must still start with the first one.
    #[must_use]
    pub fn resume_after(mut self, received: TurnPosition) -> Self {
        self.writer.to_skip = received.frames().unwrap_or_default();
        self.writer.is_resumed = received != TurnPosition::default();
        self.writer.received = received;
        self
    }

    /// Moves past an event that [`Self::write_payload`] renders; whether the client lacks it, or a part of it.
    pub(crate) fn advance(&mut self, event: &Event) -> bool {
        self.attribution.record(event);
        self.writer.advance(event).is_some()
    }

    pub(crate) fn write_payload<T: Serialize>(&mut self, payload: &T, out: &mut String) {
        self.writer.write(payload, false, out);
    }
}

impl FrameWriter {
    /// Moves past an event; returns what of it the client lacks.
    fn advance<'a>(&mut self, event: &'a Event) -> Option<Cow<'a, Event>> {
        self.tracker.advance(event, &self.received)
    }

    fn write<T: Serialize>(&mut self, payload: &T, ends: bool, out: &mut String) {
        // A count of frames may be ahead of the events that are known, but each stream has an end.
        if ends || !self.skips_frame() {
            self.begin_frame(out);
            self.write_json(payload, out);
            out.push_str("\n\n");
        }
        if ends {
            out.push_str(END_MARKER);
        }
    }

    /// Writes a delta without building an object: these are most frames.
    fn write_delta(&mut self, prefix: &str, text: &str, out: &mut String) {
        if self.skips_frame() {
            return;
        }
        self.begin_frame(out);
        out.push_str(prefix);
        if text.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
            self.write_json(&text, out);
        } else {
            out.push('"');
            out.push_str(text);
            out.push('"');
        }
        out.push_str("}\n\n");
    }

    /// Counts a frame that the client has.
    fn skips_frame(&mut self) -> bool {
        let skips = self.to_skip > 0;
        self.to_skip -= usize::from(skips);
        skips
    }

    fn begin_frame(&self, out: &mut String) {
        out.push_str("id: ");
        out.push_str(&self.turn_id);
        out.push('-');
        let position = self.tracker.position();
        if self.is_resumed {
            // The client may be ahead of the events that are known.
            position.union(&self.received).write(out);
        } else {
            position.write(out);
        }
        out.push_str("\ndata: ");
    }

    fn write_json<T: Serialize>(&mut self, value: &T, out: &mut String) {
        self.buffer.clear();
        // Writing to memory and serialising plain data cannot fail.
        let _ = serde_json::to_writer(&mut self.buffer, value);
        out.push_str(std::str::from_utf8(&self.buffer).unwrap_or_default());
    }
}

impl Protocol for NativeSse {
    fn write_frames(&mut self, event: &Event, out: &mut String) {
        self.attribution.record(event);
        let Some(missing) = self.writer.advance(event) else {
            if event.is_end() {
                out.push_str(END_MARKER);
            }
            return;
        };
        match missing.as_ref() {
            Event::Delta(AnswerDelta::Text(delta)) => {
                self.writer.write_delta(r#"{"type":"content","content":"#, delta, out);
            }
            Event::Delta(AnswerDelta::Thinking(delta)) => {
                self.writer.write_delta(r#"{"type":"thinking","thinking":"#, delta, out);
            }
            Event::Started(_)
            | Event::Delta(AnswerDelta::Reclassified(_))
            | Event::Tool(_)
            | Event::Note(_)
            | Event::End(_) => {
                if let Some(payload) = Payload::from_event(event, &self.request_id, self.attribution.after_failover()) {
                    self.writer.write(&payload, event.is_end(), out);
                }
            }
        }
    }
}

/// The JSON object of a frame that is no delta.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Payload<'a> {
    Start {
        conversation_id: &'a str,
        message_id: &'a str,
        model: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        continues: bool,
    },
    Reclassify {
        characters: usize,
    },
    ToolCall(&'a ToolCall),
    ToolProgress {
        id: &'a str,
        name: &'a str,
        text: &'a str,
    },
    ToolResult(&'a ToolOutcome),
    Title {
        title: &'a str,
    },
    Usage(&'a Usage),
    Done {
        finish_reason: FinishReason,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        models: &'a [String],
    },
    Error {
        code: domain::ErrorCode,
        message: &'a str,
        retryable: bool,
        request_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_seconds: Option<u64>,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        models: &'a [String],
    },
}

impl<'a> Payload<'a> {
    /// The event's object, if it has one. `models` lists the models that wrote the answer if not only the first one
    /// did.
    fn from_event(event: &'a Event, request_id: &'a str, models: &'a [String]) -> Option<Self> {
        Some(match event {
            // Deltas have frames of their own. Native clients have the pages of earlier turns, and cannot declare client tools.
            Event::Delta(AnswerDelta::Text(_) | AnswerDelta::Thinking(_))
            | Event::Tool(ToolEvent::ClientCall(_))
            | Event::Note(Note::ModelSwitched(_) | Note::EarlierSource(_)) => return None,
            Event::Started(started) => Self::Start {
                conversation_id: &started.conversation_id,
                message_id: &started.message_id,
                model: &started.model,
                continues: started.continues,
            },
            Event::Delta(AnswerDelta::Reclassified(characters)) => Self::Reclassify { characters: *characters },
            Event::Tool(ToolEvent::Call(call)) => Self::ToolCall(call),
            Event::Tool(ToolEvent::Progress(progress)) => {
                Self::ToolProgress { id: &progress.id, name: &progress.name, text: &progress.text }
            }
            Event::Tool(ToolEvent::Result(report)) => Self::ToolResult(report),
            Event::Note(Note::Title(title)) => Self::Title { title },
            Event::Note(Note::Usage(usage)) => Self::Usage(usage),
            Event::End(Ok(finish_reason)) => Self::Done { finish_reason: *finish_reason, models },
            Event::End(Err(failure)) => Self::Error {
                code: failure.code,
                message: &failure.message,
                retryable: failure.code.is_retryable(),
                request_id,
                retry_after_seconds: failure.retry_after_seconds,
                models,
            },
        })
    }
}

#[cfg(test)]
mod tests;
