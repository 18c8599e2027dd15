//! What is known of how one model is given tools.
//!
//! The settings decide, else the table in the providers' rows, else what the provider's list says, else it goes by text.
//! A refusal of tools counts over all of them: an endpoint that takes none gets none.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::providers::Provider;
use crate::{Finding, ModelConfig, ToolPath, ToolUse, ToolsFrom, ToolsMode};

/// How long a provider's list holds, and how often one process asks for it.
pub(crate) const DAY: Duration = Duration::from_hours(24);

/// How long a refusal counts. Where an operator asked for native calls it is a day, because an endpoint that was put
/// right must not be passed over for long.
const REFUSAL: Duration = Duration::from_hours(7 * 24);

/// What is known of one model; shared by all clones of its client.
#[derive(Debug)]
pub(crate) struct Capability {
    /// What settings and table say; `None` when only the provider's list can tell.
    basis: Option<ToolUse>,
    refusal_counts: Duration,
    found: Mutex<Found>,
    /// When this process last looked further; held while it does.
    pub(crate) looked: tokio::sync::Mutex<Option<SystemTime>>,
}

#[derive(Debug, Default)]
struct Found {
    listed: Option<Finding>,
    refused: Option<Finding>,
    /// A refusal of which nobody outside was told.
    lesson: Option<Finding>,
}

impl Capability {
    pub(crate) fn new(config: &ModelConfig, provider: &Provider) -> Self {
        let asked_for_native = config.tools == ToolsMode::Native;
        Self {
            basis: basis(config, provider),
            refusal_counts: if asked_for_native { DAY } else { REFUSAL },
            found: Mutex::default(),
            looked: tokio::sync::Mutex::default(),
        }
    }

    /// How the model is given tools, as far as is known at `now`.
    pub(crate) fn tools(&self, now: SystemTime) -> ToolUse {
        if !self.is_open() {
            return self.basis.unwrap_or(BY_DEFAULT);
        }
        let found = self.found();
        let holds = |finding: &Option<Finding>| finding.filter(|one| one.until > now).map(|one| one.tools);
        let known = holds(&found.refused).or(self.basis).or_else(|| holds(&found.listed));
        known.unwrap_or(BY_DEFAULT)
    }

    /// Whether anything can still be found out: nothing can where text is settled.
    pub(crate) fn is_open(&self) -> bool {
        self.basis.is_none_or(|basis| basis.path == ToolPath::Native)
    }

    /// Whether only the provider's list can tell.
    pub(crate) fn needs_list(&self) -> bool {
        self.basis.is_none()
    }

    /// Whether nothing is left to look for before the next day.
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        // While somebody looks, others do better to wait.
        !self.is_open() || self.looked.try_lock().is_ok_and(|looked| is_of_today(*looked, now))
    }

    /// Takes note of a finding, of this process or of another.
    pub(crate) fn note(&self, finding: Finding) {
        let mut found = self.found();
        match finding.tools.from {
            ToolsFrom::Learned => found.refused = Some(finding),
            _ => found.listed = Some(finding),
        }
    }

    /// Takes note of a refusal of tools.
    pub(crate) fn learn_refusal(&self, now: SystemTime) {
        let tools = ToolUse { path: ToolPath::Text, from: ToolsFrom::Learned };
        let finding = Finding { tools, until: now + self.refusal_counts };
        self.note(finding);
        self.found().lesson = Some(finding);
    }

    /// A refusal of which nobody outside was told yet.
    pub(crate) fn take_lesson(&self) -> Option<Finding> {
        self.found().lesson.take()
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the last look was less than a day ago; a clock that went back changes nothing.
pub(crate) fn is_of_today(looked: Option<SystemTime>, now: SystemTime) -> bool {
    looked.is_some_and(|at| now.duration_since(at).unwrap_or_default() < DAY)
}

const BY_DEFAULT: ToolUse = ToolUse { path: ToolPath::Text, from: ToolsFrom::Table };

fn basis(config: &ModelConfig, provider: &Provider) -> Option<ToolUse> {
    let said = |path| ToolUse { path, from: ToolsFrom::Settings };
    match config.tools {
        ToolsMode::Native => Some(said(ToolPath::Native)),
        ToolsMode::Prompt => Some(said(ToolPath::Text)),
        ToolsMode::Auto => match provider.path_of(&config.model) {
            Some(path) => Some(ToolUse { path, from: ToolsFrom::Table }),
            None => Some(BY_DEFAULT).filter(|_| provider.listing.is_none()),
        },
    }
}

#[cfg(test)]
mod tests;
