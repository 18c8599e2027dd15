use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::kurbo::{Affine, BezPath, Vec2};
use hayro_interpret::{BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask};
use icu_normalizer::ComposingNormalizerBorrowed;

use super::lines::{Line, is_unspaced};

/// The unit of glyphs: so many are the size of the font.
const UNITS_PER_EM: f64 = 1_000.0;

/// The advance of a glyph whose font does not state it, in units.
const DEFAULT_ADVANCE: f32 = 500.0;

/// Gaps in a line, as shares of the font's size: one from which there is a space, one backwards from which there is another
/// line, and one below which an equal glyph is drawn over the last one.
const SPACE: f64 = 0.2;
const BACKWARDS: f64 = -1.0;
const OVERPRINT: f64 = 0.1;

/// How far a glyph may be above or below its line, as a share of the font's size.
const SHIFT: f64 = 0.5;

/// Collects the glyphs of a page as lines, in the order in which they are drawn. Invisible ones count: recognised text of
/// scanned pages is invisible.
pub(super) struct GlyphReader {
    pub(super) lines: Vec<Line>,
    /// The last glyph's text and position along its line.
    last: Option<(String, f64)>,
    /// How many bytes are left.
    space: usize,
    pub(super) known: usize,
    pub(super) unknown: usize,
}

impl GlyphReader {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { lines: Vec::new(), last: None, space: max_bytes, known: 0, unknown: 0 }
    }

    /// Whether there is more text than fits.
    pub(super) fn is_full(&self) -> bool {
        self.space == 0
    }

    /// Appends a glyph, which is a line of its own, to the last line or begins another.
    fn push(&mut self, glyph: Line) {
        self.space = self.space.saturating_sub(glyph.text.len());
        if self.is_full() {
            return;
        }
        let em = glyph.size;
        let last = self.last.replace((glyph.text.clone(), glyph.start));
        let Some(line) = self.lines.last_mut().filter(|line| is_on(line, &glyph)) else {
            self.lines.push(glyph);
            return;
        };
        let is_over =
            |(text, start): &(String, f64)| *text == glyph.text && (glyph.start - start).abs() < OVERPRINT * em;
        if last.as_ref().is_some_and(is_over) {
            return;
        }
        let is_close = |character: Option<char>| character.is_none_or(|c| is_unspaced(c) || c.is_whitespace());
        let is_unspaced_pair = is_close(line.text.chars().next_back()) && is_close(glyph.text.chars().next());
        if glyph.start - line.end > SPACE * em && !is_unspaced_pair {
            line.text.push(' ');
        }
        line.text.push_str(&glyph.text);
        line.end = glyph.end;
        line.size = line.size.max(em);
    }
}

fn is_on(line: &Line, glyph: &Line) -> bool {
    let size = line.size.max(glyph.size);
    line.direction.dot(glyph.direction) > 0.99
        && (glyph.across - line.across).abs() < SHIFT * size
        && glyph.start - line.end > BACKWARDS * size
}

/// A glyph at its position; `None` if it has none.
fn locate(glyph: &Glyph<'_>, transform: Affine, mode: WritingMode, text: String) -> Option<Line> {
    let [right_x, right_y, up_x, up_y, ..] = transform.as_coeffs();
    let (right, up) = (Vec2::new(right_x, right_y), Vec2::new(up_x, up_y));
    let position = transform.translation();
    let advance = match glyph {
        Glyph::Outline(glyph) => glyph.advance_width(),
        Glyph::Type3(glyph) => glyph.advance_width(),
    };
    let size = up.hypot() * UNITS_PER_EM;
    let (forwards, advance) = match mode {
        WritingMode::Horizontal => (right, right.hypot() * f64::from(advance.unwrap_or(DEFAULT_ADVANCE))),
        WritingMode::Vertical => (-up, size),
    };
    if !(forwards.hypot() > 0.0 && size > 0.0 && size.is_finite() && position.is_finite()) {
        return None;
    }
    let direction = forwards / forwards.hypot();
    let start = direction.dot(position);
    Some(Line { text, direction, across: direction.cross(position), start, end: start + advance, size })
}

/// The characters of a glyph; `None` if they are unknown.
fn characters(glyph: &Glyph<'_>) -> Option<String> {
    let mut text = String::new();
    match glyph.as_unicode()? {
        BfString::Char(character) => push_plain(&mut text, character),
        BfString::String(string) => string.chars().for_each(|character| push_plain(&mut text, character)),
    }
    let is_known = |c: char| c != char::REPLACEMENT_CHARACTER && !matches!(c, '\u{E000}'..='\u{F8FF}');
    text.chars().all(is_known).then_some(text)
}

/// Appends a character as people type it: ligatures are divided, and radicals and compatibility ideographs, which fonts
/// name for the ideographs of the same form, are those.
fn push_plain(text: &mut String, character: char) {
    match character {
        '\u{FB00}'..='\u{FB06}' | '\u{2E80}'..='\u{2FDF}' | '\u{F900}'..='\u{FAFF}' => {
            text.extend(ComposingNormalizerBorrowed::new_nfkc().normalize_iter([character].into_iter()));
        }
        control if control.is_control() => text.push(' '),
        other => text.push(other),
    }
}

impl Device<'_> for GlyphReader {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        for glyph in run.glyphs() {
            let Some(text) = characters(glyph) else {
                self.unknown += 1;
                continue;
            };
            self.known += 1;
            if let Some(located) = locate(glyph, props.transform * glyph.transform(), run.writing_mode(), text) {
                self.push(located);
            }
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ligatures_and_radicals_are_plain_characters() {
        let mut text = String::new();
        "oﬃce ⼀⾏ 茶\u{1}x".chars().for_each(|character| push_plain(&mut text, character));
        assert_eq!(text, "office 一行 茶 x");
        assert!(is_unspaced('茶') && is_unspaced('。') && !is_unspaced('é'));
    }
}
