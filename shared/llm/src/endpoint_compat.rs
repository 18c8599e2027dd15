use std::sync::{Mutex, PoisonError};

use crate::attempt_error::CompatFix;
use crate::resolved_params::ResolvedParams;
use crate::wire::Quirks;

/// The fixes that an endpoint turned out to need, for the life of the process.
#[derive(Debug, Default)]
pub(crate) struct EndpointCompat {
    fixes: Mutex<Vec<CompatFix>>,
}

impl EndpointCompat {
    /// Stores a fix.
    pub(crate) fn add_fix(&self, fix: CompatFix) {
        let mut fixes = self.fixes.lock().unwrap_or_else(PoisonError::into_inner);
        if !fixes.contains(&fix) {
            fixes.push(fix);
        }
    }

    /// Returns the quirks of the provider with all fixes applied.
    pub(crate) fn apply_fixes(&self, quirks: Quirks) -> Quirks {
        let fixes = self.fixes.lock().unwrap_or_else(PoisonError::into_inner);
        fixes.iter().copied().fold(quirks, apply_fix)
    }
}

fn apply_fix(quirks: Quirks, fix: CompatFix) -> Quirks {
    let parameters = quirks.parameters;
    let with = |parameters| Quirks { parameters, ..quirks };
    match fix {
        CompatFix::NoUsageOption => Quirks { usage_option: false, ..quirks },
        CompatFix::NoForcedChoice => Quirks { forced_choice: false, ..quirks },
        CompatFix::EchoReasoning => Quirks { echo_reasoning: true, ..quirks },
        CompatFix::AddSignatures => Quirks { signatures: true, ..quirks },
        CompatFix::SwapLimitName => with(parameters.with_swapped_limit_name()),
        CompatFix::NoTemperature => with(ResolvedParams { temperature: None, ..parameters }),
        CompatFix::NoTopP => with(ResolvedParams { top_p: None, ..parameters }),
        CompatFix::NoThinking => with(parameters.without_thinking()),
        CompatFix::NoEffort => with(parameters.without_effort()),
        CompatFix::NoStopMarkers => Quirks { stop_markers: false, ..quirks },
    }
}
