//! Blocks that imitate a tool's result (R11).

use super::{CallScanner, ScannerState};
use crate::result_block::ResultBlock;
use crate::segment::{ResultBlocks, Segment};

/// Maximum size of a block that does not begin its line, in bytes; without an end tag by then it is text.
const MAX_INLINE_BLOCK_BYTES: usize = 4096;

impl CallScanner {
    pub(super) fn open_result_block(&mut self, block: ResultBlock, segments: &mut Vec<Segment>) {
        if self.result_blocks == ResultBlocks::EndReply {
            // Calls that waited for the following text were meant: a result follows them.
            self.output.finish(segments);
            segments.push(Segment::Invention);
            self.state = ScannerState::Ended;
            return;
        }
        let begins_line = self.code.is_line_start() || self.after_call;
        self.state = ScannerState::InResult { block, begins_line };
    }

    /// Hides a block up to its end tag; returns false if it needs more text.
    pub(super) fn advance_result_block(
        &mut self,
        mut block: ResultBlock,
        begins_line: bool,
        is_end: bool,
        segments: &mut Vec<Segment>,
    ) -> bool {
        let text = &self.buffer[self.start..];
        let window = if begins_line { text.len() } else { text.floor_char_boundary(MAX_INLINE_BLOCK_BYTES) };
        if let Some(end) = block.find_end(&text[..window]) {
            self.start += end;
            self.code.advance_hidden();
            return true;
        }
        if !begins_line && (window < text.len() || is_end) {
            self.results_from = self.start + window;
            self.release_text(1, segments);
            return true;
        }
        if begins_line {
            self.start += block.drop_searched();
        }
        if is_end {
            self.start = self.buffer.len();
            return true;
        }
        self.state = ScannerState::InResult { block, begins_line };
        false
    }
}
