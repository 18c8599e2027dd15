mod reader;
mod state;

use std::mem::Discriminant;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use domain::{Event, ToolCall, ToolEvent, ToolProgress, ToolSpec};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use llm::{ModelClient, ModelError, Reply, ToolMode};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};
use tools::{ToolRun, ToolSession};
use work::lock;

use self::reader::{ReadUpTo, ReplyReader};
pub(crate) use self::state::{InventionDetector, UnshownReason};
use self::state::{MAX_RUN_CALLS, ReplyState};
use crate::round::{Correction, Round, RoundError, allows_failover};
use crate::{ClientContext, EventLog, TurnRecorder};

pub(crate) struct ReplyOptions<'a> {
    pub(crate) events: &'a EventLog,
    /// The model and its endpoint, to which provider data belongs.
    pub(crate) origin: &'a str,
    pub(crate) session: &'a ToolSession,
    pub(crate) model: &'a ModelClient,
    pub(crate) recorder: Option<&'a dyn TurnRecorder>,
    /// Decide whether text is a call if its form is ambiguous.
    pub(crate) specs: &'a [ToolSpec],
    /// A client whose own tools do not run in this process.
    pub(crate) client: Option<&'a ClientContext>,
    /// Whether calls run; otherwise they neither run nor appear.
    pub(crate) tools_on: bool,
    /// When a reply with tools is dropped that is no answer yet.
    pub(crate) give_up: GiveUp,
    /// In the native mode, calls in the text count only if there is no native one.
    pub(crate) tool_mode: ToolMode,
    /// The kinds of faults that were returned to the model in this turn. A call that cannot be parsed again is dropped.
    pub(crate) corrected: &'a [Discriminant<Correction>],
    /// Whether a report of results is made up: no tool has returned any in the conversation.
    pub(crate) finds_inventions: bool,
    /// Why text is not shown from the beginning, if it is not.
    pub(crate) unshown: Option<UnshownReason>,
    /// The text of this reply by a model that failed.
    pub(crate) previous_text: &'a str,
    /// Whether another model can continue if this one fails.
    pub(crate) has_fallback: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct GiveUp {
    pub(crate) at: Instant,
    /// Whether earlier rounds have results that an answer can use.
    pub(crate) has_results: bool,
}

impl ReplyOptions<'_> {
    /// Whether the calls of an interrupted reply are awaited, because another model continues from their results.
    fn awaits_calls_after(&self, error: &ModelError, results: &[Option<ToolRun>]) -> bool {
        self.has_fallback && !results.is_empty() && allows_failover(error)
    }

    /// Whether another reply, without tools, is more useful than the rest of this one.
    fn should_give_up(&self, results: &[Option<ToolRun>]) -> bool {
        let is_answer = || !self.events.turn_state().current_round().0.trim().is_empty();
        !results.is_empty() || (self.give_up.has_results && !is_answer())
    }

    /// Runs a call and sends its progress, unless the reply has too many.
    async fn run_call(&self, index: usize, call: &ToolCall) -> Result<ToolRun, anyhow::Error> {
        if index >= MAX_RUN_CALLS {
            return Ok(self.session.reject_excess(call, MAX_RUN_CALLS));
        }
        run_with_progress(self.session, self.events, call).await
    }
}

/// Runs a call and sends its progress.
pub(crate) async fn run_with_progress(
    session: &ToolSession,
    events: &EventLog,
    call: &ToolCall,
) -> Result<ToolRun, anyhow::Error> {
    let send_progress = |text| {
        let progress = ToolProgress { id: call.id.clone(), name: call.name.clone(), text };
        events.send(Event::Tool(ToolEvent::Progress(Box::new(progress))));
    };
    session.run_with_progress(call, &send_progress).await
}

pub(crate) fn report(
    events: &EventLog,
    recorder: Option<&dyn TurnRecorder>,
    call: &ToolCall,
    run: Result<ToolRun, anyhow::Error>,
) -> Result<ToolRun, RoundError> {
    if let Some(recorder) = recorder {
        recorder.on_tool_result(call, run.as_ref().ok());
    }
    let run = run.map_err(RoundError::Fatal)?;
    events.turn_state().record_cost(&run);
    events.send(Event::Tool(ToolEvent::Result(Box::new(run.report.clone()))));
    Ok(run)
}

/// Reads a reply: text and reasoning are sent immediately, and each call runs as soon as it is complete.
pub(crate) async fn read(reply: Reply, options: &ReplyOptions<'_>) -> Result<Round, RoundError> {
    let state = Arc::new(Mutex::new(ReplyState::new(options)));
    let mut running = FuturesUnordered::new();
    let mut results: Vec<Option<ToolRun>> = Vec::new();
    let continue_reading = |reply| ReplyReader::spawn(reply, Arc::clone(&state), options.events.clone());
    // Dropped as soon as the rest of the reply has no use, which closes its connection.
    let (mut reader, mut error) = (Some(continue_reading(reply)), None);
    let mut time_to_give_up = pin!(sleep_until(options.give_up.at));
    let (mut is_in_time, mut gave_up) = (options.tools_on, false);
    loop {
        tokio::select! {
            biased;
            Some((index, call, run)) = running.next(), if !running.is_empty() => {
                results[index] = Some(report(options.events, options.recorder, &call, run)?);
                // A reply may make thousands of calls that end at once.
                yield_now().await;
            }
            Some(read_up_to) = async { Some(reader.as_mut()?.wait().await) } => match read_up_to {
                ReadUpTo::End(Some(error)) if !options.awaits_calls_after(&error, &results) => {
                    return Err(RoundError::Model(error));
                }
                ReadUpTo::End(end) => (reader, error) = (None, end),
                ReadUpTo::Calls(rest, calls) => {
                    reader = Some(continue_reading(*rest));
                    for call in calls {
                        let index = results.len();
                        results.push(None);
                        running.push(async move {
                            let run = options.run_call(index, &call).await;
                            (index, call, run)
                        });
                    }
                }
            },
            () = &mut time_to_give_up, if reader.is_some() && is_in_time => {
                (is_in_time, gave_up) = (false, lock(&state).client_calls.is_empty() && options.should_give_up(&results));
                reader = reader.filter(|_| !gave_up);
            }
            else => break,
        }
    }
    drop(reader);
    let results = results.into_iter().flatten().collect();
    let mut state = lock(&state);
    if gave_up { Err(state.give_up(results)) } else { state.close(results, error, options.has_fallback) }
}
