use domain::{MAX_ANSWER_BYTES, MAX_THINKING_BYTES, Source};
use serde_json::Value;

use super::StoredCall;

/// The maximum text in one item, in bytes; an item holds 400 KB with names, calls and sources.
const MAX_PIECE_BYTES: usize = 256 * 1024;

/// The maximum size of a message's calls as JSON, in bytes.
const MAX_CALLS_BYTES: usize = 64 * 1024;

/// The maximum size of a message's sources as JSON, in bytes.
const MAX_SOURCES_BYTES: usize = 32 * 1024;

/// The length of the arguments and of the reason of each call when all calls together are too long, in bytes.
const SHORT_TEXT_BYTES: usize = 512;

const CUT_MARK: &str = " […]";

/// The part of a message's texts in one item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) content: String,
    pub(super) thinking: String,
}

/// Splits a message's texts into pieces that fit one item each, at least one; joined again they are the texts.
pub(super) fn split_pieces(content: &str, thinking: &str) -> Vec<Piece> {
    let (content, thinking) = (shorten(content, MAX_ANSWER_BYTES), shorten(thinking, MAX_THINKING_BYTES));
    let (mut content, mut thinking) = (content.as_str(), thinking.as_str());
    let mut pieces = Vec::new();
    while pieces.is_empty() || !content.is_empty() || !thinking.is_empty() {
        let of_content = take_front(&mut content, MAX_PIECE_BYTES);
        let of_thinking = take_front(&mut thinking, MAX_PIECE_BYTES - of_content.len());
        pieces.push(Piece { content: of_content.to_owned(), thinking: of_thinking.to_owned() });
    }
    pieces
}

pub(super) fn is_one_piece(content: &str, thinking: &str) -> bool {
    content.len() + thinking.len() <= MAX_PIECE_BYTES
}

/// Takes at most `max_bytes` from the front, at a character boundary.
pub(super) fn take_front<'a>(text: &mut &'a str, max_bytes: usize) -> &'a str {
    let (front, rest) = text.split_at(text.floor_char_boundary(max_bytes));
    *text = rest;
    front
}

/// Truncates text to at most `max_bytes`, at a character boundary, and marks the cut.
pub(super) fn shorten(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let kept = text.floor_char_boundary(max_bytes.saturating_sub(CUT_MARK.len()));
    format!("{}{CUT_MARK}", &text[..kept])
}

/// Limits calls to their item: long arguments and reasons are shortened first, then the last calls are dropped.
pub(super) fn bounded_calls(calls: &[StoredCall]) -> Vec<StoredCall> {
    let mut calls = calls.to_vec();
    if json_len(&calls) > MAX_CALLS_BYTES {
        for call in &mut calls {
            call.arguments = bounded_arguments(&call.arguments);
            if let Some(error) = &mut call.error {
                error.message = shorten(&error.message, SHORT_TEXT_BYTES);
            }
        }
    }
    take_fitting(calls, MAX_CALLS_BYTES)
}

/// Returns the arguments, or the beginning of their text if they are long.
pub(super) fn bounded_arguments(arguments: &Value) -> Value {
    let text = arguments.to_string();
    if text.len() <= SHORT_TEXT_BYTES { arguments.clone() } else { Value::String(shorten(&text, SHORT_TEXT_BYTES)) }
}

/// Limits sources to their item: without excerpts if they are too long, then the last ones are dropped.
pub(super) fn bounded_sources(sources: &[Source]) -> Vec<Source> {
    let mut sources = sources.to_vec();
    if json_len(&sources) > MAX_SOURCES_BYTES {
        for source in &mut sources {
            source.excerpt.clear();
        }
    }
    take_fitting(sources, MAX_SOURCES_BYTES)
}

pub(super) fn take_fitting<T: serde::Serialize>(rows: Vec<T>, max_bytes: usize) -> Vec<T> {
    let mut remaining = max_bytes.saturating_sub("[]".len());
    let fits = |row: &T| {
        remaining = remaining.checked_sub(json_len(row) + ",".len())?;
        Some(())
    };
    let count = rows.iter().map_while(fits).count();
    rows.into_iter().take(count).collect()
}

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
        let pieces = split_pieces(&content, &thinking);
        assert!(pieces.iter().all(|piece| piece.content.len() + piece.thinking.len() <= MAX_PIECE_BYTES));
        assert_eq!(joined(&pieces), (content, thinking));
    }

    #[test]
    fn empty_message_is_one_empty_piece() {
        assert_eq!(split_pieces("", ""), [Piece::default()]);
    }

    #[test]
    fn f086_oversized_text_is_truncated_and_marked() {
        let (content, _) = joined(&split_pieces(&"é".repeat(MAX_ANSWER_BYTES), ""));
        assert!(content.ends_with(CUT_MARK) && content.len() <= MAX_ANSWER_BYTES);
    }

    #[test]
    fn f086_calls_and_sources_fit_their_item() {
        let call = |id: usize, text: &str| StoredCall {
            id: id.to_string(),
            name: "f".to_owned(),
            arguments: serde_json::json!({ "text": text }),
            ok: true,
            summary: String::new(),
            position: None,
            duration_ms: None,
            cached: false,
            client: false,
            error: None,
        };
        let kept = bounded_calls(&[call(1, &"x".repeat(MAX_CALLS_BYTES)), call(2, "short")]);
        assert!(kept[0].arguments.as_str().is_some_and(|text| text.ends_with(CUT_MARK)));
        assert_eq!(kept[1], call(2, "short"));
        let many: Vec<StoredCall> = (0..5_000).map(|id| call(id, "short")).collect();
        assert!(json_len(&bounded_calls(&many)) <= MAX_CALLS_BYTES && bounded_calls(&many).len() > 100);
        let source =
            Source { index: 1, title: "t".repeat(1000), url: "https://a.example".to_owned(), excerpt: String::new() };
        assert_eq!(bounded_sources(&vec![source.clone(); 100]).len(), 31);
        let excerpted = source.clone().with_excerpt(&"e".repeat(200));
        assert_eq!(bounded_sources(&vec![excerpted.clone(); 2]), vec![excerpted.clone(); 2]);
        assert_eq!(bounded_sources(&vec![excerpted; 100]), vec![source; 31]);
    }

    proptest! {
        #[test]
        fn shortened_text_is_a_bounded_prefix(text in ".{0,200}", max_bytes in 8..400_usize) {
            let short = shorten(&text, max_bytes);
            prop_assert!(short.len() <= max_bytes);
            prop_assert!(text.starts_with(short.strip_suffix(CUT_MARK).unwrap_or(&short)));
            prop_assert_eq!(short == text, text.len() <= max_bytes || text.ends_with(CUT_MARK) && short == text);
        }
    }
}
