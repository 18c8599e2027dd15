//! Reads a line once: one ASCII byte for each visible character, and where that character is in the text.

use std::ops::Range;

use crate::keywords;

/// A letter of a script that separates its terms by spaces.
pub(crate) const LETTER: u8 = 1;

/// A letter of a script without spaces between terms, so that the limits of a name are not visible.
pub(crate) const WIDE: u8 = 2;

/// The ideographic full stop.
const STOP: u8 = 3;

/// A hyphen with spaces around it between two groups of digits.
const SPACED_HYPHEN: u8 = 4;

/// A full stop with spaces around it between two groups of digits.
const SPACED_STOP: u8 = 5;

/// A pair of parentheses between two groups of digits.
pub(crate) const PARENTHESES: u8 = 6;

/// Any other character.
const OTHER: u8 = 0x7f;

/// Maximum number of white space characters between two groups of one number.
const MAX_SPACES: usize = 16;

/// Maximum length of what separates two groups of one number.
const MAX_GAP: usize = 7;

/// Minimum number of Chinese numerals of a telephone number.
const MIN_NUMERALS: usize = 7;

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

/// Currencies before an amount.
const CURRENCIES: [char; 7] = ['$', '¥', '￥', '€', '£', '₩', '₹'];

/// A part of a line without placeholders, as it is and as the patterns read it: digits, letters and marks of any script
/// and width as ASCII.
pub(crate) struct Line<'a> {
    text: &'a str,
    /// The name of the field whose value begins here, with a colon.
    name: &'a str,
    bytes: Vec<u8>,
    /// Where the character of each byte begins in the text.
    sources: Vec<usize>,
}

impl<'a> Line<'a> {
    /// Folds a text. White space becomes one space; more than [`MAX_SPACES`] end a number.
    pub(crate) fn new(name: &'a str, text: &'a str, reads_numerals: bool) -> Self {
        let (mut bytes, mut sources) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len()));
        let mut spaces = 0;
        for (at, c) in text.char_indices() {
            let byte = match u8::try_from(c) {
                Ok(byte @ b'!'..=b'~') => byte,
                _ if is_invisible(c) => continue,
                _ => numeral(c).filter(|_| reads_numerals).unwrap_or_else(|| to_byte(c)),
            };
            spaces = if byte == b' ' { spaces + 1 } else { 0 };
            if spaces > 1 {
                bytes.pop();
                bytes.push(if spaces > MAX_SPACES { OTHER } else { b' ' });
            } else {
                bytes.push(byte);
                sources.push(at);
            }
        }
        let mut line = Self { text, name, bytes, sources };
        line.mark_gaps();
        line
    }

    /// Removes the separators of single digits (`1 3 8 0 0 …`, `1/3/8/…`), and leaves one mark between groups of digits.
    fn mark_gaps(&mut self) {
        let (mut is_kept, mut end) = (vec![true; self.len()], None);
        while let Some(start) = self.digit_from(end.unwrap_or_default()) {
            let gap = end.unwrap_or(start)..start;
            if (2..=MAX_GAP).contains(&gap.len())
                && let Some(mark) = gap_mark(self.get(gap.clone()))
                && let Some(byte) = self.bytes.get_mut(gap.start)
            {
                *byte = mark;
                is_kept.get_mut(gap.start + 1..gap.end).unwrap_or_default().fill(false);
            }
            let rest = self.get(start..self.len());
            let mut length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let count = single_digits(rest);
            if count >= MIN_SINGLE_DIGITS {
                length = 2 * count - 1;
                let digits = is_kept.get_mut(start..start + length).unwrap_or_default();
                digits.iter_mut().skip(1).step_by(2).for_each(|is_kept| *is_kept = false);
            }
            end = Some(start + length);
        }
        retain(&mut self.bytes, &is_kept);
        retain(&mut self.sources, &is_kept);
    }

    fn digit_from(&self, at: usize) -> Option<usize> {
        Some(at + self.bytes.get(at..)?.iter().position(u8::is_ascii_digit)?)
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(OTHER)
    }

    pub(crate) fn byte_before(&self, at: usize) -> u8 {
        at.checked_sub(1).map_or(OTHER, |before| self.byte(before))
    }

    /// The bytes of a range, as far as there are any.
    pub(crate) fn get(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(range.start..range.end.min(self.bytes.len())).unwrap_or_default()
    }

    /// A range as a text; each byte is ASCII.
    pub(crate) fn text(&self, range: Range<usize>) -> &str {
        std::str::from_utf8(self.get(range)).unwrap_or_default()
    }

    /// The range in the original text; its last character is no white space.
    pub(crate) fn source(&self, range: &Range<usize>) -> Range<usize> {
        let last = range.end.checked_sub(1).and_then(|last| self.sources.get(last)).copied();
        let last = last.and_then(|last| Some((last, self.text.get(last..)?.chars().next()?)));
        let end = last.map_or(0, |(last, c)| last + c.len_utf8());
        self.sources.get(range.start).map_or(end, |start| *start)..end
    }

    /// The part of the original text before a position.
    fn before(&self, at: usize) -> &'a str {
        self.text.get(..self.source(&(at..at)).start).unwrap_or_default()
    }

    /// The lists of keywords of which one precedes a position, separated only by connectives and marks.
    ///
    /// A capital inside a name begins a keyword: `userPhone` is read as `user phone`; `iPhone` is one keyword.
    pub(crate) fn keywords_before(&self, at: usize) -> u32 {
        let before = self.before(at).chars().rev().chain(self.name.chars().rev());
        let before = before.filter(|c| matches!(c, ' '..='~') || !is_invisible(*c)).map(fold);
        // A digit ends every keyword.
        let mut is_open = true;
        let before = before.take_while(|c| std::mem::replace(&mut is_open, !c.is_ascii_digit()));
        keywords::before(&before.take(keywords::MAX_DISTANCE_CHARS).collect::<Vec<char>>())
    }

    /// Whether a number is an amount of money or a percentage.
    pub(crate) fn is_amount(&self, number: &Range<usize>) -> bool {
        let after = self.text.get(self.source(number).end..).unwrap_or_default().trim_start();
        self.before(number.start).trim_end().ends_with(CURRENCIES) || keywords::is_unit(after)
    }
}

fn retain<T>(items: &mut Vec<T>, is_kept: &[bool]) {
    let mut is_kept = is_kept.iter();
    items.retain(|_| is_kept.next().is_some_and(|is_kept| *is_kept));
}

/// The mark that represents the separators between two groups of digits; `None` if they are not one number.
fn gap_mark(gap: &[u8]) -> Option<u8> {
    let count = |marks: &[u8]| gap.iter().filter(|byte| marks.contains(byte)).count();
    let (hyphens, stops, slashes, spaces) = (count(b"-_"), count(b"."), count(b"/"), count(b" "));
    let (openings, closings, marks) = (count(b"("), count(b")"), hyphens + stops + slashes);
    let is_gap = openings.max(closings).max(marks) < 2 && openings + closings + marks + spaces == gap.len();
    let mark = match (openings, closings) {
        (0, 0) if hyphens > 0 => SPACED_HYPHEN,
        (0, 0) if stops > 0 => SPACED_STOP,
        (0, 0) => {
            if slashes > 0 {
                b'/'
            } else {
                b' '
            }
        }
        (_, 0) => b'(',
        (0, _) => b')',
        _ => PARENTHESES,
    };
    is_gap.then_some(mark)
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

/// Whether a text has so many Chinese numerals without letters between them that they may be a telephone number.
pub(crate) fn has_numerals(text: &str) -> bool {
    let mut count = 0;
    text.chars().any(|c| {
        count = match c {
            _ if numeral(c).is_some() => count + 1,
            'a'..='z' | 'A'..='Z' | '\u{3400}'..='\u{9fff}' => 0,
            _ => count,
        };
        count >= MIN_NUMERALS
    })
}

fn numeral(c: char) -> Option<u8> {
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
fn fold(c: char) -> char {
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
fn is_invisible(c: char) -> bool {
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
