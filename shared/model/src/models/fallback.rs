use crate::ModelConfig;

pub(super) const ACCEPTED: &str = "the name of another configured model that all callers of this one have";

/// Finds the first model whose fallback does not exist, or is not available to all callers of the model.
pub(super) fn wrong(configs: &[ModelConfig]) -> Option<&ModelConfig> {
    let takes = |one: &ModelConfig, other: &ModelConfig| {
        other.name != one.name && (other.only_for.is_none() || other.only_for == one.only_for)
    };
    let wrong = |one: &&ModelConfig| {
        let Some(name) = &one.fallback else { return false };
        !configs.iter().any(|other| other.name == *name && takes(one, other))
    };
    configs.iter().find(wrong)
}
