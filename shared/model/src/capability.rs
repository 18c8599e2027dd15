//! The cached tool support of one model.
//!
//! The settings decide, then the table in the providers' rows, then the provider's model list; the default is
//! `ToolMode::Prompted`. If the endpoint rejects tools, that overrides all of them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::providers::Provider;
use crate::{Finding, ModelConfig, ToolPath, ToolUse, ToolsFrom, ToolsMode};

/// How long a provider's list is valid, and how often one process requests it.
pub(crate) const DAY: Duration = Duration::from_hours(24);

/// How long a rejection of tools is valid. If the operator configured native calls, it is one day: a repaired endpoint
/// must get native calls again soon.
const REFUSAL: Duration = Duration::from_hours(7 * 24);

/// The tool support of one model; shared by all clones of its client.
#[derive(Debug)]
pub(crate) struct Capability {
    /// From the settings and the table; `None` if only the provider's list can decide.
    basis: Option<ToolUse>,
    refusal_counts: Duration,
    found: Mutex<Found>,
    /// When this process last probed; locked during a probe.
    pub(crate) looked: tokio::sync::Mutex<Option<SystemTime>>,
}

#[derive(Debug, Default)]
struct Found {
    listed: Option<Finding>,
    refused: Option<Finding>,
    /// A rejection that is not yet published to other processes.
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

    /// Returns the tool support that is known at `now`.
    pub(crate) fn tools(&self, now: SystemTime) -> ToolUse {
        if !self.is_open() {
            return self.basis.unwrap_or(BY_DEFAULT);
        }
        let found = self.found();
        let holds = |finding: &Option<Finding>| finding.filter(|one| one.until > now).map(|one| one.tools);
        let known = holds(&found.refused).or(self.basis).or_else(|| holds(&found.listed));
        known.unwrap_or(BY_DEFAULT)
    }

    /// Whether a probe can change anything; it cannot if the configured mode is `Prompted`.
    pub(crate) fn is_open(&self) -> bool {
        self.basis.is_none_or(|basis| basis.path == ToolPath::Native)
    }

    /// Whether only the provider's list can decide.
    pub(crate) fn needs_list(&self) -> bool {
        self.basis.is_none()
    }

    /// Whether no probe is due before the next day.
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        // While another task probes, the caller should wait for its result.
        !self.is_open() || self.looked.try_lock().is_ok_and(|looked| is_of_today(*looked, now))
    }

    /// Stores a result of this process or of another one.
    pub(crate) fn note(&self, finding: Finding) {
        let mut found = self.found();
        match finding.tools.from {
            ToolsFrom::Learned => found.refused = Some(finding),
            _ => found.listed = Some(finding),
        }
    }

    /// Records that the endpoint rejected tools.
    pub(crate) fn learn_refusal(&self, now: SystemTime) {
        let tools = ToolUse { path: ToolPath::Text, from: ToolsFrom::Learned };
        let finding = Finding { tools, until: now + self.refusal_counts };
        self.note(finding);
        self.found().lesson = Some(finding);
    }

    /// Takes the rejection that is not yet published.
    pub(crate) fn take_lesson(&self) -> Option<Finding> {
        self.found().lesson.take()
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the last probe was less than a day ago; also true if the clock was set back.
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
