//! E-mail addresses: `local@domain.tld` with letters of any script, `@` of any width, or `%40` as URLs encode it.

use std::ops::Range;

use crate::characters::{fold, is_invisible};

/// Maximum length of the local part, in characters.
const MAX_LOCAL_CHARS: usize = 64;

/// Maximum length of the domain, in characters.
const MAX_DOMAIN_CHARS: usize = 253;

/// File extensions, which are no top-level domains: `logo@2x.png` is no address.
const FILE_EXTENSIONS: [&str; 9] = ["png", "jpg", "jpeg", "gif", "webp", "svg", "ico", "css", "js"];

/// Marks that a local part may contain in addition to letters and digits.
const MARKS: &str = "._+-'&!#$*~^|{}";

/// The addresses in a text.
pub(crate) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, end) in at_signs(text) {
        let min_start = found.last().map_or(0, |range| range.end);
        let Some(start) = local_start(text, min_start, at) else { continue };
        if let Some(end) = domain_end(text, end) {
            found.push(start..end);
        }
    }
    found
}

fn at_signs(text: &str) -> impl Iterator<Item = (usize, usize)> {
    text.char_indices().filter_map(|(at, c)| match fold(c) {
        '@' => Some((at, at + c.len_utf8())),
        '%' if text.get(at + 1..at + 3) == Some("40") => Some((at, at + 3)),
        _ => None,
    })
}

/// The start of the local part that ends at `at`; not before `min_start`.
fn local_start(text: &str, min_start: usize, at: usize) -> Option<usize> {
    let before = text.get(min_start..at)?;
    let last = before.chars().rev().find(|c| !is_invisible(*c))?;
    let is_wide_script = is_wide(last);
    let (mut start, mut length) = (None, 0);
    let mut position = at;
    for c in before.chars().rev() {
        position -= c.len_utf8();
        if is_invisible(c) {
            continue;
        }
        let is_local_letter = is_letter(c, is_wide_script);
        if length == MAX_LOCAL_CHARS || !(is_local_letter || is_mark(c)) {
            break;
        }
        length += 1;
        // Leading marks belong to the surrounding sentence.
        if is_local_letter || c == '_' || c == '+' {
            start = Some(position);
        }
    }
    start
}

fn is_mark(c: char) -> bool {
    MARKS.contains(c) || MARKS.contains(fold(c))
}

fn is_letter(c: char, wide: bool) -> bool {
    fold(c).is_ascii_alphanumeric() || (c.is_alphanumeric() && (wide || !is_wide(c)))
}

/// Whether `c` belongs to a script that is written without spaces, so that boundaries between names and text are not
/// visible.
fn is_wide(c: char) -> bool {
    c >= '\u{2e80}' && c.is_alphanumeric() && !fold(c).is_ascii()
}

/// The end of the domain that begins at `from`: labels separated by dots, the last one only letters.
fn domain_end(text: &str, from: usize) -> Option<usize> {
    let mut labels = Labels::default();
    let mut at = from;
    for c in text.get(from..)?.chars().take(MAX_DOMAIN_CHARS) {
        if !is_invisible(c) && !labels.push(c, at) {
            break;
        }
        at += c.len_utf8();
    }
    labels.finish();
    labels.end
}

#[derive(Default)]
struct Labels {
    count: usize,
    current: String,
    /// The end of the current label's last letter or digit.
    solid: usize,
    /// Whether the current label, or the label before an ideographic dot, is in a wide script.
    wide: bool,
    /// The end of the last label that can be a top-level domain.
    end: Option<usize>,
}

impl Labels {
    /// Adds the character at `at`; returns `false` if the domain ended before it.
    fn push(&mut self, c: char, at: usize) -> bool {
        let is_dot = fold(c) == '.' && c != '\u{b7}' || (self.wide && c == '\u{3002}');
        if is_dot {
            let is_empty = self.current.is_empty();
            self.finish();
            return !is_empty;
        }
        if self.current.is_empty() && c.is_alphanumeric() {
            self.wide = is_wide(c);
        }
        let is_label_char = fold(c) == '-' && c != '_' || is_letter(c, self.wide);
        if is_label_char {
            self.current.extend(fold(c).to_lowercase());
            if fold(c) != '-' {
                self.solid = at + c.len_utf8();
            }
        }
        is_label_char
    }

    fn finish(&mut self) {
        let label = std::mem::take(&mut self.current);
        let trimmed = label.trim_end_matches('-');
        let letters = trimmed.chars().all(char::is_alphabetic) || trimmed.starts_with("xn--");
        let long = trimmed.chars().count() >= 2;
        if self.count > 0 && long && letters && !FILE_EXTENSIONS.contains(&trimmed) {
            self.end = Some(self.solid);
        }
        self.count += usize::from(!trimmed.is_empty());
    }
}
