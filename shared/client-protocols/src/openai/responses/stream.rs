use std::time::{SystemTime, UNIX_EPOCH};

use domain::{
    AnswerDelta, Event, Failure, FinishReason, Note, Source, ToolCall, ToolEvent, Usage, split_last_characters,
};
use serde_json::{Value, json};

use super::ResponseId;
use super::resource::{Status, render_response};
use crate::Protocol;
use crate::frame::END_MARKER;
use crate::openai::annotations::citations;
use crate::openai::arguments_text;
use crate::openai::error::openai_error;

/// The characters of a piece of text. Pieces of the same length everywhere give events the same numbers in every stream of a
/// response, however its text arrives: clients continue after a number.
const PIECE_CHARS: usize = 4;

/// The tools whose calls are items of the answer. Other tools of the service are not shown, as on the other routes of this API.
const SEARCH_WEB: &str = "search_web";
const READ_URL: &str = "read_url";

/// A streamed response: numbered events, the last of which has the whole response, then `data: [DONE]`.
pub struct ResponseStream {
    /// The fields of the request, by [`request_details`](super::request_details).
    details: Value,
    id: ResponseId,
    /// The number of the next event.
    sequence: u64,
    /// The events up to this number are not written: the client has them.
    received: Option<u64>,
    /// The finished items, and the unfinished ones as they began.
    output: Vec<Value>,
    text: Option<OpenText>,
    /// The ids of searches that run, with their positions in the output.
    searches: Vec<(String, usize)>,
    sources: Vec<Source>,
    usage: Option<Usage>,
    status: Status,
    /// When it ended, in seconds since 1970.
    ended_secs: Option<u64>,
    failure: Option<Failure>,
}

/// The text or the reasoning that is being written.
struct OpenText {
    is_reasoning: bool,
    index: usize,
    item_id: String,
    text: String,
    /// The end of the text that has no event yet.
    pending: String,
}

impl ResponseStream {
    /// Renders the response to a request from its start, or for a client that has received the events up to a number; for one
    /// that gets no events at all up to [`u64::MAX`]. `ended_secs` is when a turn ended that is read again, since 1970.
    pub fn new(details: Value, received: Option<u64>, ended_secs: Option<u64>) -> Self {
        Self {
            details,
            id: ResponseId::default(),
            sequence: 0,
            received,
            output: Vec::new(),
            text: None,
            searches: Vec::new(),
            sources: Vec::new(),
            usage: None,
            status: Status::InProgress,
            ended_secs,
            failure: None,
        }
    }

    /// The response as far as its events have come.
    pub fn response(&self) -> Value {
        render_response(&self.details, &self.id, (&self.status, self.ended_secs), &self.output, self.usage)
    }

    /// The failure that ended the turn.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    fn write(&mut self, kind: &str, mut event: Value, out: &mut String) {
        event["type"] = kind.into();
        event["sequence_number"] = self.sequence.into();
        let is_received = self.is_received();
        self.sequence += 1;
        if is_received {
            return;
        }
        for part in ["event: ", kind, "\ndata: ", &event.to_string(), "\n\n"] {
            out.push_str(part);
        }
    }

    /// Whether the client has the next event.
    fn is_received(&self) -> bool {
        self.received.is_some_and(|received| self.sequence <= received)
    }

    /// Adds an item and returns its position.
    fn add_item(&mut self, item: Value, out: &mut String) -> usize {
        let index = self.output.len();
        self.write("response.output_item.added", json!({ "output_index": index, "item": item }), out);
        self.output.push(item);
        index
    }

    fn finish_item(&mut self, index: usize, out: &mut String) {
        let item = self.output[index].clone();
        self.write("response.output_item.done", json!({ "output_index": index, "item": item }), out);
    }

    fn push_text(&mut self, is_reasoning: bool, delta: &str, out: &mut String) {
        if self.text.as_ref().is_none_or(|open| open.is_reasoning != is_reasoning) {
            self.close_text(out);
            self.open_text(is_reasoning, out);
        }
        let Some(mut open) = self.text.take() else { return };
        open.text.push_str(delta);
        open.pending.push_str(delta);
        let mut start = 0;
        while let Some((length, _)) = open.pending[start..].char_indices().nth(PIECE_CHARS) {
            self.write_delta(&open, &open.pending[start..start + length], out);
            start += length;
        }
        open.pending.drain(..start);
        self.text = Some(open);
    }

    /// Makes the end of the text reasoning, if the client has no events of it: no event takes text back.
    fn reclassify(&mut self, characters: usize, out: &mut String) {
        let is_text = self.text.as_ref().is_some_and(|open| !open.is_reasoning);
        if self.received != Some(u64::MAX) || !is_text {
            return;
        }
        let Some(mut open) = self.text.take() else { return };
        let reasoning = split_last_characters(&mut open.text, characters);
        open.pending.clear();
        if open.text.is_empty() {
            self.output.pop();
        } else {
            self.text = Some(open);
        }
        self.push_text(true, &reasoning, out);
    }

    fn open_text(&mut self, is_reasoning: bool, out: &mut String) {
        let index = self.output.len();
        let item_id = self.id.item(if is_reasoning { "rs" } else { "msg" }, index);
        let item = if is_reasoning {
            json!({ "id": item_id, "type": "reasoning", "summary": [], "encrypted_content": null })
        } else {
            json!({ "id": item_id, "type": "message", "role": "assistant", "status": "in_progress", "content": [] })
        };
        self.add_item(item, out);
        let (kind, part) = if is_reasoning {
            ("response.reasoning_summary_part.added", json!({ "type": "summary_text", "text": "" }))
        } else {
            ("response.content_part.added", output_text("", &[]))
        };
        let open = OpenText { is_reasoning, index, item_id, text: String::new(), pending: String::new() };
        let event = open.event([("part", part)]);
        self.write(kind, event, out);
        self.text = Some(open);
    }

    fn write_delta(&mut self, open: &OpenText, delta: &str, out: &mut String) {
        if self.is_received() {
            self.sequence += 1;
            return;
        }
        if open.is_reasoning {
            self.write("response.reasoning_summary_text.delta", open.event([("delta", delta.into())]), out);
        } else {
            let event = open.event([("delta", delta.into()), ("logprobs", json!([]))]);
            self.write("response.output_text.delta", event, out);
        }
    }

    fn close_text(&mut self, out: &mut String) {
        let Some(open) = self.text.take() else { return };
        if !open.pending.is_empty() {
            self.write_delta(&open, &open.pending, out);
        }
        if open.is_reasoning {
            let part = json!({ "type": "summary_text", "text": open.text });
            let event = open.event([("text", open.text.as_str().into())]);
            self.write("response.reasoning_summary_text.done", event, out);
            self.write("response.reasoning_summary_part.done", open.event([("part", part.clone())]), out);
            self.output[open.index]["summary"] = json!([part]);
        } else {
            self.close_message(&open, out);
        }
        self.finish_item(open.index, out);
    }

    fn close_message(&mut self, open: &OpenText, out: &mut String) {
        let citation = |(start, end, Source { title, url, .. }): (usize, usize, &Source)| json!({ "type": "url_citation", "start_index": start, "end_index": end, "title": title, "url": url });
        let annotations: Vec<Value> = citations(&open.text, &self.sources).into_iter().map(citation).collect();
        for (index, annotation) in annotations.iter().enumerate() {
            let event = open.event([("annotation_index", index.into()), ("annotation", annotation.clone())]);
            self.write("response.output_text.annotation.added", event, out);
        }
        let event = open.event([("text", open.text.as_str().into()), ("logprobs", json!([]))]);
        self.write("response.output_text.done", event, out);
        let part = output_text(&open.text, &annotations);
        self.write("response.content_part.done", open.event([("part", part.clone())]), out);
        self.output[open.index]["content"] = json!([part]);
        self.output[open.index]["status"] = "completed".into();
    }

    fn start_search(&mut self, call: &ToolCall, out: &mut String) {
        let action = match call.name.as_str() {
            SEARCH_WEB => json!({ "type": "search", "query": call.arguments["query"].as_str().unwrap_or_default() }),
            READ_URL => json!({ "type": "open_page", "url": call.arguments["url"].as_str().unwrap_or_default() }),
            _ => return,
        };
        self.close_text(out);
        let item_id = self.id.item("ws", self.output.len());
        let item = json!({ "id": item_id, "type": "web_search_call", "status": "in_progress", "action": action });
        let index = self.add_item(item, out);
        for kind in ["response.web_search_call.in_progress", "response.web_search_call.searching"] {
            self.write(kind, json!({ "output_index": index, "item_id": item_id }), out);
        }
        self.searches.push((call.id.clone(), index));
    }

    fn end_search(&mut self, position: usize, ok: bool, out: &mut String) {
        let (_, index) = self.searches.remove(position);
        if ok {
            let event = json!({ "output_index": index, "item_id": self.output[index]["id"] });
            self.write("response.web_search_call.completed", event, out);
        }
        self.output[index]["status"] = if ok { "completed" } else { "failed" }.into();
        self.finish_item(index, out);
    }

    fn write_call(&mut self, call: &ToolCall, out: &mut String) {
        self.close_text(out);
        let (item_id, arguments) = (self.id.item("fc", self.output.len()), arguments_text(&call.arguments));
        let item = json!({
            "id": item_id, "type": "function_call", "status": "in_progress", "call_id": call.id, "name": call.name,
            "arguments": "",
        });
        let index = self.add_item(item, out);
        let event = json!({ "output_index": index, "item_id": item_id, "delta": arguments });
        self.write("response.function_call_arguments.delta", event, out);
        let event = json!({ "output_index": index, "item_id": item_id, "name": call.name, "arguments": arguments });
        self.write("response.function_call_arguments.done", event, out);
        self.output[index]["arguments"] = arguments.into();
        self.output[index]["status"] = "completed".into();
        self.finish_item(index, out);
    }

    fn end(&mut self, ended: &Result<FinishReason, Box<Failure>>, out: &mut String) {
        self.close_text(out);
        while !self.searches.is_empty() {
            self.end_search(0, false, out);
        }
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_secs()).ok();
        self.ended_secs = self.ended_secs.or_else(now);
        self.status = match ended {
            Ok(reason) => Status::Ended(*reason),
            Err(failure) => {
                self.failure = Some(Failure::clone(failure));
                Status::Failed(openai_error(failure))
            }
        };
        let response = self.response();
        self.write(self.status.event(), json!({ "response": response }), out);
        out.push_str(END_MARKER);
    }
}

impl OpenText {
    /// An event of this text, with further fields.
    fn event<const N: usize>(&self, fields: [(&str, Value); N]) -> Value {
        let index = if self.is_reasoning { "summary_index" } else { "content_index" };
        let mut event = json!({ "item_id": self.item_id, "output_index": self.index, index: 0 });
        for (name, value) in fields {
            event[name] = value;
        }
        event
    }
}

fn output_text(text: &str, annotations: &[Value]) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": annotations, "logprobs": [] })
}

impl Protocol for ResponseStream {
    fn write_frames(&mut self, event: &Event, out: &mut String) {
        match event {
            Event::Started(start) => {
                self.id = ResponseId::of_turn(start);
                for kind in ["response.created", "response.in_progress"] {
                    let response = self.response();
                    self.write(kind, json!({ "response": response }), out);
                }
            }
            Event::Delta(AnswerDelta::Text(delta)) => self.push_text(false, delta, out),
            Event::Delta(AnswerDelta::Thinking(delta)) => self.push_text(true, delta, out),
            Event::Tool(ToolEvent::Call(call)) => self.start_search(call, out),
            Event::Tool(ToolEvent::Result(outcome)) => {
                Source::join(&mut self.sources, &outcome.sources);
                if let Some(position) = self.searches.iter().position(|(id, _)| *id == outcome.id) {
                    self.end_search(position, outcome.ok, out);
                }
            }
            Event::Tool(ToolEvent::ClientCall(call)) => self.write_call(call, out),
            Event::Note(Note::EarlierSource(source)) => {
                Source::join(&mut self.sources, std::slice::from_ref(source));
            }
            Event::Note(Note::Usage(usage)) => self.usage = Some(**usage),
            Event::End(ended) => self.end(ended, out),
            Event::Delta(AnswerDelta::Reclassified(characters)) => self.reclassify(*characters, out),
            Event::Tool(ToolEvent::Progress(_)) | Event::Note(Note::ModelSwitched(_) | Note::Title(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests;
