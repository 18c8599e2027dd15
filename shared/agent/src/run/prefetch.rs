//! A search for the user message that runs while the model still decides whether it requests one.

use domain::{ToolCall, ToolChoice};
use serde_json::json;
use tools::ToolSession;
use tools::url_allowlist::SEARCH_WEB;

use super::{Phase, Run};
use crate::{ClientContext, EventLog};

impl Run<'_> {
    /// The search call that the model is likely to make, if it may.
    pub(super) fn prefetch_call(&self) -> Option<ToolCall> {
        let may_search = match &self.turn.tool_choice {
            ToolChoice::Auto | ToolChoice::Required => true,
            ToolChoice::None => false,
            ToolChoice::Tool(name) => name == SEARCH_WEB,
        };
        // After results of the client's tools, the user message is not new. A search tool of the client does not run in
        // this process.
        let is_new = |client: &ClientContext| client.trailing_messages.is_empty() && !client.has_tool(SEARCH_WEB);
        let may_search = may_search && self.turn.client.as_ref().is_none_or(is_new);
        let query = self.turn.text.trim();
        let is_on = self.agent.pre_search && may_search && !query.is_empty() && matches!(self.phase(), Phase::Tools);
        let (id, name) = (String::new(), SEARCH_WEB.to_owned());
        is_on.then(|| ToolCall { id, name, arguments: json!({ "query": query }) })
    }
}

/// Runs the call, if there is one, before the model requests it.
///
/// Until its cost is known, it counts as if it had been paid for: the provider also charges for a request of a turn that
/// ends first.
pub(super) async fn run(session: &ToolSession, call: Option<&ToolCall>, events: &EventLog) {
    let Some((price, running)) = call.and_then(|call| session.prefetch(call)) else { return };
    events.turn_state().prefetch_credits = price;
    let credits = running.await;
    events.turn_state().prefetch_credits = credits;
}
