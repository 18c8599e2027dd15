//! Units of texts: short strings that need special care in parsers and scanners, each repeated to a size.

/// All units; the name of a pattern is its unit.
const UNITS: [&str; 44] = [
    "a",
    "word ",
    "汉",
    "e\u{301}",
    "\u{200b}",
    " ",
    "\n",
    "\r",
    "\t\n",
    "0",
    "1,",
    "9.",
    "\u{0}",
    "\"",
    "\\",
    "\\u0000",
    "'",
    "[",
    "![",
    "](",
    "<",
    "</",
    "<a ",
    "&",
    "*",
    "**a",
    "_",
    "`",
    "```\n",
    "~",
    "|",
    "> ",
    "- ",
    "{\"a\":",
    "a://",
    "http://a",
    "https://a.b/c ",
    "www.",
    "a@b.",
    "<tool_call>",
    "<think>",
    "[TOOL_CALLS]",
    "Action: ",
    "functools[",
];

/// Units for inputs that take long to send.
const SHORT_UNITS: [&str; 14] = [
    "word ",
    "汉",
    " ",
    "\n",
    "0",
    "\"",
    "[",
    "<",
    "```\n",
    "{\"a\":",
    "a://",
    "http://a",
    "<tool_call>",
    "[TOOL_CALLS]",
];

/// Returns the units for a text of at most `largest` bytes.
pub(crate) fn units(largest: usize) -> &'static [&'static str] {
    let all = std::env::var("GROWTH_PATTERNS").is_ok_and(|wish| wish == "all");
    if all || largest <= 100_000 { &UNITS } else { &SHORT_UNITS }
}

/// Repeats the unit to `size` bytes or slightly less.
pub(crate) fn repeat_to_size(unit: &str, size: usize) -> String {
    unit.repeat((size / unit.len()).max(1))
}

/// Repeats the unit to a text of `size` bytes when encoded as a JSON string.
pub(crate) fn repeat_to_json_size(unit: &str, size: usize) -> String {
    let escaped = serde_json::Value::from(unit).to_string().len() - 2;
    unit.repeat((size / escaped).max(1))
}
