//! Characters as the scanners read them: digits, letters and separators of any width as ASCII.

/// The ASCII character that a scanner reads for `c`; other characters stay as they are.
pub(crate) fn fold(c: char) -> char {
    match c {
        '\0'..='\x7f' => {
            if c == '_' {
                '-'
            } else {
                c
            }
        }
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff3f}' => '-',
        '\u{b7}' | '\u{2022}' | '\u{2024}' | '\u{30fb}' | '\u{ff0e}' | '\u{ff61}' => '.',
        '\u{fe6b}' => '@',
        '\u{ff01}'..='\u{ff5e}' => ascii(u32::from(c) - 0xff01 + 0x21),
        '\u{660}'..='\u{669}' => digit(c, 0x660),
        '\u{6f0}'..='\u{6f9}' => digit(c, 0x6f0),
        '\u{966}'..='\u{96f}' => digit(c, 0x966),
        '\u{1d7ce}'..='\u{1d7ff}' => ascii(u32::from('0') + (u32::from(c) - 0x1d7ce) % 10),
        _ => c,
    }
}

fn digit(c: char, zero: u32) -> char {
    ascii(u32::from('0') + u32::from(c) - zero)
}

fn ascii(code: u32) -> char {
    char::from_u32(code).unwrap_or('\u{fffd}')
}

/// Whether `c` takes no room on a screen: scanners read past it.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{20e3}' | '\u{fe0f}' | '\u{feff}')
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
