use super::{OTHER, Provider};
use crate::dialect::{Dialect, PLAIN, Switch};
use crate::listing::Listing;
use crate::{Effort, Wire};

/// The efforts are for models with levels; other models treat each of them as "on".
const DIALECT: Dialect = Dialect {
    thinking: Switch::Think,
    efforts: &[(Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high"), (Effort::Max, "max")],
    ..PLAIN
};

/// Any server with Ollama's own protocol.
pub(super) const ROW: Provider = Provider {
    name: "ollama",
    wire: Wire::Ollama,
    listing: Some(Listing::Ollama),
    dialects: &[("", DIALECT)],
    ..OTHER
};
