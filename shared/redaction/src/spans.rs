use std::ops::Range;

/// Personal data in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span<'a> {
    /// Where it is, in bytes.
    pub range: Range<usize>,
    /// The text that replaces it.
    pub placeholder: &'a str,
}

/// Sorts spans and joins those that overlap: of several the placeholder of the longest stays.
pub(crate) fn joined(mut spans: Vec<Span<'_>>) -> Vec<Span<'_>> {
    spans.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
    let mut joined: Vec<Span<'_>> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                if span.range.len() > last.range.len() {
                    last.placeholder = span.placeholder;
                }
                last.range.end = last.range.end.max(span.range.end);
            }
            _ => joined.push(span),
        }
    }
    joined
}

/// The text with placeholders in the place of the spans, which are sorted and apart.
pub(crate) fn replaced(text: &str, spans: &[Span<'_>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for Span { range, placeholder } in spans {
        out.push_str(text.get(from..range.start).unwrap_or_default());
        out.push_str(placeholder);
        from = range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}
