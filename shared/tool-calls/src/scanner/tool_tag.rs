//! Elements named after the tool and its parameters: `<search_web><query>a</query></search_web>`. Models that were trained
//! with editing agents write such calls without being taught the format.

use super::attributes::space_len;
use crate::declared_tools::DeclaredTools;
use crate::markers::Match;

const MAX_TAG_BYTES: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    /// Whether it has attributes, which have no meaning here.
    has_attributes: bool,
    /// Whether it ends in `/>`.
    pub(super) is_empty: bool,
}

/// Matches `<f>` or `<f/>` of a declared tool at the beginning of a text.
pub(super) fn match_tool_tag<'a>(text: &'a str, declared: &DeclaredTools) -> Match<Tag<'a>> {
    // Most tags have other names, and need no further look.
    if text.len() > 1 && (tag_name(text).is_empty() || !declared.has_prefix(tag_name(text))) {
        return Match::None;
    }
    match match_tag(text) {
        Match::Full(tag, length) if !tag.has_attributes && declared.has(tag.name) => Match::Full(tag, length),
        Match::Partial if is_open(text) => Match::Partial,
        _ => Match::None,
    }
}

/// Maximum length of white space around a name on its own line, in bytes.
const MAX_SPACE_BYTES: usize = 64;

/// Matches the name of a declared tool on its own line and the white space after it, before the tag of a parameter.
pub(super) fn match_name_line<'a>(text: &'a str, declared: &DeclaredTools) -> Match<&'a str> {
    let name = name_at(text);
    let rest = &text[name.len()..];
    if rest.is_empty() {
        return if declared.has_prefix(name) { Match::Partial } else { Match::None };
    }
    let after = rest.strip_prefix(':').unwrap_or(rest);
    let space = space_len(after);
    if !declared.has(name) || declared.is_untyped(name) || space > MAX_SPACE_BYTES {
        return Match::None;
    }
    let length = text.len() - after.len() + space;
    match match_parameter_tag(&text[length..], name, declared) {
        Match::Full(..) if after[..space].contains('\n') => Match::Full(name, length),
        Match::Partial => Match::Partial,
        _ => Match::None,
    }
}

/// Matches the tag `<q>` of a parameter at the beginning of a text. A tool without a schema has parameters of any name.
pub(super) fn match_parameter_tag<'a>(text: &'a str, tool: &str, declared: &DeclaredTools) -> Match<Tag<'a>> {
    let is_known = |name: &str| declared.parameter(tool, name).is_some() || declared.is_untyped(tool);
    let may_be_known = |start: &str| declared.has_parameter_prefix(tool, start) || declared.is_untyped(tool);
    // Most tags have other names, and need no further look.
    if text.len() > 1 && !may_be_known(tag_name(text)) {
        return Match::None;
    }
    match match_tag(text) {
        Match::Full(tag, length) if is_known(tag.name) => Match::Full(tag, length),
        Match::Partial if is_open(text) && may_be_known(tag_name(text)) || is_known(tag_name(text)) => Match::Partial,
        _ => Match::None,
    }
}

/// Matches `<name>`, with or without attributes.
pub(super) fn match_tag(text: &str) -> Match<Tag<'_>> {
    let Some(inside) = text.strip_prefix('<') else {
        return if text.is_empty() { Match::Partial } else { Match::None };
    };
    let name = tag_name(text);
    let rest = &inside[name.len()..];
    if name.is_empty() && !rest.is_empty() || rest.starts_with(|c: char| !matches!(c, '>' | '/' | ' ' | '\t' | '\n')) {
        return Match::None;
    }
    let mut quote = None;
    for (at, byte) in rest.bytes().enumerate().take(MAX_TAG_BYTES) {
        match (byte, quote) {
            (b'>', None) => {
                let attributes = rest[..at].trim();
                let is_empty = attributes.ends_with('/');
                let has_attributes = attributes.len() > usize::from(is_empty);
                return Match::Full(Tag { name, has_attributes, is_empty }, 1 + name.len() + at + 1);
            }
            (b'<', None) => return Match::None,
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    if rest.len() < MAX_TAG_BYTES { Match::Partial } else { Match::None }
}

/// The name in a tag, as far as it is there.
fn tag_name(text: &str) -> &str {
    name_at(text.strip_prefix('<').unwrap_or(text))
}

pub(super) fn name_at(text: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    &text[..text.find(|c| !is_name(c)).unwrap_or(text.len())]
}

/// Whether nothing but blanks and a slash follows the name in a tag that has not ended.
fn is_open(text: &str) -> bool {
    let name = tag_name(text);
    let rest = text.get(1 + name.len()..).unwrap_or_default().trim_start_matches([' ', '\t', '\n']);
    matches!(rest, "" | "/")
}
