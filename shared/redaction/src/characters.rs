//! Reads characters for the scanners: digits, letters and separators of any width as ASCII.

/// The zero digits of all scripts beyond ASCII (Unicode 16, category Nd), in order; nine digits follow each.
const ZEROS: [u32; 74] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20,
    0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0,
    0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x10d40, 0x11066, 0x110f0, 0x11136, 0x111d0,
    0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x116d0, 0x116da, 0x11730, 0x118e0, 0x11950, 0x11bf0, 0x11c50,
    0x11d50, 0x11da0, 0x11f50, 0x16a60, 0x16ac0, 0x16b50, 0x16d70, 0x1ccf0, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec,
    0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e5f1, 0x1e950, 0x1fbf0,
];

/// Maximum number of white space characters, and of all separators, between two groups of one number.
pub(crate) const MAX_SPACES: usize = 16;

/// The ASCII character that a scanner reads for `c`; other characters are unchanged.
///
/// All white space is a space except for line ends (`\n`, `\r`): numbers in a column are not one number.
pub(crate) fn fold(c: char) -> char {
    match c {
        '\t' | '\u{b}' | '\u{c}' | '\u{2800}' => ' ',
        '_' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff3f}' => '-',
        '\u{b7}' | '\u{2022}' | '\u{2024}' | '\u{30fb}' | '\u{ff0e}' | '\u{ff61}' => '.',
        '\u{fe59}' => '(',
        '\u{fe5a}' => ')',
        '\u{fe62}' => '+',
        '\u{fe6b}' => '@',
        '\u{ff01}'..='\u{ff5e}' => char_or_replacement(u32::from(c) - 0xff01 + 0x21),
        // The ideographs contain neither digits nor white space.
        '\0'..='\x7f' | '\u{3001}'..='\u{9fff}' => c,
        c if c.is_whitespace() => ' ',
        c => to_ascii_digit(c).unwrap_or(c),
    }
}

/// The ASCII digit for a decimal digit of another script.
fn to_ascii_digit(c: char) -> Option<char> {
    let code = u32::from(c);
    let zero = ZEROS.get(ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?)?;
    char::from_digit(code - zero, 10)
}

fn char_or_replacement(code: u32) -> char {
    char::from_u32(code).unwrap_or('\u{fffd}')
}

/// Whether `c` has no width on a screen. Scanners skip controls, combining marks, and selectors of a form or a
/// direction.
pub(crate) fn is_invisible(c: char) -> bool {
    match c {
        '\t'..='\r' | ' '..='\x7e' | '\u{85}' | '\u{3001}'..='\u{3163}' | '\u{3165}'..='\u{9fff}' => false,
        '\0'..='\u{9f}' => true,
        _ => {
            matches!(c, '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{20d0}'..='\u{20ff}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        }
    }
}

/// The first character after at most [`MAX_SPACES`] `marks`, and where it ends.
pub(crate) fn next_after(text: &str, at: usize, marks: &str) -> Option<(char, usize)> {
    let mut at = at;
    for _ in 0..MAX_SPACES {
        match next(text, at)? {
            (c, end) if marks.contains(c) => at = end,
            found => return Some(found),
        }
    }
    next(text, at)
}

/// The first visible character at or after `at`, folded, and where it ends.
pub(crate) fn next(text: &str, at: usize) -> Option<(char, usize)> {
    let mut end = at;
    for c in text.get(at..)?.chars() {
        end += c.len_utf8();
        if !is_invisible(c) {
            return Some((fold(c), end));
        }
    }
    None
}

/// The last visible character before `at`, folded, and where it begins.
pub(crate) fn previous(text: &str, at: usize) -> Option<(char, usize)> {
    let mut start = at;
    for c in text.get(..at)?.chars().rev() {
        start -= c.len_utf8();
        if !is_invisible(c) {
            return Some((fold(c), start));
        }
    }
    None
}

/// Whether an ASCII letter or digit of any width comes right after `at`.
pub(crate) fn continues(text: &str, at: usize) -> bool {
    next(text, at).is_some_and(|(c, _)| c.is_ascii_alphanumeric())
}

/// Whether an ASCII letter or digit of any width comes right before `at`.
pub(crate) fn is_inside(text: &str, at: usize) -> bool {
    previous(text, at).is_some_and(|(c, _)| c.is_ascii_alphanumeric())
}
