use std::sync::atomic::{AtomicBool, Ordering};

use crate::fault::Unaccepted;
use crate::wire::Quirks;

/// What the refusals of an endpoint taught, for the life of the process.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    no_usage_option: AtomicBool,
    no_forced_choice: AtomicBool,
    echo_reasoning: AtomicBool,
}

impl Learned {
    /// Keeps in mind what was not accepted; `false` if that was known, so that leaving it out does not help.
    pub(crate) fn remember(&self, part: Unaccepted) -> bool {
        let known = match part {
            Unaccepted::UsageOption => &self.no_usage_option,
            Unaccepted::ForcedChoice => &self.no_forced_choice,
            Unaccepted::MissingReasoning => &self.echo_reasoning,
        };
        !known.swap(true, Ordering::Relaxed)
    }

    /// The particulars of the provider, corrected.
    pub(crate) fn apply(&self, quirks: Quirks) -> Quirks {
        let learned = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        Quirks {
            usage_option: quirks.usage_option && !learned(&self.no_usage_option),
            forced_choice: quirks.forced_choice && !learned(&self.no_forced_choice),
            echo_reasoning: quirks.echo_reasoning || learned(&self.echo_reasoning),
        }
    }
}
