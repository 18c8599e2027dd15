//! Control tokens that divide a reply into reasoning and answer. Endpoints usually remove them; here they have leaked.
//!
//! Sources: the chat templates of the models, and the public parsers of llama.cpp, vLLM and `SGLang`.

use std::sync::LazyLock;

use crate::formats::MESSAGE_ENDS;
use crate::markers::{MarkerTree, Match};

/// What follows a frame's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Thinking,
    Answer,
    /// Neither: the reasoning ends.
    ThinkingEnd,
    /// Neither: what was open ends.
    End,
}

/// Harmony's channels; those of calls also have a recipient.
const CHANNELS: [(&str, Frame); 3] =
    [("analysis", Frame::Thinking), ("final", Frame::Answer), ("commentary", Frame::Answer)];
/// What may precede a channel: the beginning of a message, and a channel without a message.
const BEFORE_CHANNEL: [&str; 4] = [
    "",
    "<|start|>assistant",
    "<|channel|>commentary to=assistant",
    "<|start|>assistant<|channel|>commentary to=assistant",
];
/// What may follow a channel: the form of the message.
const CONSTRAINTS: [&str; 3] = ["", "<|constrain|>json", " <|constrain|>json"];

fn harmony_frames() -> impl Iterator<Item = (String, Frame)> {
    BEFORE_CHANNEL.into_iter().flat_map(|before| {
        let headers = CHANNELS.into_iter().flat_map(move |(channel, frame)| {
            let header = move |constraint| format!("{before}<|channel|>{channel}{constraint}<|message|>");
            // In the other channels a form shows a call.
            let constraints = if channel == "final" { &CONSTRAINTS[..] } else { &CONSTRAINTS[..1] };
            constraints.iter().map(move |constraint| (header(constraint), frame))
        });
        let to_user = before.ends_with("to=assistant").then(|| (format!("{before}<|message|>"), Frame::Answer));
        headers.chain(to_user)
    })
}

/// What opens and ends reasoning.
const REASONING: &[[&str; 2]] = &[
    // Command, Kimi K3.
    ["<|START_THINKING|>", "<|END_THINKING|>"],
    ["<|open|>think<|sep|>", "<|close|>think<|sep|>"],
    // Gemma 4.
    ["<|channel>thought", "<channel|>"],
    // PLaMo 3, OpenPangu, Mistral, Apertus.
    ["<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"],
    ["[unused16]", "[unused17]"],
    ["[THINK]", "[/THINK]"],
    ["<|inner_prefix|>", "<|inner_suffix|>"],
];

/// Inkling's kinds of content; each may follow the token of the message.
const CONTENTS: &[(&str, Frame)] = &[
    ("<|content_thinking|>", Frame::Thinking),
    ("<|content_text|>", Frame::Answer),
    ("<|content_invoke_tool_text|>", Frame::Answer),
    ("<|content_tool_error|>", Frame::Answer),
];

const FRAMES: &[(&str, Frame)] = &[
    // Muse.
    ("<|start|>assistant to=self<|message|>", Frame::Thinking),
    ("<|start|>assistant to=developer<|message|>", Frame::Thinking),
    ("<|start|>assistant to=user<|message|>", Frame::Answer),
    ("<|start|>assistant to=commentary<|message|>", Frame::Answer),
    ("<|start|>assistant<|message|>", Frame::Answer),
    // Command, Kimi K3, Gemma 4.
    ("<|START_TEXT|>", Frame::Answer),
    ("<|START_RESPONSE|>", Frame::Answer),
    ("<|open|>response<|sep|>", Frame::Answer),
    ("<|open|>message role=\"assistant\"<|sep|>", Frame::Answer),
    ("<|channel><|channel>thought", Frame::Thinking),
    // Solar Open.
    ("<|think|>", Frame::Thinking),
    ("<|content|>", Frame::Answer),
    ("<|begin|>assistant<|content|>", Frame::Answer),
    ("<|begin|>assistant<|think|>", Frame::Thinking),
    ("<|flush|>", Frame::End),
    // Apriel.
    ("[BEGIN FINAL RESPONSE]", Frame::ThinkingEnd),
    ("[END FINAL RESPONSE]", Frame::End),
];

/// Frames that count only at the beginning of a reply: there they are the end of the prompt.
const FIRST_FRAMES: [&str; 10] = [
    "<|im_start|>assistant",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<|assistant|>",
    "<|turn>model",
    "<|CHATBOT_TOKEN|>",
    "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    "<role>ASSISTANT</role>",
    "<|message|>",
    "<answer>",
    "<response>",
];

/// The end tags of the elements in [`FIRST_FRAMES`].
const LAST_FRAMES: [&str; 2] = ["</answer>", "</response>"];

/// Where a frame counts, as bits.
const ANYWHERE: u32 = 1;
const FIRST: u32 = 2;
const LAST: u32 = 4;

static TREE: LazyLock<MarkerTree<(Frame, u32)>> = LazyLock::new(|| {
    let mut rows = Vec::new();
    let mut add = |text: &str, frame, bit| rows.push((text.to_owned(), (frame, bit)));
    harmony_frames().for_each(|(text, frame)| add(&text, frame, ANYWHERE));
    for [open, end] in REASONING {
        add(open, Frame::Thinking, ANYWHERE);
        add(end, Frame::ThinkingEnd, ANYWHERE);
    }
    for (text, frame) in CONTENTS {
        add(text, *frame, ANYWHERE);
        add(&format!("<|message_model|>{text}"), *frame, ANYWHERE);
    }
    for (text, frame) in FRAMES {
        add(text, *frame, ANYWHERE);
    }
    for (texts, frame, bit) in
        [(MESSAGE_ENDS, Frame::End, ANYWHERE), (&FIRST_FRAMES, Frame::Answer, FIRST), (&LAST_FRAMES, Frame::End, LAST)]
    {
        for text in texts {
            add(text, frame, bit);
        }
    }
    MarkerTree::build(rows, |(_, bit)| bit)
});

/// Matches a frame at the beginning of the text. `is_first`: no text precedes it in the answer; `is_open`: an
/// answer's element is open.
pub(super) fn match_frame(text: &str, is_first: bool, is_open: bool) -> Match<Frame> {
    let bits = match (is_first, is_open) {
        (true, _) => ANYWHERE | FIRST,
        (false, true) => ANYWHERE | LAST,
        (false, false) => ANYWHERE,
    };
    TREE.match_roles(text, bits).map(|(frame, _)| frame)
}

/// Matches a tag of Command's citations, `<co>` or `</co: 0:[1]>`, of which the text between them is answer.
pub(super) fn match_citation(text: &str) -> Match<Frame> {
    const OPEN: &str = "<co>";
    const CLOSE: &str = "</co";
    const MAX_BYTES: usize = 256;
    if text.starts_with(OPEN) {
        return Match::Full(Frame::Answer, OPEN.len());
    }
    let Some(sources) = text.strip_prefix(CLOSE) else {
        return if [OPEN, CLOSE].into_iter().any(|tag| tag.starts_with(text)) { Match::Partial } else { Match::None };
    };
    let window = &sources[..sources.floor_char_boundary(MAX_BYTES)];
    match window.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '[' | ']' | ',' | ' '))) {
        Some(end) if window[end..].starts_with('>') => Match::Full(Frame::Answer, CLOSE.len() + end + 1),
        None if window.len() == sources.len() => Match::Partial,
        _ => Match::None,
    }
}

const MAX_RECIPIENT_BYTES: usize = 128;
/// What the prompt ended with where a reply begins with a recipient.
pub(super) const MESSAGE_START: &str = "<|start|>assistant";
/// The beginning of another message of the same reply.
pub(super) const NEXT_MESSAGE: &str = "<|start|>assistant<|channel|>";

/// What follows a recipient at the beginning of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recipient {
    /// A message, after its whole header.
    Message(Frame),
    /// The rest of the header of a call.
    Call,
}

/// Matches ` to=NAME<|message|>` at the beginning of a reply, where the prompt ended before the recipient. Of the header of
/// a call, which names its channel or its form, only what precedes the `to=` is matched.
pub(super) fn match_recipient(text: &str) -> Match<Recipient> {
    const TO: &str = "to=";
    const END: &str = "<|message|>";
    /// Recipients that are no tools.
    const NO_TOOLS: [&str; 6] = ["self", "developer", "user", "assistant", "all", "commentary"];
    const CALLS: [&str; 3] = ["<|channel|>", "<|constrain|>", " <|constrain|>"];
    /// Maximum length of the rest of a header, in bytes.
    const MAX_HEADER_BYTES: usize = 96;
    let rest = text.strip_prefix(' ').unwrap_or(text);
    let Some(recipient) = rest.strip_prefix(TO) else {
        return if TO.starts_with(rest) { Match::Partial } else { Match::None };
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let length = recipient.find(|c| !is_name(c)).unwrap_or(recipient.len());
    let after = &recipient[length..];
    if length > MAX_RECIPIENT_BYTES || (length == 0 && !after.is_empty()) {
        return Match::None;
    }
    let is_hidden = matches!(&recipient[..length], "self" | "developer");
    if after.starts_with(END) {
        let frame = if is_hidden { Frame::Thinking } else { Frame::Answer };
        return Match::Full(Recipient::Message(frame), text.len() - after.len() + END.len());
    }
    if NO_TOOLS.contains(&&recipient[..length]) && !END.starts_with(after) {
        let header = match_frame(after, false, false).after(text.len() - after.len());
        return header.map(|frame| Recipient::Message(if is_hidden { Frame::Thinking } else { frame }));
    }
    if CALLS.into_iter().any(|begin| after.starts_with(begin)) {
        let window = &after[..after.floor_char_boundary(MAX_HEADER_BYTES)];
        return match window.find(END) {
            Some(_) => Match::Full(Recipient::Call, text.len() - rest.len()),
            None if window.len() == after.len() && !after.contains('\n') => Match::Partial,
            None => Match::None,
        };
    }
    let is_open = [END].into_iter().chain(CALLS).any(|begin| begin.starts_with(after));
    if is_open { Match::Partial } else { Match::None }
}
