//! Replaces personal data in texts by fixed placeholders.
//!
//! A line is read once into one ASCII byte per visible character: digits of other scripts, full-width characters, white
//! space and separators. The built-in kinds are patterns over that form, and check digits. The patterns are kept as
//! tables. Data is recognised by its form alone; names, postal addresses, prose and images are
//! not recognised.

mod candidate;
mod checks;
mod email;
mod forms;
mod keywords;
mod line;
mod numbers;
mod patterns;
mod redactor;
mod stream;
mod table;
#[cfg(test)]
mod tests;

pub use redactor::{Redactor, Span};
pub use stream::StreamRedactor;

/// The placeholder for card and account numbers.
pub const CARD: &str = "[card]";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DataKind {
    /// E-mail addresses.
    Email,
    Phone,
    /// Identity numbers of people.
    Id,
    /// Payment card and bank account numbers (IBAN).
    Card,
}

impl DataKind {
    const ALL: [Self; 4] = [Self::Email, Self::Phone, Self::Id, Self::Card];

    /// The text that replaces personal data of this kind: its name in the setting `MASK`, in brackets.
    fn placeholder(self) -> &'static str {
        match self {
            Self::Email => "[email]",
            Self::Phone => "[phone]",
            Self::Id => "[id]",
            Self::Card => CARD,
        }
    }
}
