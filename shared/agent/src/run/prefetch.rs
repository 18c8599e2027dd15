//! A search for the user message before the model requests one: concurrently with its first reply, or for its prompt.

use std::time::Duration;

use domain::{Event, Failure, Message, ToolCall, ToolChoice, ToolEvent};
use serde_json::json;
use tokio::time::{Instant, timeout};
use tools::ToolSession;
use tools::url_allowlist::SEARCH_WEB;

use super::{Phase, Run};
use crate::turn::PreSearch;
use crate::{ClientContext, EventLog, prompt, reply};

/// The id of a search for the prompt: the first call of its turn.
const FIRST_CALL_ID: &str = "call_1";

/// Timeout of a search for the prompt, because the answer waits for it.
const CONTEXT_TIMEOUT: Duration = Duration::from_secs(5);

impl Run<'_> {
    /// Searches for the user message, if the agent does so, and adds the results to the messages of the turn. If the
    /// search fails, the turn continues without reference information.
    ///
    /// # Errors
    /// The search failed in a way that ends the turn.
    pub(super) async fn add_search_context(&mut self) -> Result<(), Failure> {
        let Some(call) = self.search_call(PreSearch::Context, FIRST_CALL_ID) else { return Ok(()) };
        let Some((price, _)) = self.session.prefetch(&call) else { return Ok(()) };
        self.events.send(Event::Tool(ToolEvent::Call(Box::new(call.clone()))));
        // As for a concurrent search: the provider also charges for a request that is dropped.
        self.events.turn_state().prefetch_credits = price;
        let started = Instant::now();
        let run = match timeout(CONTEXT_TIMEOUT, self.session.run(&call)).await {
            Ok(run) => {
                self.events.turn_state().prefetch_credits = 0;
                run
            }
            Err(_elapsed) => Ok(self.session.time_out(&call, started.elapsed())),
        };
        let run = reply::report(self.events, self.recorder.as_deref(), &call, run).map_err(|error| error.failure())?;
        if run.report.ok {
            self.messages.push(Message::Tool(run.result.clone()));
            self.has_reference = true;
        }
        self.events.turn_state().close_round(vec![call], vec![run.result], None);
        Ok(())
    }

    pub(super) fn with_reference(&self, mut messages: Vec<Message>) -> Vec<Message> {
        if self.has_reference
            && let [Message::User { text, attachments }, Message::Tool(result), ..] = messages.as_slice()
        {
            let text = prompt::with_reference(self.texts, text, &result.content);
            let joined = Message::User { text, attachments: attachments.clone() };
            messages.splice(..2, [joined]);
        }
        messages
    }

    /// The search call for the user message, if the agent searches in this way and the turn may search.
    pub(super) fn search_call(&self, pre_search: PreSearch, id: &str) -> Option<ToolCall> {
        let may_search = match &self.turn.tool_choice {
            ToolChoice::Auto | ToolChoice::Required => true,
            ToolChoice::None => false,
            ToolChoice::Tool(name) => name == SEARCH_WEB,
        };
        // After results of the client's tools, the user message is not new. A search tool of the client does not run in
        // this process.
        let is_new = |client: &ClientContext| client.trailing_messages.is_empty() && !client.has_tool(SEARCH_WEB);
        let may_search = may_search && self.turn.client.as_ref().is_none_or(is_new);
        // An answer that is continued has searched, or does not need to.
        let may_search = may_search && self.events.turn_state().answer.content.is_empty();
        let query = self.turn.text.trim();
        let is_on = self.agent.pre_search == pre_search && may_search && !query.is_empty();
        let is_on = is_on && matches!(self.phase(), Phase::Tools);
        is_on.then(|| ToolCall { id: id.to_owned(), name: SEARCH_WEB.to_owned(), arguments: json!({ "query": query }) })
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
