//! Payment card numbers: 13 to 19 digits of a known issuer with a Luhn check digit.

use crate::candidate::{Candidate, to_number};

/// Range of the first six digits (from, to), and the shortest and longest number.
const ISSUERS: [(u64, u64, usize, usize); 27] = [
    // Visa
    (400_000, 499_999, 16, 16),
    (400_000, 499_999, 13, 13),
    (400_000, 499_999, 19, 19),
    // Mastercard
    (510_000, 559_999, 16, 16),
    (222_100, 272_099, 16, 16),
    // American Express
    (340_000, 349_999, 15, 15),
    (370_000, 379_999, 15, 15),
    // Diners Club
    (300_000, 305_999, 14, 16),
    (309_500, 309_599, 14, 16),
    (360_000, 369_999, 14, 16),
    (380_000, 399_999, 14, 16),
    // Discover, RuPay
    (600_000, 609_999, 16, 19),
    (644_000, 659_999, 16, 19),
    // JCB
    (352_800, 358_999, 16, 19),
    // UnionPay, and Chinese banks that predate it
    (620_000, 629_999, 16, 19),
    (810_000, 829_999, 16, 19),
    (955_800, 955_999, 16, 19),
    // Maestro and similar
    (500_000, 509_999, 16, 19),
    (560_000, 589_999, 16, 19),
    (630_000, 639_999, 16, 19),
    (670_000, 679_999, 16, 19),
    (690_000, 699_999, 16, 19),
    (501_800, 501_899, 13, 15),
    (675_900, 676_399, 13, 15),
    // Mir
    (220_000, 220_499, 16, 19),
    // Troy
    (979_200, 979_299, 16, 16),
    (650_000, 650_099, 16, 16),
];

/// Whether the groups form a card number.
pub(crate) fn is_card(candidate: &Candidate<'_>) -> bool {
    let length = candidate.digits.len();
    let begin = to_number(candidate.digits.get(..6).unwrap_or_default());
    let is_issued = |(from, to, shortest, longest): &(u64, u64, usize, usize)| {
        (*from..=*to).contains(&begin) && (*shortest..=*longest).contains(&length)
    };
    (13..=19).contains(&length)
        && !candidate.has_plus
        && ISSUERS.iter().any(is_issued)
        && has_card_form(candidate)
        && passes_luhn(candidate.digits)
}

/// Whether each group but the last has at least four digits.
fn has_card_form(candidate: &Candidate<'_>) -> bool {
    let inner = candidate.groups.len().saturating_sub(1);
    candidate.lengths().take(inner).all(|length| length >= 4)
        && candidate.gaps().all(|gap| gap.opening + gap.closing == 0)
}

/// The Luhn check.
fn passes_luhn(digits: &[u8]) -> bool {
    let doubled = |digit: u8| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let add = |(at, digit): (usize, &u8)| u32::from(if at % 2 == 1 { doubled(*digit) } else { *digit });
    digits.iter().rev().enumerate().map(add).sum::<u32>().is_multiple_of(10)
}
