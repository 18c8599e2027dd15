//! E-mail addresses: `name@host.tld` with letters of any script, `@` of any width or as `%40`, and the spellings that
//! people use to hide one.

use std::ops::Range;
use std::sync::LazyLock;

use crate::keywords;
use crate::line::{LETTER, Line, WIDE};
use crate::table::{self, Table};

const MAX_LOCAL_CHARS: usize = 64;

/// Maximum length of the domain with the sign before it, in characters.
const MAX_DOMAIN_CHARS: usize = 260;

/// File extensions, which are no top-level domains: `logo@2x.png` is no address.
const FILE_EXTENSIONS: [&str; 9] = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".ico", ".css", ".js"];

/// Marks that a local part may contain in addition to letters and digits.
const MARKS: &[u8] = b"._+-'&!#$*~^|{}";

/// Top-level domains that are also recognised in unusual spellings.
#[cfg(test)]
const TOP: &str = "com|net|org|edu|gov|info|io|ai|app|dev|me|co|cn|hk|tw|sg|jp|kr|de|fr|uk|us|eu|ru";

const PLAIN: u32 = 1;
const BRACKETED: u32 = 1 << 1;
const SPACED: u32 = 1 << 2;
const IN_LETTERS: u32 = 1 << 3;

/// A sign and a host: `@example.com`, `@example dot com`; ` (at) example.com`; ` @ example.com`; ` at example dot com`.
/// `\x01` is a letter, `\x02` one of a script without spaces, `\x03` its full stop.
#[cfg(test)]
pub(crate) fn patterns() -> Vec<String> {
    let label = r"[0-9a-z\x01](?:[0-9a-z\x01\-]*[0-9a-z\x01])?";
    let host = format!(
        r"(?:{label}\.|\x02[0-9a-z\x01\x02\-]*[.\x03])+(?:[a-z\x01]{{2,}}|\x02{{2,}}|xn--[0-9a-z\-]*[0-9a-z])
        | (?:{label}\x03)+(?:{TOP}) | \[(?:\d{{1,3}}(?:\.\d{{1,3}}){{3}}|ipv6:[0-9a-f:.]{{2,45}})\]"
    );
    let label = r"[0-9a-z](?:[0-9a-z\-]*[0-9a-z])?";
    let dot = r"(?:\.|\x20?[\[({]dot[\])}]\x20?|\x20dot\x20)";
    let spelled = format!(r"{label}(?:{dot}{label})*{dot}(?:{TOP})");
    vec![
        format!(r"(?-u)(?:@|%40)(?:{host} | {spelled})"),
        format!(r"(?-u)\x20?[\[({{]at[\])}}]\x20?{spelled}"),
        format!(r"(?-u)(?:\x20@\x20?|@\x20){spelled}"),
        format!(r"(?-u)\x20at\x20{spelled}"),
    ]
}

pub(crate) static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(table::EMAIL));

pub(crate) fn find(line: &Line<'_>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for sign in (0..line.len()).filter(|at| b"@% ([{".contains(&line.byte(*at))) {
        let min_start = found.last().map_or(0, |range| range.end);
        found.extend(address(line, min_start, sign));
    }
    found
}

/// The address around a sign; not from before `min_start`.
fn address(line: &Line<'_>, min_start: usize, sign: usize) -> Option<Range<usize>> {
    let mut longest = None;
    TABLE.scan(line.get(sign..sign + MAX_DOMAIN_CHARS), |length, spellings| {
        if may_end(line, sign + length) {
            longest = Some((sign + length, spellings));
        }
    });
    let (end, spellings) = longest?;
    let start = local_start(line, min_start, sign)?;
    let host = line.text(sign..end).to_ascii_lowercase();
    let is_file = || FILE_EXTENSIONS.iter().any(|extension| host.ends_with(extension));
    let is_address = spellings & PLAIN != 0 && !is_file()
        || spellings & BRACKETED != 0 && sign - start > 1
        || (spellings & SPACED != 0 || spellings & IN_LETTERS != 0 && host.contains("dot"))
            && is_clear(line, start, line.text(start..sign));
    is_address.then_some(start..end)
}

/// Whether a host may end at a position; hyphens after it belong to the sentence.
fn may_end(line: &Line<'_>, end: usize) -> bool {
    let next = line.get(end..end + MAX_DOMAIN_CHARS).iter().find(|byte| **byte != b'-');
    !next.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == LETTER)
}

/// Whether a local part is no ordinary term, so that the spaces after it may belong to an address.
fn is_clear(line: &Line<'_>, start: usize, local: &str) -> bool {
    let is_name = local.len() > 2 && local.bytes().take(2).all(|byte| byte.is_ascii_alphabetic());
    is_name && local.contains(|c: char| "._-+".contains(c) || c.is_ascii_digit())
        || line.keywords_before(start) & keywords::EMAIL != 0
}

/// The start of the local part that ends at `end`; not before `min_start`.
fn local_start(line: &Line<'_>, min_start: usize, end: usize) -> Option<usize> {
    let is_wide = line.byte_before(end) == WIDE;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == LETTER || (is_wide && byte == WIDE);
    let local = (min_start..end).rev().take(MAX_LOCAL_CHARS).map(|at| (at, line.byte(at)));
    let local = local.take_while(|(_, byte)| is_letter(*byte) || MARKS.contains(byte));
    // Leading marks belong to the surrounding sentence.
    local.filter(|(_, byte)| is_letter(*byte) || b"_+".contains(byte)).last().map(|(at, _)| at)
}
