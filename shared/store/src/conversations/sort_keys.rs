//! The sort keys of a conversation's messages, transcripts and summary.

use crate::key::Key;

/// The digest that searches read.
pub(super) const DIGEST: &str = "D";
/// The summary that replaces the oldest turns.
pub(super) const SUMMARY: &str = "S";
pub(super) const TRANSCRIPT_PREFIX: &str = "T#";
/// Of the pages that turns added.
pub(super) const SOURCES_PREFIX: &str = "R#";
pub(super) const AFTER_SOURCES: &str = "R$";
/// Of messages and their further pieces.
pub(super) const MESSAGE_PREFIX: &str = "M#";
pub(super) const AFTER_MESSAGES: &str = "M$";

/// The length of a message's sort key, in bytes; that of a further piece is longer.
pub(super) const MESSAGE_SK_LEN: usize = MESSAGE_PREFIX.len() + 12;

/// The sort key of the message with this seq; all have one length, so that they sort by seq.
pub(super) fn message_sk(seq: u64) -> String {
    format!("{MESSAGE_PREFIX}{seq:012}")
}

/// The seq in a sort key under a conversation; the maximum for a summary, `None` for any other key.
pub(super) fn seq_in_sk(sk: &str) -> Option<u64> {
    if sk == SUMMARY {
        return Some(u64::MAX);
    }
    let (rest, has_pieces) = match sk.strip_prefix(MESSAGE_PREFIX).or_else(|| sk.strip_prefix(SOURCES_PREFIX)) {
        Some(rest) => (rest, true),
        None => (sk.strip_prefix(TRANSCRIPT_PREFIX)?, false),
    };
    let (seq, piece) = rest.split_at_checked(12)?;
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let is_piece = has_pieces && piece.strip_prefix('#').and_then(number).is_some();
    number(seq).filter(|_| piece.is_empty() || is_piece)
}

pub(super) fn message_key(partition: &str, seq: u64) -> Key {
    Key::new(partition, message_sk(seq))
}

/// The sort key of the transcript of the turn whose answer has this seq.
pub(super) fn transcript_sk(answer: u64) -> String {
    format!("{TRANSCRIPT_PREFIX}{answer:012}")
}

pub(super) fn transcript_key(partition: &str, answer: u64) -> Key {
    Key::new(partition, transcript_sk(answer))
}

/// The key of the pages that a turn added whose answer has this seq; `earlier_turns` continued it before.
pub(super) fn sources_key(partition: &str, answer: u64, earlier_turns: usize) -> Key {
    let piece = if earlier_turns == 0 { String::new() } else { format!("#{earlier_turns:012}") };
    Key::new(partition, format!("{SOURCES_PREFIX}{answer:012}{piece}"))
}
