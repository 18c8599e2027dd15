//! Reads a line once: one ASCII byte for each visible character, and where that character is in the text.

use std::ops::Range;

/// A letter of a script that separates its terms by spaces.
pub(crate) const LETTER: u8 = 1;

/// A letter of a script without spaces between terms, so that the limits of a name are not visible.
pub(crate) const WIDE: u8 = 2;

/// The ideographic full stop.
pub(crate) const STOP: u8 = 3;

/// Any other character.
const OTHER: u8 = 0x7f;

/// Maximum number of white space characters between two groups of one number.
const MAX_SPACES: usize = 16;

/// Minimum number of single digits in a row that are one number.
const MIN_SINGLE_DIGITS: usize = 7;

/// The zero digits of all scripts beyond ASCII (Unicode 16, category Nd), in order; nine digits follow each.
const ZEROS: [u32; 74] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20,
    0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0,
    0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x10d40, 0x11066, 0x110f0, 0x11136, 0x111d0,
    0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x116d0, 0x116da, 0x11730, 0x118e0, 0x11950, 0x11bf0, 0x11c50,
    0x11d50, 0x11da0, 0x11f50, 0x16a60, 0x16ac0, 0x16b50, 0x16d70, 0x1ccf0, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec,
    0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e5f1, 0x1e950, 0x1fbf0,
];

/// A text with one byte for each visible character: digits, letters and marks of any script and width as ASCII.
pub(crate) struct FoldedText<'a> {
    original: &'a str,
    pub(crate) bytes: Vec<u8>,
    /// Where the character of each byte begins in the original.
    sources: Vec<usize>,
}

impl<'a> FoldedText<'a> {
    /// Folds a text. White space becomes one space; more than [`MAX_SPACES`] end a number. Digits that are separated one
    /// by one are joined.
    pub(crate) fn new(original: &'a str, reads_numerals: bool) -> Self {
        let mut folded = Self::with_capacity(original);
        let mut spaces = 0;
        for (at, c) in original.char_indices() {
            let byte = match u8::try_from(c) {
                Ok(byte @ b'!'..=b'~') => byte,
                _ if is_invisible(c) => continue,
                _ => numeral(c).filter(|_| reads_numerals).unwrap_or_else(|| to_byte(c)),
            };
            spaces = if byte == b' ' { spaces + 1 } else { 0 };
            if spaces > 1 {
                folded.bytes.pop();
                folded.bytes.push(if spaces > MAX_SPACES { OTHER } else { b' ' });
            } else {
                folded.bytes.push(byte);
                folded.sources.push(at);
            }
        }
        folded.join_single_digits()
    }

    fn with_capacity(original: &'a str) -> Self {
        let (bytes, sources) = (Vec::with_capacity(original.len()), Vec::with_capacity(original.len()));
        Self { original, bytes, sources }
    }

    fn extend_from(&mut self, other: &Self, range: Range<usize>) {
        self.bytes.extend_from_slice(other.bytes.get(range.clone()).unwrap_or_default());
        self.sources.extend_from_slice(other.sources.get(range).unwrap_or_default());
    }

    /// Removes the separators in `1 3 8 0 0 …`, `1/3/8/…` and `1-3-8-…`.
    fn join_single_digits(self) -> Self {
        let (mut joined, mut from) = (None, 0);
        for Range { start, .. } in self.digit_runs() {
            let count = if start < from { 0 } else { single_digits(self.bytes.get(start..).unwrap_or_default()) };
            if count < MIN_SINGLE_DIGITS {
                continue;
            }
            let joined = joined.get_or_insert_with(|| Self::with_capacity(self.original));
            joined.extend_from(&self, from..start);
            (start..start + 2 * count).step_by(2).for_each(|at| joined.extend_from(&self, at..at + 1));
            from = start + 2 * count - 1;
        }
        let Some(mut joined) = joined else { return self };
        joined.extend_from(&self, from..self.bytes.len());
        joined
    }

    /// The ranges of consecutive digits.
    pub(crate) fn digit_runs(&self) -> impl Iterator<Item = Range<usize>> {
        let mut end = 0;
        std::iter::from_fn(move || {
            let start = end + self.bytes.get(end..)?.iter().position(u8::is_ascii_digit)?;
            end = start + self.bytes.get(start..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
            Some(start..end)
        })
    }

    /// The byte at a position.
    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(OTHER)
    }

    /// The byte before a position.
    pub(crate) fn byte_before(&self, at: usize) -> u8 {
        at.checked_sub(1).map_or(OTHER, |before| self.byte(before))
    }

    /// At most `length` bytes from a position on.
    pub(crate) fn from(&self, at: usize, length: usize) -> &[u8] {
        self.bytes.get(at..(at + length).min(self.bytes.len())).unwrap_or_default()
    }

    /// A part as a text; each byte is ASCII.
    pub(crate) fn text(&self, range: Range<usize>) -> &str {
        self.bytes.get(range).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// The range in the original text; its last character is no white space.
    pub(crate) fn source(&self, range: &Range<usize>) -> Range<usize> {
        let last = range.end.checked_sub(1).and_then(|last| self.sources.get(last)).copied();
        let last = last.and_then(|last| Some((last, self.original.get(last..)?.chars().next()?)));
        let end = last.map_or(0, |(last, c)| last + c.len_utf8());
        self.sources.get(range.start).map_or(end, |start| *start)..end
    }
}

/// The number of single digits at the beginning that the same separator joins.
fn single_digits(bytes: &[u8]) -> usize {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let separator = bytes.get(1).filter(|separator| digit(0) && b" /-".contains(separator));
    let mut count = usize::from(digit(0));
    while separator.is_some() && bytes.get(2 * count - 1) == separator && digit(2 * count) && !digit(2 * count + 1) {
        count += 1;
    }
    count
}

/// The digit of a Chinese numeral.
pub(crate) fn numeral(c: char) -> Option<u8> {
    Some(match c {
        '零' | '〇' | '○' => b'0',
        '一' | '壹' | '幺' => b'1',
        '二' | '贰' | '两' => b'2',
        '三' | '叁' | '參' => b'3',
        '四' | '肆' => b'4',
        '五' | '伍' => b'5',
        '六' | '陆' | '陸' => b'6',
        '七' | '柒' => b'7',
        '八' | '捌' => b'8',
        '九' | '玖' => b'9',
        _ => return None,
    })
}

fn to_byte(c: char) -> u8 {
    match fold(c) {
        '\n' | '\r' => OTHER,
        '\u{3002}' => STOP,
        ascii if ascii.is_ascii() => u8::try_from(ascii).unwrap_or(OTHER),
        c if !c.is_alphanumeric() => OTHER,
        c => {
            if c >= '\u{2e80}' {
                WIDE
            } else {
                LETTER
            }
        }
    }
}

/// The ASCII character that a scanner reads for `c`; other characters are unchanged.
///
/// All white space is a space except for line ends (`\n`, `\r`): numbers in a column are not one number.
pub(crate) fn fold(c: char) -> char {
    match c {
        '\t' | '\u{b}' | '\u{c}' | '\u{2800}' => ' ',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => '-',
        '\u{b7}' | '\u{2022}' | '\u{2024}' | '\u{30fb}' | '\u{ff0e}' | '\u{ff61}' => '.',
        '\u{fe59}' => '(',
        '\u{fe5a}' => ')',
        '\u{fe62}' => '+',
        '\u{fe6b}' => '@',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or('\u{fffd}'),
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
