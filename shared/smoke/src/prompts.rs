//! The prompts of the checks, public for scripted models.

/// Its answer is short enough to be sent in one burst, so that a buffered one arrives in one or two reads.
pub const COUNT: &str = "Count from 1 to 30, separated by commas, without a tool.";

/// Its answer is long enough to be resumed and stopped.
pub const LONG: &str = "Write the numbers from 1 to 300 as English words, one on each line, without a tool.";

/// A tool that costs nothing.
pub const TOOL: &str = "calculator";

/// A prompt that needs that tool.
pub const SUM: &str = "What is 37 * 43?";
