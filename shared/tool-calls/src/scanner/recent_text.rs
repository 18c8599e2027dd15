/// How much of the shown text is kept, in bytes.
const MAX_RECENT_BYTES: usize = 96;

/// With one of these a line introduces an example instead of a call. An escaped marker shows that it quotes a result.
const EXAMPLE_SIGNS: [&str; 13] = [
    "例如",
    "比如",
    "譬如",
    "例子",
    "示例",
    "样例",
    "格式",
    "example",
    "e.g.",
    "such as",
    "like this",
    "&lt;",
    "&#91;",
];

/// The end of the text before the current position.
#[derive(Default)]
pub(super) struct RecentText(String);

impl RecentText {
    pub(super) fn push(&mut self, text: &str) {
        self.0.push_str(last_bytes(text));
        if self.0.len() > 4 * MAX_RECENT_BYTES {
            self.0 = last_bytes(&self.0).to_owned();
        }
    }

    pub(super) fn ends_with_blank(&self) -> bool {
        self.0.ends_with([' ', '\t'])
    }

    /// Whether the last line that is not empty introduces an example.
    pub(super) fn introduces_example(&self) -> bool {
        let line = last_bytes(&self.0).trim_end().rsplit('\n').next().unwrap_or_default().to_lowercase();
        EXAMPLE_SIGNS.iter().any(|sign| line.contains(sign))
    }
}

fn last_bytes(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(MAX_RECENT_BYTES))..]
}

#[cfg(test)]
mod tests {
    use super::RecentText;

    #[test]
    fn example_is_introduced_by_the_last_line() {
        for (text, expected) in [
            ("例如 ", true),
            ("Like this:\n\n", true),
            ("例如天气。\n我将搜索 ", false),
            ("", false),
            ("&lt;tool_call>", true),
            (&format!("例如{}", "长".repeat(40)), false),
        ] {
            let mut recent = RecentText::default();
            text.char_indices().for_each(|(at, c)| recent.push(&text[at..at + c.len_utf8()]));
            let mut whole = RecentText::default();
            whole.push(text);
            assert_eq!([recent.introduces_example(), whole.introduces_example()], [expected; 2], "{text}");
        }
    }
}
