//! What the checks ask a model, for whoever plays one.

/// Its answer is short enough for one flight of a network, so that a collected one comes in one or two reads.
pub const COUNT: &str = "Count from 1 to 30, separated by commas, without a tool.";

/// Its answer is long enough to be left and stopped.
pub const LONG: &str = "Write the numbers from 1 to 300 as English words, one on each line, without a tool.";

/// A tool that costs nothing.
pub const TOOL: &str = "calculator";

/// What that tool is for.
pub const SUM: &str = "What is 37 * 43?";
