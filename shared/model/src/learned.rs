use std::sync::{Mutex, PoisonError};

use crate::fault::Amendment;
use crate::parameters::Parameters;
use crate::wire::Quirks;

/// The fixes that an endpoint turned out to need, for the life of the process.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    amendments: Mutex<Vec<Amendment>>,
}

impl Learned {
    /// Stores a fix.
    pub(crate) fn remember(&self, amendment: Amendment) {
        let mut amendments = self.amendments.lock().unwrap_or_else(PoisonError::into_inner);
        if !amendments.contains(&amendment) {
            amendments.push(amendment);
        }
    }

    /// Returns the quirks of the provider with all fixes applied.
    pub(crate) fn apply(&self, quirks: Quirks) -> Quirks {
        let amendments = self.amendments.lock().unwrap_or_else(PoisonError::into_inner);
        amendments.iter().copied().fold(quirks, amended)
    }
}

fn amended(quirks: Quirks, amendment: Amendment) -> Quirks {
    let parameters = quirks.parameters;
    let with = |parameters| Quirks { parameters, ..quirks };
    match amendment {
        Amendment::NoUsageOption => Quirks { usage_option: false, ..quirks },
        Amendment::NoForcedChoice => Quirks { forced_choice: false, ..quirks },
        Amendment::Reasoning => Quirks { echo_reasoning: true, ..quirks },
        Amendment::Signatures => Quirks { signatures: true, ..quirks },
        Amendment::OtherLimit => with(parameters.with_other_limit()),
        Amendment::NoTemperature => with(Parameters { temperature: None, ..parameters }),
        Amendment::NoTopP => with(Parameters { top_p: None, ..parameters }),
        Amendment::NoThinking => with(parameters.without_thinking()),
        Amendment::NoEffort => with(parameters.without_effort()),
    }
}
