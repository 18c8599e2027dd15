use super::{Provider, UNKNOWN};
use crate::params::PLAIN;

/// LM Studio; thinking is set in its user interface, not in requests.
// Source: https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/988, 2026-11-28.
pub(super) const ROW: Provider = Provider { name: "lmstudio", dialects: &[("", PLAIN)], ..UNKNOWN };
