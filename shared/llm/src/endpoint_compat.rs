use std::sync::{Mutex, PoisonError};

use crate::Wire;
use crate::attempt_error::CompatFix;
use crate::dialect::ReasoningEcho;
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
        CompatFix::EchoReasoning => Quirks { echo_reasoning: ReasoningEcho::Always, ..quirks },
        CompatFix::AddSignatures => Quirks { signatures: true, ..quirks },
        CompatFix::NoCacheControl => Quirks { cache_control: false, ..quirks },
        CompatFix::ShortIds => Quirks { short_ids: true, ..quirks },
        CompatFix::SwapLimitName => with(parameters.with_swapped_limit_name()),
        CompatFix::NoTemperature => with(ResolvedParams { temperature: None, ..parameters }),
        CompatFix::NoTopP => with(ResolvedParams { top_p: None, ..parameters }),
        CompatFix::NoThinking => with(parameters.without_thinking()),
        CompatFix::NoEffort => with(parameters.without_effort()),
        CompatFix::NoStopMarkers => Quirks { stop_markers: false, ..quirks },
        CompatFix::UseResponses if quirks.wire == Wire::Openai => Quirks { wire: Wire::Responses, ..quirks },
        CompatFix::NoResponses if quirks.wire == Wire::Responses => {
            Quirks { wire: Wire::Openai, parameters: parameters.with_effort_none(), ..quirks }
        }
        CompatFix::UseResponses | CompatFix::NoResponses => quirks,
        CompatFix::NoStream => Quirks { stream: false, ..quirks },
        CompatFix::NoReasoningSummary => Quirks { reasoning_summary: false, ..quirks },
        CompatFix::NoEncryptedReasoning => Quirks { encrypted_reasoning: false, echo_encrypted: false, ..quirks },
        CompatFix::NoReasoningEcho => Quirks { echo_encrypted: false, ..quirks },
    }
}
