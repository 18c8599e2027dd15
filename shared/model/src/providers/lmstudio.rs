use super::{OTHER, Provider};
use crate::dialect::PLAIN;

/// LM Studio: whether a model thinks is chosen in its window, not in a request.
pub(super) const ROW: Provider = Provider { name: "lmstudio", dialects: &[("", PLAIN)], ..OTHER };
