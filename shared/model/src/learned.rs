use std::sync::atomic::{AtomicBool, Ordering};

use crate::fault::Amendment;
use crate::wire::Quirks;

/// What the refusals of an endpoint taught, for the life of the process.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    no_usage_option: AtomicBool,
    no_forced_choice: AtomicBool,
    echo_reasoning: AtomicBool,
    signatures: AtomicBool,
}

impl Learned {
    /// Keeps an amendment in mind.
    pub(crate) fn remember(&self, amendment: Amendment) {
        let learned = match amendment {
            Amendment::NoUsageOption => &self.no_usage_option,
            Amendment::NoForcedChoice => &self.no_forced_choice,
            Amendment::Reasoning => &self.echo_reasoning,
            Amendment::Signatures => &self.signatures,
        };
        learned.store(true, Ordering::Relaxed);
    }

    /// The particulars of the provider, corrected.
    pub(crate) fn apply(&self, quirks: Quirks) -> Quirks {
        let learned = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        Quirks {
            usage_option: quirks.usage_option && !learned(&self.no_usage_option),
            forced_choice: quirks.forced_choice && !learned(&self.no_forced_choice),
            echo_reasoning: quirks.echo_reasoning || learned(&self.echo_reasoning),
            signatures: quirks.signatures || learned(&self.signatures),
        }
    }
}
