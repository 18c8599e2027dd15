//! A search for the user's words, made while the model still thinks about whether it wants one.

use domain::{ToolCall, ToolChoice};
use serde_json::json;
use tools::{ToolSession, WebSearch};

use super::{Phase, Run};
use crate::{Caller, EventLog};

impl Run<'_> {
    /// The search that the model may be about to make.
    pub(super) fn expected_search(&self) -> Option<ToolCall> {
        let may_search = match &self.turn.tool_choice {
            ToolChoice::Auto | ToolChoice::Required => true,
            ToolChoice::None => false,
            ToolChoice::Tool(name) => name == WebSearch::NAME,
        };
        // What a caller's tools have answered since was asked about before; a search of the caller's own does not run here.
        let is_new = |caller: &Caller| caller.since.is_empty() && !caller.has(WebSearch::NAME);
        let may_search = may_search && self.turn.caller.as_ref().is_none_or(is_new);
        let words = self.turn.text.trim();
        let wanted = self.agent.pre_search && may_search && !words.is_empty() && matches!(self.phase(), Phase::Tools);
        let (id, name) = (String::new(), WebSearch::NAME.to_owned());
        wanted.then(|| ToolCall { id, name, arguments: json!({ "query": words }) })
    }
}

/// Runs the call, if there is one, ahead of the model's.
///
/// Until it is known what it cost it counts as if it had been paid for: a turn that ends before it leaves a request
/// behind for which the provider charges.
pub(super) async fn run(session: &ToolSession, call: Option<&ToolCall>, events: &EventLog) {
    let Some((price, running)) = call.and_then(|call| session.prefetch(call)) else { return };
    events.draft().ahead = price;
    let credits = running.await;
    events.draft().ahead = credits;
}
