use super::{Provider, UNKNOWN};
use crate::params::PLAIN;

/// LM Studio; thinking is set in its user interface, not in requests.
// Source: no address noted, 2026-11-23.
pub(super) const ROW: Provider = Provider { name: "lmstudio", dialects: &[("", PLAIN)], ..UNKNOWN };
