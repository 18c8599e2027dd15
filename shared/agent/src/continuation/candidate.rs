//! Decides whether equal text at the end of one text and at the start of the next is a repetition or a coincidence.
//!
//! Losing text is worse than showing it twice. So the less the position suggests a repetition, the longer it must be. Only
//! letters count: digits, code and markup are often repeated on purpose (`1,000` and `,000`, `}` and `}`). A letter of a
//! script without spaces is about a term (`今天` and `天气` share one by coincidence, 讨论讨论 two).

/// Weight of a letter of a script without spaces; other letters have weight 1.
const WIDE_LETTER_WEIGHT: usize = 4;

/// Minimum number of letters if the boundary is inside a term, or the text completes a term.
const MIN_LETTERS_INSIDE_TERM: usize = 3;

/// Minimum weight on the same line.
const MIN_WEIGHT_SAME_LINE: usize = 12;

/// Minimum weight across a line end or a cell border, where short texts are often equal on purpose.
const MIN_WEIGHT_OTHER_LINE: usize = 24;

#[derive(Clone, Copy)]
pub(super) struct Boundary {
    pub(super) is_line_end: bool,
    /// The border of a table's cell.
    pub(super) is_cell_border: bool,
    /// No whitespace, with letters or digits on both sides.
    pub(super) is_inside_term: bool,
}

/// A suffix of the previous text that a continuation may repeat.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    /// Its start in the previous text, in bytes.
    pub(super) start: usize,
    letters: usize,
    weight: usize,
    position: Position,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    TextStart,
    LineStart,
    Inside,
}

/// All candidates in `previous`, the longest first: the whole text, and those of at most `max_bytes`.
pub(super) fn find_all(previous: &str, max_bytes: usize) -> Vec<Candidate> {
    let text_start = previous.len() - previous.trim_start().len();
    let mut found = Vec::new();
    let (mut marks, mut letters, mut weight) = (0, 0, 0);
    for (start, character) in previous.char_indices().rev() {
        marks += usize::from(!character.is_whitespace());
        letters += usize::from(character.is_alphabetic());
        weight += letter_weight(character);
        let is_near = previous.len() - start <= max_bytes || start == text_start;
        if is_near && !character.is_whitespace() && !is_inside_term(previous, start) {
            let position = position(previous, start, text_start);
            let is_restart = position != Position::Inside && letters > 0 && marks > 1;
            if is_restart || letters >= MIN_LETTERS_INSIDE_TERM || weight >= MIN_WEIGHT_SAME_LINE {
                found.push(Candidate { start, letters, weight, position });
            }
        }
    }
    found.reverse();
    found
}

impl Candidate {
    /// Whether text that equals this candidate is a repetition. `completes` states that the text then completes a term.
    pub(super) fn is_repetition(&self, boundary: Boundary, completes: bool) -> bool {
        let is_restart = match self.position {
            Position::TextStart => true,
            // An unfinished line starts again.
            Position::LineStart => !boundary.is_line_end,
            Position::Inside => false,
        };
        let is_apart = boundary.is_line_end || boundary.is_cell_border;
        let min_weight = if is_apart { MIN_WEIGHT_OTHER_LINE } else { MIN_WEIGHT_SAME_LINE };
        is_restart
            || ((boundary.is_inside_term || completes) && self.letters >= MIN_LETTERS_INSIDE_TERM)
            || self.weight >= min_weight
    }

    /// Whether `text`, which is a prefix of this candidate, is an unfinished repetition of the whole previous text.
    pub(super) fn is_long_restart(&self, text: &str) -> bool {
        self.position == Position::TextStart && text.chars().map(letter_weight).sum::<usize>() >= MIN_WEIGHT_OTHER_LINE
    }
}

fn letter_weight(character: char) -> usize {
    match character {
        _ if !character.is_alphabetic() => 0,
        _ if is_wide(character) => WIDE_LETTER_WEIGHT,
        _ => 1,
    }
}

/// Whether the character is Han, kana, hangul or full-width: all have code points from this one on.
fn is_wide(character: char) -> bool {
    character >= '\u{2E80}'
}

fn position(previous: &str, start: usize, text_start: usize) -> Position {
    match previous[..start].trim_end_matches([' ', '\t']) {
        // The cells of a row may be equal on purpose.
        _ if previous[start..].starts_with('|') && !previous[start..].contains('\n') => Position::Inside,
        _ if start == text_start => Position::TextStart,
        before if before.ends_with('\n') => Position::LineStart,
        _ => Position::Inside,
    }
}

fn is_inside_term(previous: &str, start: usize) -> bool {
    previous[..start].ends_with(is_term_char) && previous[start..].starts_with(is_term_char)
}

/// Whether terms of a script with spaces contain the character.
pub(super) fn is_term_char(character: char) -> bool {
    (character.is_alphanumeric() || character == '_') && !is_wide(character)
}
