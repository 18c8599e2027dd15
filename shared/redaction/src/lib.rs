//! Replaces personal data in texts by fixed placeholders.
//!
//! The built-in kinds are hand-written scanners: at most a fixed number of passes over the text, bounded work per
//! character, nothing to compile at startup. Digits of other scripts and full-width characters are read as ASCII. A
//! scanner recognises data by its form alone; names, postal addresses, prose and images are not recognised.

mod candidate;
mod card;
mod characters;
mod email;
mod groups;
mod iban;
mod identity;
mod keywords;
mod lettered_ids;
mod numbers;
mod patterns;
mod phone;
mod redactor;
mod spans;
#[cfg(test)]
mod tests;

pub use redactor::Redactor;
pub use spans::Span;

/// The placeholder for card and account numbers.
pub const CARD: &str = "[card]";

/// A built-in kind of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DataKind {
    /// E-mail addresses.
    Email,
    /// Telephone numbers.
    Phone,
    /// Identity numbers of people.
    Id,
    /// Payment card and bank account numbers (IBAN).
    Card,
}

impl DataKind {
    const ALL: [Self; 4] = [Self::Email, Self::Phone, Self::Id, Self::Card];

    /// The name in the setting `MASK`.
    fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Id => "id",
            Self::Card => "card",
        }
    }

    /// The text that replaces personal data of this kind.
    fn placeholder(self) -> &'static str {
        match self {
            Self::Email => "[email]",
            Self::Phone => "[phone]",
            Self::Id => "[id]",
            Self::Card => CARD,
        }
    }
}
