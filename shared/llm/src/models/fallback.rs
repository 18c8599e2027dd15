use crate::ModelConfig;

pub(super) const ACCEPTED: &str = "the name of another configured model that all callers of this one have";

/// Finds the first model whose fallback does not exist, or is not available to all callers of the model.
pub(super) fn first_invalid(configs: &[ModelConfig]) -> Option<&ModelConfig> {
    let can_replace = |one: &ModelConfig, other: &ModelConfig| {
        other.name != one.name && (other.only_for.is_none() || other.only_for == one.only_for)
    };
    let is_invalid = |one: &&ModelConfig| {
        let Some(name) = &one.fallback else { return false };
        !configs.iter().any(|other| other.name == *name && can_replace(one, other))
    };
    configs.iter().find(is_invalid)
}
