use super::{OTHER, Provider};
use crate::dialect::{Dialect, LOW_TO_HIGH, PLAIN, Switch};

/// vLLM, and `SGLang`, which reads the same fields: thinking is switched in the model's own template.
///
/// Which models take tools depends on how the server was started; it says so when they are refused.
pub(super) const ROW: Provider = Provider {
    name: "vllm",
    dialects: &[("", Dialect { thinking: Switch::Template, efforts: LOW_TO_HIGH, ..PLAIN })],
    ..OTHER
};
