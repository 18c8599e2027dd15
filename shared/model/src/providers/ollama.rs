use super::{OTHER, Provider};
use crate::dialect::{Dialect, PLAIN, Switch};
use crate::listing::Listing;
use crate::{Effort, Wire};

/// The words are for models with levels; others take each of them for "on".
const DIALECT: Dialect = Dialect {
    thinking: Switch::Think,
    efforts: &[(Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high"), (Effort::Max, "max")],
    ..PLAIN
};

/// Any server that speaks Ollama's own protocol.
pub(super) const ROW: Provider = Provider {
    name: "ollama",
    wire: Wire::Ollama,
    listing: Some(Listing::Ollama),
    dialects: &[("", DIALECT)],
    ..OTHER
};
