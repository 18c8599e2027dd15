use crate::ModelConfig;

pub(super) const ACCEPTED: &str = "the name of another configured model that all callers of this one have";

/// The first whose fallback is none of the others, or does not exist for all who may use it.
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
