use conversation::{MAX_ANSWER_BYTES, MAX_THINKING_BYTES, Source};
use serde_json::Value;

use super::StoredCall;

/// The maximum text in one item, in bytes; an item holds 400 KB with names, calls and sources.
const PIECE: usize = 256 * 1024;

/// The maximum size of a message's calls as JSON, in bytes.
const LONGEST_CALLS: usize = 64 * 1024;

/// The maximum size of a message's sources as JSON, in bytes.
const LONGEST_SOURCES: usize = 32 * 1024;

/// The length of each call's arguments when all of them together are too long, in bytes.
const SHORT_ARGUMENTS: usize = 512;

/// Marks the end of truncated text.
const CUT: &str = " […]";

/// The part of a message's texts in one item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) content: String,
    pub(super) thinking: String,
}

/// Splits a message's texts into pieces that fit one item each, at least one; joined again they are the texts.
pub(super) fn pieces(content: &str, thinking: &str) -> Vec<Piece> {
    let (content, thinking) = (shorten(content, MAX_ANSWER_BYTES), shorten(thinking, MAX_THINKING_BYTES));
    let (mut content, mut thinking) = (content.as_str(), thinking.as_str());
    let mut pieces = Vec::new();
    while pieces.is_empty() || !content.is_empty() || !thinking.is_empty() {
        let of_content = take(&mut content, PIECE);
        let of_thinking = take(&mut thinking, PIECE - of_content.len());
        pieces.push(Piece { content: of_content.to_owned(), thinking: of_thinking.to_owned() });
    }
    pieces
}

/// Whether a message's texts fit into one piece.
pub(super) fn is_one_piece(content: &str, thinking: &str) -> bool {
    content.len() + thinking.len() <= PIECE
}

/// Takes at most `max_bytes` from the front, at a character boundary.
fn take<'a>(text: &mut &'a str, most: usize) -> &'a str {
    let (front, rest) = text.split_at(text.floor_char_boundary(most));
    *text = rest;
    front
}

/// Truncates text to at most `max_bytes`, at a character boundary, and marks the cut.
pub(super) fn shorten(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let kept = text.floor_char_boundary(most.saturating_sub(CUT.len()));
    format!("{}{CUT}", &text[..kept])
}

/// Limits calls to their item: long arguments become shortened text first, then the last calls are dropped.
pub(super) fn calls(calls: &[StoredCall]) -> Vec<StoredCall> {
    let mut calls = calls.to_vec();
    if json_len(&calls) > LONGEST_CALLS {
        for call in &mut calls {
            call.arguments = short_arguments(&call.arguments);
        }
    }
    fitting(calls, LONGEST_CALLS)
}

/// Returns the arguments, or the beginning of their text if they are long.
pub(super) fn short_arguments(arguments: &Value) -> Value {
    let text = arguments.to_string();
    if text.len() <= SHORT_ARGUMENTS { arguments.clone() } else { Value::String(shorten(&text, SHORT_ARGUMENTS)) }
}

/// Limits sources to their item; keeps the first ones.
pub(super) fn sources(sources: &[Source]) -> Vec<Source> {
    fitting(sources.to_vec(), LONGEST_SOURCES)
}

/// Keeps the first rows that fit.
fn fitting<T: serde::Serialize>(rows: Vec<T>, most: usize) -> Vec<T> {
    let mut left = most.saturating_sub("[]".len());
    let fits = |row: &T| {
        left = left.checked_sub(json_len(row) + ",".len())?;
        Some(())
    };
    let count = rows.iter().map_while(fits).count();
    rows.into_iter().take(count).collect()
}

/// The length of a value as JSON, in bytes.
pub(super) fn json_len<T: serde::Serialize>(value: &T) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |json| json.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(pieces: &[Piece]) -> (String, String) {
        pieces.iter().fold(Default::default(), |(content, thinking), piece| {
            (content + &piece.content, thinking + &piece.thinking)
        })
    }

    #[test]
    fn f086_megabyte_answer_is_split_into_pieces() {
        let (content, thinking) = ("好".repeat(1024 * 1024 / 3), "因".repeat(170_000));
        let pieces = pieces(&content, &thinking);
        assert!(pieces.iter().all(|piece| piece.content.len() + piece.thinking.len() <= PIECE));
        assert_eq!(joined(&pieces), (content, thinking));
    }

    #[test]
    fn empty_message_is_one_empty_piece() {
        assert_eq!(pieces("", ""), [Piece::default()]);
    }

    #[test]
    fn f086_oversized_text_is_truncated_and_marked() {
        let (content, _) = joined(&pieces(&"é".repeat(MAX_ANSWER_BYTES), ""));
        assert!(content.ends_with(CUT) && content.len() <= MAX_ANSWER_BYTES);
    }

    #[test]
    fn f086_calls_and_sources_fit_their_item() {
        let call = |id: usize, text: &str| StoredCall {
            id: id.to_string(),
            name: "f".to_owned(),
            arguments: serde_json::json!({ "text": text }),
            ok: true,
            summary: String::new(),
        };
        let kept = calls(&[call(1, &"x".repeat(LONGEST_CALLS)), call(2, "short")]);
        assert!(kept[0].arguments.as_str().is_some_and(|text| text.ends_with(CUT)));
        assert_eq!(kept[1], call(2, "short"));
        let many: Vec<StoredCall> = (0..5_000).map(|id| call(id, "short")).collect();
        assert!(json_len(&calls(&many)) <= LONGEST_CALLS && calls(&many).len() > 100);
        let source = Source { index: 1, title: "t".repeat(1000), url: "https://a.example".to_owned() };
        assert_eq!(sources(&vec![source; 100]).len(), 31);
    }

    proptest! {
        #[test]
        fn shortened_text_is_a_bounded_prefix(text in ".{0,200}", most in 8..400_usize) {
            let short = shorten(&text, most);
            prop_assert!(short.len() <= most);
            prop_assert!(text.starts_with(short.strip_suffix(CUT).unwrap_or(&short)));
            prop_assert_eq!(short == text, text.len() <= most || text.ends_with(CUT) && short == text);
        }
    }
}
