use std::borrow::Cow;

use super::chunk::Chunk;

/// The JSON around the text of the last text-only chunk.
///
/// Successive chunks of a reply usually differ only in their text, and comparing is cheaper than parsing.
#[derive(Debug, Default)]
pub(super) struct ChunkTemplate {
    /// Up to and including the opening quote of the text; empty if there is no template yet.
    prefix: String,
    /// From the closing quote of the text.
    suffix: String,
}

impl ChunkTemplate {
    /// Returns the text of a chunk that matches the template; texts with escapes are left to the parser.
    pub(super) fn match_text<'a>(&self, data: &'a str) -> Option<&'a str> {
        if self.prefix.is_empty() {
            return None;
        }
        let text = data.strip_prefix(&*self.prefix)?.strip_suffix(&*self.suffix)?;
        let plain = text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
        plain.then_some(text)
    }

    /// Updates the template from a chunk, if it contains text and nothing else.
    pub(super) fn update(&mut self, data: &str, chunk: &Chunk<'_>) {
        // Only a text without escapes is borrowed from the data.
        let Some(Cow::Borrowed(text)) = chunk.text_only() else { return };
        let begin = text.as_ptr().addr().wrapping_sub(data.as_ptr().addr());
        let Some((prefix, rest)) = data.split_at_checked(begin) else { return };
        let Some(suffix) = rest.strip_prefix(text).filter(|suffix| suffix.starts_with('"') && prefix.ends_with('"'))
        else {
            return;
        };
        prefix.clone_into(&mut self.prefix);
        suffix.clone_into(&mut self.suffix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template_of(data: &str) -> ChunkTemplate {
        let mut template = ChunkTemplate::default();
        template.update(data, &serde_json::from_str(data).unwrap());
        template
    }

    #[test]
    fn template_returns_text_of_matching_chunks() {
        let template =
            template_of(r#"{"id":"a","choices":[{"index":0,"delta":{"content":"one"},"finish_reason":null}]}"#);
        let of = |text: &str| {
            template
                .match_text(&format!(
                    r#"{{"id":"a","choices":[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":null}}]}}"#
                ))
                .map(str::to_owned)
        };
        assert_eq!(of("天气"), Some("天气".to_owned()));
        assert_eq!(of(""), Some(String::new()));
        for other in [r"a\n", r#"a","tool_calls":[],"b":""#, "a\u{1}"] {
            assert_eq!(of(other), None, "{other}");
        }
        assert_eq!(template.match_text(r#"{"id":"b","choices":[{"index":0,"delta":{"content":"one"}}]}"#), None);
        assert_eq!(ChunkTemplate::default().match_text("x"), None);
    }

    #[test]
    fn chunks_with_other_content_leave_no_template() {
        for data in [
            r#"{"choices":[{"delta":{"content":"a\n"}}]}"#,
            r#"{"choices":[{"delta":{"content":["a"]}}]}"#,
            r#"{"choices":[{"delta":{"content":"a","reasoning":"b"}}]}"#,
            r#"{"choices":[{"delta":{"content":"a","refusal":"b"}}]}"#,
            r#"{"choices":[{"delta":{"content":"a","tool_calls":[{"index":0}]}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}}"#,
            r#"{"choices":[{"delta":{"content":"a"}}],"error":{"code":"a"}}"#,
            r#"{"choices":[{"index":1,"delta":{"content":"a"}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}"#,
            r#"{"choices":[]}"#,
        ] {
            let mut template = ChunkTemplate::default();
            template.update(data, &serde_json::from_str(data).unwrap());
            assert_eq!(template.match_text(data), None, "{data}");
        }
    }
}
