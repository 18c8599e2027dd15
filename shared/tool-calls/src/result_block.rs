//! Blocks that imitate a tool's result, as models write them when they do not wait for it.

use crate::markers::Match;

/// Stop sequences for prompts that teach a text format: with them a reply ends where a made-up result begins.
///
/// They are longer than the markers, so that reasoning may mention a marker in a sentence.
pub const STOP_SEQUENCES: &[&str] = &["<tool_result name=", "\n<tool_result", "\n<search_results"];

const BLOCKS: &[(&str, &str)] = &[
    // As this crate and the search write results.
    ("<tool_result", "</tool_result"),
    ("<search_result", "</search_result"),
    ("<search_error", "</search_error"),
    // As models were trained: Hermes and Qwen, Anthropic, DeepSeek, GLM.
    ("<tool_response", "</tool_response"),
    ("<tool_output", "</tool_output"),
    ("<function_result", "</function_result"),
    ("<｜tool▁outputs▁begin｜", "<｜tool▁outputs▁end｜"),
    ("<｜tool▁output▁begin｜", "<｜tool▁output▁end｜"),
    ("<|observation|", "<|"),
];

/// Finds the beginning of a block after the first byte.
pub(crate) fn find_opening(text: &str) -> Option<usize> {
    let mut positions = text.match_indices('<').map(|(at, _)| at).filter(|at| *at > 0);
    positions.find(|at| match_opening(&text[*at..]).full().is_some())
}

/// Maximum length of an end tag after its beginning, in bytes.
const MAX_END_TAG_BYTES: usize = 32;

/// A block whose end is being searched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultBlock {
    end_tag: &'static str,
    /// Before this position there is no end tag.
    pub(crate) search: usize,
}

/// Matches the beginning of a block, in any case. The length covers the block's marker without its attributes.
pub(crate) fn match_opening(text: &str) -> Match<ResultBlock> {
    let mut partial = false;
    for (marker, end_tag) in BLOCKS {
        let shared = text.len().min(marker.len());
        if text.as_bytes()[..shared].eq_ignore_ascii_case(&marker.as_bytes()[..shared]) {
            if shared == marker.len() {
                return Match::Full(ResultBlock { end_tag, search: shared }, shared);
            }
            partial = true;
        }
    }
    if partial { Match::Partial } else { Match::None }
}

impl ResultBlock {
    /// Searches the end in `text`, which begins with the block and all that was searched before.
    pub(crate) fn find_end(&mut self, text: &str) -> Option<usize> {
        let bytes = text.as_bytes();
        while let Some(found) = bytes[self.search..].iter().position(|byte| *byte == b'<') {
            let at = self.search + found;
            let shared = (bytes.len() - at).min(self.end_tag.len());
            let is_possible = bytes[at..at + shared].eq_ignore_ascii_case(&self.end_tag.as_bytes()[..shared]);
            let rest = &bytes[at + shared..];
            let end = rest.iter().take(MAX_END_TAG_BYTES).position(|byte| *byte == b'>');
            if let Some(end) = end.filter(|_| is_possible) {
                return Some(at + shared + end + 1);
            }
            if is_possible && rest.len() < MAX_END_TAG_BYTES {
                self.search = at;
                return None;
            }
            self.search = at + 1;
        }
        self.search = bytes.len();
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCKS, MAX_END_TAG_BYTES, match_opening};
    use crate::markers::Match;

    #[test]
    fn block_ends_at_its_own_end_tag() {
        let text = "<Tool_Result name=\"f\"><b></search_results>1 < 2</tool_results > x";
        let Match::Full(block, 12) = match_opening(text) else { panic!("no block") };
        for cut in 0..text.len() {
            let mut block = block;
            assert_eq!(
                block.find_end(&text[..cut.max(12)]).or_else(|| block.find_end(text)),
                Some(text.len() - 2),
                "{cut}"
            );
        }
    }

    #[test]
    fn other_tags_are_no_blocks() {
        for text in ["<tool_call>", "<b>", "<results>", "</tool_result>"] {
            assert!(matches!(match_opening(text), Match::None), "{text}");
        }
        for (marker, _) in BLOCKS {
            let end = marker.char_indices().last().map_or(0, |(at, _)| at);
            assert!(matches!(match_opening(&marker[..end]), Match::Partial), "{marker}");
        }
    }

    #[test]
    fn unfinished_end_tag_is_bounded() {
        let text = format!("<tool_result></tool_result{}", "x".repeat(MAX_END_TAG_BYTES));
        let Match::Full(mut block, _) = match_opening(&text) else { panic!("no block") };
        assert_eq!(block.find_end(&text), None);
    }
}
