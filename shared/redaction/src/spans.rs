use std::ops::Range;

/// Personal data in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span<'a> {
    /// The byte range in the text.
    pub range: Range<usize>,
    /// The text that replaces it.
    pub placeholder: &'a str,
}

/// Sorts spans and merges those that overlap; the longest one decides the placeholder.
pub(crate) fn merge_overlapping(mut spans: Vec<Span<'_>>) -> Vec<Span<'_>> {
    spans.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
    let mut merged: Vec<Span<'_>> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                if span.range.len() > last.range.len() {
                    last.placeholder = span.placeholder;
                }
                last.range.end = last.range.end.max(span.range.end);
            }
            _ => merged.push(span),
        }
    }
    merged
}

/// Replaces the spans, which are sorted and do not overlap, with their placeholders.
pub(crate) fn replace_spans(text: &str, spans: &[Span<'_>]) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut from = 0;
    for Span { range, placeholder } in spans {
        redacted.push_str(text.get(from..range.start).unwrap_or_default());
        redacted.push_str(placeholder);
        from = range.end;
    }
    redacted.push_str(text.get(from..).unwrap_or_default());
    redacted
}
