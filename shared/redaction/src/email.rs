//! E-mail addresses: `name@host.tld` with letters of any script, `@` of any width or as `%40`, and the spellings that
//! people use to hide one.

use std::ops::Range;

use crate::fold::{FoldedText, LETTER, WIDE};
use crate::forms;
use crate::keywords;
use crate::line::Line;

/// Maximum length of the local part, in characters.
const MAX_LOCAL_CHARS: usize = 64;

/// Maximum length of the domain, in characters.
const MAX_DOMAIN_CHARS: usize = 253;

/// File extensions, which are no top-level domains: `logo@2x.png` is no address.
const FILE_EXTENSIONS: [&str; 9] = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".ico", ".css", ".js"];

/// Marks that a local part may contain in addition to letters and digits.
const MARKS: &[u8] = b"._+-'&!#$*~^|{}";

/// The addresses in a line.
pub(crate) fn find(line: &Line<'_>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for sign in signs(&line.folded) {
        let min_start = found.last().map_or(0, |range| range.end);
        found.extend(address(line, min_start, &sign));
    }
    found
}

/// The signs between name and host.
fn signs(folded: &FoldedText<'_>) -> impl Iterator<Item = Range<usize>> {
    let begins = |byte: &u8| matches!(byte, b'@' | b'%' | b'a' | b'A');
    folded.bytes.iter().enumerate().filter(move |(_, byte)| begins(byte)).filter_map(|(at, _)| sign(folded, at))
}

/// The sign between name and host at a position, with the spaces around it: `@`, `%40`, `(at)`, ` at `.
fn sign(folded: &FoldedText<'_>, at: usize) -> Option<Range<usize>> {
    let bracketed = |open| folded.byte_before(at) == open && folded.from(at, 2).eq_ignore_ascii_case(b"at");
    let sign = match folded.byte(at) {
        b'@' => at..at + 1,
        b'%' => return (folded.from(at, 3) == b"%40").then(|| at..at + 3),
        b'a' | b'A' if bracketed(b' ') && folded.byte(at + 2) == b' ' => at..at + 2,
        b'a' | b'A' if b"([{".iter().any(|open| bracketed(*open)) && b")]}".contains(&folded.byte(at + 2)) => {
            at - 1..at + 3
        }
        _ => return None,
    };
    let space = |at: usize| usize::from(folded.byte(at) == b' ');
    Some(sign.start - usize::from(folded.byte_before(sign.start) == b' ')..sign.end + space(sign.end))
}

/// The address around a sign; not from before `min_start`.
fn address(line: &Line<'_>, min_start: usize, sign: &Range<usize>) -> Option<Range<usize>> {
    let folded = &line.folded;
    let start = local_start(folded, min_start, sign.start)?;
    let (local, spelling) = (folded.text(start..sign.start), folded.text(sign.clone()));
    let rest = folded.from(sign.end, MAX_DOMAIN_CHARS);
    let is_plain = matches!(spelling, "@" | "%40");
    let plain = if is_plain { forms::HOST.longest(rest, ends_after_hyphens) } else { None };
    let (length, _) = plain.or_else(|| forms::SPELLED_HOST.longest(rest, ends_host))?;
    let host = folded.text(sign.end..sign.end + length).to_ascii_lowercase();
    let is_file = FILE_EXTENSIONS.iter().any(|extension| host.ends_with(extension));
    let is_address = match spelling.trim() {
        _ if is_plain => !is_file,
        "@" => is_clear(line, start, local),
        bracketed if bracketed.len() > 2 => local.len() > 1,
        _ => host.contains("dot") && is_clear(line, start, local),
    };
    is_address.then(|| start..sign.end + length)
}

/// Whether a host may end before this.
fn ends_host(rest: &[u8]) -> bool {
    !rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || [LETTER, b'-'].contains(byte))
}

/// Whether a host may end before this; hyphens after it belong to the sentence.
fn ends_after_hyphens(rest: &[u8]) -> bool {
    let hyphens = rest.iter().take_while(|byte| **byte == b'-').count();
    ends_host(rest.get(hyphens..).unwrap_or_default())
}

/// Whether a local part is no ordinary term, so that the spaces after it may belong to an address.
fn is_clear(line: &Line<'_>, start: usize, local: &str) -> bool {
    let is_name = local.len() > 2 && local.bytes().take(2).all(|byte| byte.is_ascii_alphabetic());
    is_name && local.contains(|c: char| "._-+".contains(c) || c.is_ascii_digit())
        || line.is_after(start, &keywords::EMAIL)
}

/// The start of the local part that ends at `end`; not before `min_start`.
fn local_start(folded: &FoldedText<'_>, min_start: usize, end: usize) -> Option<usize> {
    let is_wide = folded.byte_before(end) == WIDE;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == LETTER || (is_wide && byte == WIDE);
    let local = (min_start..end).rev().take(MAX_LOCAL_CHARS).map(|at| (at, folded.byte(at)));
    let local = local.take_while(|(_, byte)| is_letter(*byte) || MARKS.contains(byte));
    // Leading marks belong to the surrounding sentence.
    local.filter(|(_, byte)| is_letter(*byte) || b"_+".contains(byte)).last().map(|(at, _)| at)
}
