use super::{Provider, UNKNOWN};
use crate::params::{Dialect, PLAIN, ThinkingControl};

/// `SiliconFlow`.
// Source: recorded answers, 2026-11-21.
pub(super) const ROW: Provider = Provider {
    name: "siliconflow",
    hosts: &["api.siliconflow.cn", "api.siliconflow.com"],
    dialects: &[("", Dialect { thinking: ThinkingControl::Enable, ..PLAIN })],
    ..UNKNOWN
};
