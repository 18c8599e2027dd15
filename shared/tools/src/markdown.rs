//! Results as users read them.

use serde_json::Value;

/// A link whose words and address cannot end it early.
pub(crate) fn link(title: &str, url: &str) -> String {
    let url = url.replace('(', "%28").replace(')', "%29");
    format!("[{}]({url})", line(title))
}

/// Text from elsewhere on one line, in which nothing is a link, a picture or a tag.
pub(crate) fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('[', "(").replace(']', ")").replace('<', "＜")
}

/// A result as it is, and JSON so that it stays as it is.
pub(crate) fn text(content: &str) -> String {
    match serde_json::from_str::<Value>(content) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => format!("```json\n{value:#}\n```"),
        _ => content.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f135_a_title_and_an_address_stay_in_their_link() {
        let made = link("a ](https://evil.example)\n<b>", "https://a.example/x_(y)");
        assert_eq!(made, "[a )(https://evil.example) ＜b>](https://a.example/x_%28y%29)");
    }

    #[test]
    fn json_stands_in_a_fence_and_other_text_by_itself() {
        assert_eq!(text(r#"{"a":1}"#), "```json\n{\n  \"a\": 1\n}\n```");
        assert_eq!(["12", "a *b*", ""].map(text), ["12", "a *b*", ""]);
    }

    #[test]
    fn f135_nothing_in_a_line_is_a_link_or_a_picture() {
        assert_eq!(line("![p](https://evil.example/p)\n # two"), "!(p)(https://evil.example/p) # two");
    }
}
