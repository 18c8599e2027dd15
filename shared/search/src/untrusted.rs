//! Lines that name a page, and text from pages, which cannot contain one.

use domain::Language;
use tool_calls::escape;
use tools::url_allowlist::SOURCE_PREFIXES;

/// The prefix of a line that names a page.
pub(crate) fn source_prefix(language: Language) -> &'static str {
    let [chinese, english] = SOURCE_PREFIXES;
    match language {
        Language::Zh => chinese,
        Language::En => english,
    }
}

/// Escapes text from a page, so that nothing in it can be read as a tag or as the line that names a source.
pub(crate) fn escape_untrusted(text: &str) -> String {
    let escape_prefix = |text: String, prefix: &str| text.replace(&format!("\n{prefix}"), &format!("\n {prefix}"));
    SOURCE_PREFIXES.into_iter().fold(escape(text), escape_prefix)
}
