//! The sort keys of a conversation's messages, transcripts and summary.

use crate::key::Key;

/// The prefix of the sort keys of transcripts.
pub(super) const TRANSCRIPT_PREFIX: &str = "T#";

/// The sort key of the summary that replaces the oldest turns.
pub(super) const SUMMARY: &str = "S";

/// The prefix of the sort keys of the pages that turns added.
pub(super) const SOURCES_PREFIX: &str = "R#";

/// The prefix of the sort keys of messages and their further pieces.
pub(super) const MESSAGE_PREFIX: &str = "M#";

/// Sorts after every message and every further piece.
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
    let (rest, is_message) = match sk.strip_prefix(MESSAGE_PREFIX) {
        Some(rest) => (rest, true),
        None => (sk.strip_prefix(TRANSCRIPT_PREFIX).or_else(|| sk.strip_prefix(SOURCES_PREFIX))?, false),
    };
    let (seq, piece) = rest.split_at_checked(12)?;
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let is_piece = is_message && piece.strip_prefix('#').and_then(number).is_some();
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

/// The sort key of the pages that the turn added whose answer has this seq.
pub(super) fn sources_sk(answer: u64) -> String {
    format!("{SOURCES_PREFIX}{answer:012}")
}

pub(super) fn sources_key(partition: &str, answer: u64) -> Key {
    Key::new(partition, sources_sk(answer))
}
