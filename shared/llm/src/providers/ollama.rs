use super::{ModelListApi, Provider, UNKNOWN};
use crate::params::{Dialect, PLAIN, ThinkingControl};
use crate::{Effort, Wire};

/// The efforts are for models with levels; other models treat each of them as "on".
const DIALECT: Dialect = Dialect {
    thinking: ThinkingControl::Think,
    effort_names: &[(Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high"), (Effort::Max, "max")],
    ..PLAIN
};

/// Any server with Ollama's own protocol.
// Source: documentation and issue threads of Ollama, and recorded answers, 2026-11-21.
pub(super) const ROW: Provider = Provider {
    name: "ollama",
    wire: Wire::Ollama,
    model_list: Some(ModelListApi::Ollama),
    dialects: &[("", DIALECT)],
    ..UNKNOWN
};
