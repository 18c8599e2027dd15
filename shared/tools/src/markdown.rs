//! Markdown for users.

use serde_json::Value;

/// Formats a link; neither the title nor the address can end it early.
pub fn link(title: &str, url: &str) -> String {
    let url = url.replace('(', "%28").replace(')', "%29");
    format!("[{}]({url})", single_line(title))
}

/// Formats untrusted text as one line without links, pictures or tags.
pub fn single_line(text: &str) -> String {
    let parts: Vec<&str> = text.split_whitespace().collect();
    parts.join(" ").replace('[', "(").replace(']', ")").replace('<', "＜")
}

/// Returns a result unchanged, or JSON in a code block.
pub fn format_result(content: &str) -> String {
    match serde_json::from_str::<Value>(content) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => format!("```json\n{value:#}\n```"),
        _ => content.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f135_title_and_address_stay_in_their_link() {
        let made = link("a ](https://evil.example)\n<b>", "https://a.example/x_(y)");
        assert_eq!(made, "[a )(https://evil.example) ＜b>](https://a.example/x_%28y%29)");
    }

    #[test]
    fn only_json_is_put_in_a_code_block() {
        assert_eq!(format_result(r#"{"a":1}"#), "```json\n{\n  \"a\": 1\n}\n```");
        assert_eq!(["12", "a *b*", ""].map(format_result), ["12", "a *b*", ""]);
    }

    #[test]
    fn f135_single_line_has_no_link_or_picture() {
        assert_eq!(single_line("![p](https://evil.example/p)\n # two"), "!(p)(https://evil.example/p) # two");
    }
}
