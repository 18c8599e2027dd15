//! What fits into a model's context window: how long the prompt and the tool results may be.

use tools::ResultBudget;

/// The window in tokens from which on a prompt teaches tools in full: these instructions and one search take about 3,700
/// tokens, and the reply needs a quarter of the window.
const FULL_WINDOW: u64 = 8_000;

/// Maximum number of search results in a compact prompt.
const COMPACT_ENTRIES: usize = 3;

/// Bytes of text in a token: rather few, so that a result takes less than is planned.
const BYTES_PER_TOKEN: u64 = 3;

const MIN_RESULT_BYTES: usize = 1_000;

/// Whether prompts for a context window of this many tokens have to be short.
pub(crate) fn is_compact(window: u64) -> bool {
    window < FULL_WINDOW
}

/// The budget of each tool result for a context window of this many tokens: half of the window.
pub(crate) fn result_budget(window: u64) -> ResultBudget {
    let bytes = usize::try_from((window / 2).saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
    ResultBudget {
        max_bytes: bytes.clamp(MIN_RESULT_BYTES, ResultBudget::MAX_BYTES),
        max_entries: if is_compact(window) { COMPACT_ENTRIES } else { ResultBudget::default().max_entries },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_budget_follows_the_window() {
        let budget = |window| {
            let ResultBudget { max_bytes, max_entries } = result_budget(window);
            (max_bytes, max_entries)
        };
        assert_eq!([budget(1), budget(4_096)], [(1_000, 3), (6_144, 3)]);
        assert_eq!([budget(7_999).1, budget(8_000).1], [3, usize::MAX]);
        assert_eq!(budget(32_768), (49_152, usize::MAX));
        assert_eq!(result_budget(u64::MAX), ResultBudget::default());
    }
}
