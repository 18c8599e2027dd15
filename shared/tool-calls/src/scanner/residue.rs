//! The remains of a call: what a model writes after it and before the end of its wrapper (R10).

use super::attributes::space_len;
use crate::marker_role::Role;
use crate::markers::{CLOSERS, Match, PARAMETERS, SEPARATORS};

/// Maximum length of text between a call and the end of its wrapper, in bytes.
const MAX_TEXT_BYTES: usize = 256;
/// Maximum length of a parameter after its function, in bytes.
const MAX_PARAMETER_BYTES: usize = 4096;
/// Minimum length of a partial parameter at the end of a reply that is hidden, in bytes.
const MIN_PARTIAL_BYTES: usize = 6;
/// End markers that may follow text: they end a reply or reasoning, not a call.
const ENDS_OF_TEXT: [&str; 4] = ["</s>", "</think>", "</thinking>", "</seed:think>"];

/// Matches the remains directly after a call, up to their end: a parameter after the end of its function or, in a wrapper, a
/// line up to the wrapper's end marker. Also returns the role of the marker with which they end.
pub(super) fn match_residue(text: &str, in_wrapper: bool, is_end: bool) -> Match<Role> {
    let space = space_len(text);
    let rest = &text[space..];
    let residue = match rest.as_bytes().first() {
        None => return Match::None,
        Some(b'<') if rest.starts_with("</") => Match::None,
        Some(b'<') if rest.starts_with("<｜") => match SEPARATORS.match_prefix(rest) {
            Match::Partial if is_end => Match::None,
            matched => matched,
        },
        Some(b'<') => match_parameter(rest, is_end),
        Some(b'{' | b'[' | b']' | b'`' | b'>') => Match::None,
        Some(_) if in_wrapper => match_text(rest, is_end),
        Some(_) => Match::None,
    };
    residue.after(space)
}

fn match_parameter(text: &str, is_end: bool) -> Match<Role> {
    let partial = match PARAMETERS.match_prefix(text) {
        Match::Full(Role::Parameter | Role::ParameterWithAttributes | Role::Key, length) => length,
        Match::Partial if !is_end => return Match::Partial,
        Match::Partial if text.len() >= MIN_PARTIAL_BYTES => text.len(),
        _ => return Match::None,
    };
    let window = text.floor_char_boundary(MAX_PARAMETER_BYTES);
    let mut at = partial;
    loop {
        match PARAMETERS.find(&text[..window], at) {
            Ok((_, role @ Role::ParameterEnd, end)) => return Match::Full(role, end),
            Ok((_, _, end)) => at = end,
            Err(_) if window < text.len() => return Match::None,
            Err(_) if is_end => return Match::Full(Role::ParameterEnd, text.len()),
            Err(_) => return Match::Partial,
        }
    }
}

fn match_text(text: &str, is_end: bool) -> Match<Role> {
    let window = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    let Some(at) = window.find(['<', '[', '\n']) else {
        return if is_end || window.len() < text.len() { Match::None } else { Match::Partial };
    };
    let marker = at + space_len(&text[at..]);
    let rest = &text[marker..];
    match CLOSERS.match_prefix(rest) {
        Match::Full(Role::TurnEnd, _) => Match::None,
        Match::Full(_, length) if ENDS_OF_TEXT.contains(&&rest[..length]) => Match::None,
        Match::Full(role, length) => Match::Full(role, marker + length),
        Match::Partial if !is_end && marker < MAX_TEXT_BYTES => Match::Partial,
        Match::Partial | Match::None => Match::None,
    }
}

#[cfg(test)]
mod tests {
    use super::match_residue;
    use crate::marker_role::Role;
    use crate::markers::Match;

    #[test]
    fn line_before_wrapper_end_remains() {
        assert_eq!(match_residue("oops</tool_call>x", true, false), Match::Full(Role::Close, 16));
        assert_eq!(match_residue("\n,\"a\":\n</tool_call>", true, false), Match::Full(Role::Close, 19));
        for text in ["oops", "oops\n", "oops</tool", "oops <"] {
            assert_eq!(match_residue(text, true, false), Match::Partial, "{text}");
        }
        for text in
            ["", "\n", "one\ntwo</tool_call>", "Done.<|im_end|>", "Done.</s>", "a <b>", "a [1]", "{\"a\"", "`a`"]
        {
            assert_eq!(match_residue(text, true, false), Match::None, "{text}");
        }
        assert_eq!(match_residue(&"很".repeat(90), true, false), Match::None);
        assert_eq!(match_residue("oops</tool_call>", false, false), Match::None);
    }

    #[test]
    fn parameter_after_its_function_remains() {
        let full = |length| Match::Full(Role::ParameterEnd, length);
        assert_eq!(match_residue("<parameter=q>a</parameter> b", false, false), full(26));
        assert_eq!(match_residue(" <parameter name=\"q\">a</parameter>", false, false), full(34));
        assert_eq!(match_residue("<parameter=q>a", false, false), Match::Partial);
        assert_eq!(match_residue("<parameter=q>a", false, true), full(14));
        assert_eq!(match_residue("<b>a</b>", false, false), Match::None);
    }
}
