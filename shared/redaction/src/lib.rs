//! Replaces personal data in texts by fixed placeholders.
//!
//! The built-in kinds are hand-written scanners: a few passes over the text at most, bounded work for each character, nothing
//! to compile at the start. Text in other scripts' digits and full-width characters is read like ASCII. What a scanner
//! recognises by its form alone is replaced; names, addresses, prose and pictures are not recognised.

mod card;
mod characters;
mod email;
mod groups;
mod iban;
mod identity;
mod keywords;
mod lettered;
mod numbers;
mod patterns;
mod phone;
mod redactor;
mod spans;
#[cfg(test)]
mod tests;

pub use redactor::Redactor;
pub use spans::Span;

/// The placeholder for numbers of cards and accounts.
pub const CARD: &str = "[card]";

/// A built-in kind of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// E-mail addresses.
    Email,
    /// Telephone numbers.
    Phone,
    /// Identity numbers of persons.
    Id,
    /// Numbers of payment cards and bank accounts (IBAN).
    Card,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Email, Self::Phone, Self::Id, Self::Card];

    /// The name in the setting.
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
