//! Lines of a page into paragraphs, so that a sentence over several lines is one.

use hayro_interpret::kurbo::Vec2;

/// The largest distance of two lines of a paragraph, as a multiple of the font's size.
const MAX_LEADING: f64 = 1.9;

/// How different the sizes of two lines of a paragraph may be, as a share.
const SIZE_TOLERANCE: f64 = 0.1;

/// A line that ends before this share of its paragraph's width is the last one of a sentence or an item.
const MIN_FULL_SHARE: f64 = 0.8;

/// Signs at the start of a list item.
const BULLETS: [char; 9] = ['•', '◦', '▪', '‣', '●', '○', '■', '·', '–'];

/// A line of glyphs; positions in points.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: String,
    /// The unit vector along the line.
    pub(super) direction: Vec2,
    /// The position across the line, upwards.
    pub(super) across: f64,
    /// Where the line begins and ends, along it.
    pub(super) start: f64,
    pub(super) end: f64,
    /// The size of the largest font.
    pub(super) size: f64,
}

/// Whether a character belongs to a script that is written without spaces, or to its punctuation.
pub(super) fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FE30}'..='\u{FE4F}'
        | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Joins the lines of a page; a paragraph is on one line.
pub(super) fn join(lines: &[Line]) -> String {
    let mut text = String::new();
    for block in lines.chunk_by(are_adjacent) {
        let left = block.iter().map(|line| line.start).fold(f64::INFINITY, f64::min);
        let right = block.iter().map(|line| line.end).fold(f64::NEG_INFINITY, f64::max);
        let mut is_full = false;
        for line in block {
            let content = line.text.trim();
            if is_full && !content.starts_with(BULLETS) {
                push_continuation(&mut text, content);
            } else {
                text.push_str(if text.is_empty() || content.is_empty() { "" } else { "\n" });
                text.push_str(content);
            }
            is_full = line.end - left >= MIN_FULL_SHARE * (right - left);
        }
    }
    text
}

/// Whether a line is the one below another of the same size.
fn are_adjacent(line: &Line, next: &Line) -> bool {
    let distance = line.across - next.across;
    line.direction.dot(next.direction) > 0.99
        && (line.size - next.size).abs() <= SIZE_TOLERANCE * line.size
        && distance > 0.0
        && distance <= MAX_LEADING * line.size
}

/// Appends the next line of a paragraph; a hyphen at the end of the last one is removed.
fn push_continuation(text: &mut String, line: &str) {
    let (last, next) = (text.chars().next_back(), line.chars().next());
    let continues_lower_case = next.is_some_and(char::is_lowercase);
    match last {
        Some('\u{AD}') => {
            text.pop();
        }
        Some('-' | '\u{2010}') if continues_lower_case => {
            text.pop();
        }
        Some(last) if is_unspaced(last) && next.is_none_or(is_unspaced) => {}
        _ => text.push(' '),
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of lines of 10 points with a leading of 12, each as long as its number of characters times 5.
    fn page(texts: &[&str]) -> Vec<Line> {
        let line = |(at, text): (u16, &&str)| Line {
            text: (*text).to_owned(),
            direction: Vec2::new(1.0, 0.0),
            across: 700.0 - 12.0 * f64::from(at),
            start: 50.0,
            end: 50.0 + 5.0 * f64::from(u16::try_from(text.chars().count()).unwrap()),
            size: 10.0,
        };
        (0..).zip(texts).map(line).collect()
    }

    #[test]
    fn full_lines_continue_in_the_next() {
        assert_eq!(
            join(&page(&["a long line of a para-", "graph that continues", "here.", "Next"])),
            "a long line of a paragraph that continues here.\nNext"
        );
        assert_eq!(
            join(&page(&["在同一座城市停留超过", "一周时可以租用公寓。"])),
            "在同一座城市停留超过一周时可以租用公寓。"
        );
        assert_eq!(
            join(&page(&["• one item of a list", "• two items of a list"])),
            "• one item of a list\n• two items of a list"
        );
        assert_eq!(join(&[]), "");
    }

    #[test]
    fn sizes_and_distances_end_paragraphs() {
        let mut lines = page(&["Heading line", "text in a line", "text in a line"]);
        lines[0].size = 14.0;
        lines[2].across -= 20.0;
        assert_eq!(join(&lines), "Heading line\ntext in a line\ntext in a line");
    }
}
