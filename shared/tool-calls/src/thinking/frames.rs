//! Control tokens that divide a reply into reasoning and answer. Endpoints usually remove them; here they have leaked.
//!
//! Sources: the chat templates of the models, and the public parsers of llama.cpp, vLLM and `SGLang`.

use std::sync::LazyLock;

use crate::markers::{MarkerTree, Match};

/// What follows a frame's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// Reasoning.
    Thinking,
    /// Text of the answer.
    Answer,
    /// Neither: the reasoning ends.
    ThinkingEnd,
    /// Neither: what was open ends.
    End,
}

/// Frames by model family.
const FRAMES: &[(&str, Frame)] = &[
    // Harmony.
    ("<|channel|>analysis<|message|>", Frame::Thinking),
    ("<|start|>assistant<|channel|>analysis<|message|>", Frame::Thinking),
    ("<|channel|>final<|message|>", Frame::Answer),
    ("<|channel|>final <|constrain|>json<|message|>", Frame::Answer),
    ("<|start|>assistant<|channel|>final<|message|>", Frame::Answer),
    ("<|channel|>commentary<|message|>", Frame::Answer),
    ("<|start|>assistant<|channel|>commentary<|message|>", Frame::Answer),
    ("<|channel|>commentary to=assistant<|channel|>final<|message|>", Frame::Answer),
    ("<|start|>assistant<|channel|>commentary to=assistant<|channel|>final<|message|>", Frame::Answer),
    ("<|end|>", Frame::End),
    ("<|return|>", Frame::End),
    // Muse.
    ("<|start|>assistant to=self<|message|>", Frame::Thinking),
    ("<|start|>assistant to=user<|message|>", Frame::Answer),
    ("<|start|>assistant<|message|>", Frame::Answer),
    ("<|eom|>", Frame::End),
    ("<|eot|>", Frame::End),
    // Command.
    ("<|START_THINKING|>", Frame::Thinking),
    ("<|END_THINKING|>", Frame::ThinkingEnd),
    ("<|START_TEXT|>", Frame::Answer),
    ("<|END_TEXT|>", Frame::End),
    ("<|START_RESPONSE|>", Frame::Answer),
    ("<|END_RESPONSE|>", Frame::End),
    ("<|END_OF_TURN_TOKEN|>", Frame::End),
    // Kimi K3.
    ("<|open|>think<|sep|>", Frame::Thinking),
    ("<|close|>think<|sep|>", Frame::ThinkingEnd),
    ("<|open|>response<|sep|>", Frame::Answer),
    ("<|close|>response<|sep|>", Frame::End),
    ("<|open|>message role=\"assistant\"<|sep|>", Frame::Answer),
    ("<|close|>message<|sep|>", Frame::End),
    ("<|end_of_msg|>", Frame::End),
    // Inkling.
    ("<|content_thinking|>", Frame::Thinking),
    ("<|message_model|><|content_thinking|>", Frame::Thinking),
    ("<|content_text|>", Frame::Answer),
    ("<|message_model|><|content_text|>", Frame::Answer),
    ("<|end_message|>", Frame::End),
    ("<|content_model_end_sampling|>", Frame::End),
    // Gemma 4.
    ("<|channel>thought", Frame::Thinking),
    ("<channel|>", Frame::ThinkingEnd),
    ("<turn|>", Frame::End),
    // Solar Open.
    ("<|think|>", Frame::Thinking),
    ("<|content|>", Frame::Answer),
    ("<|begin|>assistant<|content|>", Frame::Answer),
    ("<|begin|>assistant<|think|>", Frame::Thinking),
    ("<|flush|>", Frame::End),
    // PLaMo 3, OpenPangu.
    ("<|plamo:begin_think:plamo|>", Frame::Thinking),
    ("<|plamo:end_think:plamo|>", Frame::ThinkingEnd),
    ("[unused16]", Frame::Thinking),
    ("[unused17]", Frame::ThinkingEnd),
    // Mistral.
    ("[THINK]", Frame::Thinking),
    ("[/THINK]", Frame::ThinkingEnd),
    // Apertus.
    ("<|inner_prefix|>", Frame::Thinking),
    ("<|inner_suffix|>", Frame::ThinkingEnd),
];

/// Frames that count only at the beginning of a reply: there they are the end of the prompt.
const FIRST_FRAMES: &[(&str, Frame)] = &[
    ("<|im_start|>assistant", Frame::Answer),
    ("<|start_header_id|>assistant<|end_header_id|>", Frame::Answer),
    ("<|assistant|>", Frame::Answer),
    ("<|turn>model", Frame::Answer),
    ("<answer>", Frame::Answer),
    ("<response>", Frame::Answer),
];

/// The end tags of the elements in [`FIRST_FRAMES`].
const LAST_FRAMES: &[(&str, Frame)] = &[("</answer>", Frame::End), ("</response>", Frame::End)];

static TREE: LazyLock<MarkerTree<Frame>> = LazyLock::new(|| MarkerTree::from_rows(FRAMES.iter().copied()));
static FIRST_TREE: LazyLock<MarkerTree<Frame>> =
    LazyLock::new(|| MarkerTree::from_rows(FRAMES.iter().chain(FIRST_FRAMES).copied()));
static LAST_TREE: LazyLock<MarkerTree<Frame>> =
    LazyLock::new(|| MarkerTree::from_rows(FRAMES.iter().chain(LAST_FRAMES).copied()));

/// Matches a frame at the beginning of the text. `is_first`: no text precedes it in the answer; `is_open`: an
/// answer's element is open.
pub(super) fn match_frame(text: &str, is_first: bool, is_open: bool) -> Match<Frame> {
    match (is_first, is_open) {
        (true, _) => FIRST_TREE.match_prefix(text),
        (false, true) => LAST_TREE.match_prefix(text),
        (false, false) => TREE.match_prefix(text),
    }
}

/// Maximum length of a recipient, in bytes.
const MAX_RECIPIENT_BYTES: usize = 128;

/// Matches ` to=NAME<|message|>` at the beginning of a reply, where the prompt ended before the recipient.
pub(super) fn match_recipient(text: &str) -> Match<Frame> {
    const TO: &str = "to=";
    const END: &str = "<|message|>";
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
    if after.starts_with(END) {
        let frame = if &recipient[..length] == "self" { Frame::Thinking } else { Frame::Answer };
        return Match::Full(frame, text.len() - after.len() + END.len());
    }
    if END.starts_with(after) { Match::Partial } else { Match::None }
}
