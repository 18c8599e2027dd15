use super::{OTHER, Provider};
use crate::dialect::PLAIN;

/// LM Studio; thinking is set in its user interface, not in requests.
pub(super) const ROW: Provider = Provider { name: "lmstudio", dialects: &[("", PLAIN)], ..OTHER };
