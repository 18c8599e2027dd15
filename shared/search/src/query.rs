use std::borrow::Cow;

use tools::OutboundRedactor;
use unicode_normalization::UnicodeNormalization;

/// Longest query that the provider accepts, in characters.
const MAX_QUERY_CHARS: usize = 400;

/// Distance from the cut, in characters, within which a long query is cut at a space.
const BOUNDARY_WINDOW: usize = 60;

/// Maximum number of times that a query is cut.
const MAX_CUTS: usize = 8;

/// Prepares a query for the provider: normalised, with personal data replaced, and shortened to the provider's limit.
pub(crate) fn prepare(query: &str, redactor: &OutboundRedactor) -> String {
    redact_and_shorten(&normalise(query), redactor)
}

/// Normalises to NFC, without surrounding white space and with single spaces; the case stays, as it may matter.
fn normalise(query: &str) -> String {
    let composed: String = query.nfc().collect();
    composed.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Redacts a query and shortens it to the provider's limit. A cut may expose personal data that was part of a longer
/// text, so the result is redacted again. The query is empty if this does not end.
fn redact_and_shorten(query: &str, redactor: &OutboundRedactor) -> String {
    let mut redacted = redactor.redact_text(query).into_owned();
    for _ in 0..MAX_CUTS {
        redacted = shorten(redacted);
        match redactor.redact_text(&redacted) {
            Cow::Borrowed(_) => return redacted,
            Cow::Owned(masked) => redacted = masked,
        }
    }
    String::new()
}

fn shorten(query: String) -> String {
    let Some((end, _)) = query.char_indices().nth(MAX_QUERY_CHARS) else { return query };
    let cut = &query[..end];
    let boundary = cut.rfind(' ').filter(|&space| cut[space..].chars().count() <= BOUNDARY_WINDOW);
    cut[..boundary.unwrap_or(end)].to_owned()
}
