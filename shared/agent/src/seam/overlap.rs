//! When the same words at the end of one text and at the beginning of the next are a repetition and no accident.
//!
//! Losing a word is worse than showing it twice, so the less the place itself speaks for a repetition, the longer it
//! must be. Only letters weigh: digits, code and markup repeat by right (`1,000` and `,000`, `}` and `}`). A letter of
//! a script without spaces is about a word (`今天` and `天气` share one by accident, 讨论讨论 two).

/// What a letter of a script without spaces weighs in letters of the others.
const WIDE: usize = 4;

/// Fewest letters where the two texts touch within a word, or the text completes a word that was cut.
const TOUCHING: usize = 3;

/// Least weight on the same line.
const SAME_LINE: usize = 12;

/// Least weight on another line or in another cell of a table: there short texts stand below each other by right.
const OTHER_LINE: usize = 24;

/// What stands between what was said and the text that goes on.
#[derive(Clone, Copy)]
pub(super) struct Joint {
    /// A line's end.
    pub(super) line: bool,
    /// A border of a table's cell.
    pub(super) cell: bool,
    /// Nothing, and letters or digits stand on both sides.
    pub(super) touches: bool,
}

/// The end of what was said from some place on, as what a repetition would repeat.
#[derive(Clone, Copy)]
pub(super) struct Overlap {
    /// Where it begins, in bytes.
    pub(super) at: usize,
    letters: usize,
    weight: usize,
    place: Place,
}

/// Where it begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// With the whole.
    Start,
    /// With a line.
    Line,
    Inside,
}

/// All that may count, the longest first: the whole, and those not longer than `reach`.
pub(super) fn all(said: &str, reach: usize) -> Vec<Overlap> {
    let start = said.len() - said.trim_start().len();
    let mut found = Vec::new();
    let (mut marks, mut letters, mut weight) = (0, 0, 0);
    for (at, character) in said.char_indices().rev() {
        marks += usize::from(!character.is_whitespace());
        letters += usize::from(character.is_alphabetic());
        weight += weigh(character);
        let near = said.len() - at <= reach || at == start;
        if near && !character.is_whitespace() && !in_word(said, at) {
            let place = place(said, at, start);
            let again = place != Place::Inside && letters > 0 && marks > 1;
            if again || letters >= TOUCHING || weight >= SAME_LINE {
                found.push(Overlap { at, letters, weight, place });
            }
        }
    }
    found.reverse();
    found
}

impl Overlap {
    /// Whether it is a repetition; `completes` says that the text goes on in a word that was cut.
    pub(super) fn counts(&self, joint: Joint, completes: bool) -> bool {
        let again = match self.place {
            Place::Start => true,
            // A line that was not finished begins again.
            Place::Line => !joint.line,
            Place::Inside => false,
        };
        let least = if joint.line || joint.cell { OTHER_LINE } else { SAME_LINE };
        again || ((joint.touches || completes) && self.letters >= TOUCHING) || self.weight >= least
    }

    /// Whether a text that is all of this from the start is a repetition that did not come to its end.
    pub(super) fn is_long_restart(&self, text: &str) -> bool {
        self.place == Place::Start && text.chars().map(weigh).sum::<usize>() >= OTHER_LINE
    }
}

fn weigh(character: char) -> usize {
    match character {
        _ if !character.is_alphabetic() => 0,
        _ if is_wide(character) => WIDE,
        _ => 1,
    }
}

/// Han, kana, hangul and full-width forms all lie above this point.
fn is_wide(character: char) -> bool {
    character >= '\u{2E80}'
}

fn place(said: &str, at: usize, start: usize) -> Place {
    match said[..at].trim_end_matches([' ', '\t']) {
        // The cells of a row may be equal by right.
        _ if said[at..].starts_with('|') && !said[at..].contains('\n') => Place::Inside,
        _ if at == start => Place::Start,
        before if before.ends_with('\n') => Place::Line,
        _ => Place::Inside,
    }
}

/// Whether a word of a script with spaces goes through this place.
fn in_word(said: &str, at: usize) -> bool {
    said[..at].ends_with(spells) && said[at..].starts_with(spells)
}

/// Whether words of a script with spaces are written with it.
pub(super) fn spells(character: char) -> bool {
    (character.is_alphanumeric() || character == '_') && !is_wide(character)
}
