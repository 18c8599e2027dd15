use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::{Language, ToolCall, ToolMessage, ToolOutcome};
use futures_util::FutureExt;
use prompts::ToolTexts;
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout_at};
use work::lock;

use crate::entry::Entry;
use crate::error::ToolCallError;
use crate::{Progress, ResultBudget, ToolContext, ToolError, ToolOutput, arguments, markdown};

/// The calls of one turn.
pub struct ToolSession {
    entries: Arc<Vec<Entry>>,
    context: ToolContext,
    memo: Memo,
}

/// The outcome of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRun {
    /// For the user.
    pub report: ToolOutcome,
    /// For the model.
    pub result: ToolMessage,
    /// For the user, if the result of this tool is the final answer.
    pub answer: Option<String>,
    /// The credits spent.
    pub credits: u64,
    /// Whether it was prefetched before the model made the call.
    pub prefetched: bool,
}

impl ToolSession {
    pub(crate) fn new(entries: Arc<Vec<Entry>>, context: ToolContext) -> Self {
        Self { entries, context, memo: Memo::default() }
    }

    /// Runs a call. Unknown names, invalid arguments, timeouts and panics are results too; only a fatal error ends the
    /// turn.
    ///
    /// Calls may run concurrently. Equal calls share one run; a repeated call gets the first one's result and a note
    /// for the model. Dropping the future ends the call.
    pub async fn run(&self, call: &ToolCall) -> Result<ToolRun, anyhow::Error> {
        self.run_with_progress(call, &|_| {}).await
    }

    /// Runs a call like [`run`](Self::run) and reports its progress to `on_progress`; equal calls report it once.
    pub async fn run_with_progress(
        &self,
        call: &ToolCall,
        on_progress: &(dyn Fn(String) + Sync),
    ) -> Result<ToolRun, anyhow::Error> {
        let started = Instant::now();
        let (outcome, source) = match self.resolve_call(call) {
            Ok((entry, arguments)) => {
                let key = call_key(entry, &arguments);
                let run = self.memo.run_once(&key, true, async || self.execute(entry, arguments, on_progress).await);
                let (outcome, source) = run.await?;
                let outcome = match outcome {
                    Ok(output) => Ok(self.render(entry, output).await),
                    Err(error) => Err(error),
                };
                (outcome, source)
            }
            Err(refusal) => (Err(refusal), CallSource::Fresh),
        };
        Ok(self.build_run(call, outcome, source, started.elapsed()))
    }

    /// Returns the result of a call that is not run, because its reply made `limit` calls before it.
    pub fn reject_excess(&self, call: &ToolCall, limit: usize) -> ToolRun {
        let refusal = ToolCallError::too_many_calls(limit, self.language());
        self.build_run(call, Err(refusal), CallSource::Fresh, Duration::ZERO)
    }

    /// Returns the result of a call that was dropped after `elapsed`, because it took too long.
    pub fn time_out(&self, call: &ToolCall, elapsed: Duration) -> ToolRun {
        let error = match self.resolve_call(call) {
            Ok((entry, _)) => ToolCallError::timeout(entry.tool.as_ref(), self.language()),
            Err(refusal) => refusal,
        };
        self.build_run(call, Err(error), CallSource::Fresh, elapsed)
    }

    /// Returns the maximum cost of a call, and a future that prefetches it before the model makes it.
    ///
    /// The first equivalent call takes the result as its own. The future resolves to the credits spent, which that call
    /// counts too. `None` for a call that cannot run.
    pub fn prefetch(&self, call: &ToolCall) -> Option<(u64, impl Future<Output = u64>)> {
        let (entry, arguments) = self.resolve_call(call).ok()?;
        let estimate = entry.tool.estimated_credits(&arguments);
        let run = async move {
            let key = call_key(entry, &arguments);
            let run = self.memo.run_once(&key, false, async || self.execute(entry, arguments, &|_| {}).await);
            match run.await {
                Ok((Ok(output), CallSource::Fresh)) => output.credits,
                _ => 0,
            }
        };
        Some((estimate, run))
    }

    /// Finds the tool of a call and completes its arguments.
    fn resolve_call(&self, call: &ToolCall) -> Result<(&Entry, Value), ToolCallError> {
        let Some(entry) = self.entries.iter().find(|entry| entry.name == call.name) else {
            return Err(ToolCallError::unknown_tool(
                &call.name,
                self.entries.iter().map(|entry| entry.name.as_str()),
                self.language(),
            ));
        };
        let schema = &entry.spec(self.language()).parameters;
        let mut arguments = arguments::coerce(schema, &call.arguments, self.language())?;
        arguments.as_object_mut().into_iter().for_each(|arguments| arguments.extend(entry.fixed.clone()));
        Ok((entry, arguments))
    }

    async fn execute(
        &self,
        entry: &Entry,
        arguments: Value,
        on_progress: &(dyn Fn(String) + Sync),
    ) -> Result<CallOutcome, anyhow::Error> {
        let tool = entry.tool.as_ref();
        let now = Instant::now();
        if now >= self.context.deadline {
            return Ok(Err(ToolCallError::timeout(tool, self.language())));
        }
        let end = self.context.deadline.min(now + tool.timeout());
        let max_bytes = self.context.result_budget.max_bytes;
        let (progress, mut receiver) = Progress::channel();
        let redactor = self.context.redactor.with_fixed(entry.fixed.keys());
        let context = ToolContext { progress, redactor, ..self.context.clone() };
        let call = AssertUnwindSafe(async { tool.call(arguments, &context).await }).catch_unwind();
        match receiver.forward_during(timeout_at(end, call), on_progress).await {
            Ok(Ok(Ok(output))) => Ok(Ok(output)),
            Ok(Ok(Err(ToolError::Model(ToolCallError { failure, content })))) => {
                let text = self.context.redactor.redact_result(&self.context.owner, content).await;
                Ok(Err(ToolCallError { failure, content: self.truncate(text, max_bytes) }))
            }
            Ok(Ok(Err(ToolError::Fatal(error)))) => Err(error),
            Ok(Err(_panic)) => {
                tracing::error!(tool = entry.name, "a tool panicked");
                Ok(Err(ToolCallError::failed(tool, self.language())))
            }
            Err(_elapsed) => Ok(Err(ToolCallError::timeout(tool, self.language()))),
        }
    }

    /// Renders a result under the turn's numbers, for the model and, if it is the answer, for the user.
    async fn render(&self, entry: &Entry, output: ToolOutput) -> ToolOutput {
        let output = output.with_numbers(&self.context.sources, entry.direct);
        self.context.allowed_urls.add_sources(&output.sources);
        let user_text =
            entry.direct.then(|| output.user_text.unwrap_or_else(|| markdown::format_result(&output.content)));
        let user_text = user_text.map(|text| self.truncate(text, ResultBudget::MAX_BYTES));
        let content = self.context.redactor.redact_result(&self.context.owner, output.content).await;
        let content = entry.tool.wrap_result(self.truncate(content, self.context.result_budget.max_bytes));
        ToolOutput { content, user_text, ..output }
    }

    /// Builds the outcome of a call. The note on a repeated call is not a prefix, because the beginning identifies the kind of a
    /// result.
    fn build_run(&self, call: &ToolCall, outcome: CallOutcome, source: CallSource, elapsed: Duration) -> ToolRun {
        let repeated = source == CallSource::Duplicate;
        let (ok, error, output) = match outcome {
            Ok(output) => (true, None, output),
            Err(ToolCallError { failure, content }) => {
                let summary = failure.code.replace('_', " ");
                (false, Some(failure), ToolOutput { content, summary, ..ToolOutput::default() })
            }
        };
        let content = if repeated {
            format!("{}\n{}", output.content, ToolTexts::of(self.language()).repeated_call)
        } else {
            output.content
        };
        let report = ToolOutcome {
            id: call.id.clone(),
            name: call.name.clone(),
            ok,
            cached: repeated || output.cached,
            duration_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            summary: output.summary,
            sources: output.sources,
            error,
        };
        let result = ToolMessage { call_id: call.id.clone(), name: call.name.clone(), ok, content };
        let credits = if repeated { 0 } else { output.credits };
        ToolRun { report, result, answer: output.user_text, credits, prefetched: source == CallSource::Prefetched }
    }

    fn truncate(&self, mut text: String, max_bytes: usize) -> String {
        if text.len() > max_bytes {
            let note = ToolTexts::of(self.language()).truncated;
            text.truncate(text.floor_char_boundary(max_bytes.saturating_sub(1 + note.len())));
            text.push('\n');
            text.push_str(note);
        }
        text
    }

    fn language(&self) -> Language {
        self.context.language
    }
}

/// Returns a key that is equal for equivalent calls: the name and the arguments with sorted keys.
fn call_key(entry: &Entry, arguments: &Value) -> String {
    let mut sorted = entry.tool.dedup_key(arguments);
    sorted.sort_all_objects();
    format!("{} {sorted}", entry.name)
}

/// The outcome of a call that is not fatal to its turn.
type CallOutcome = Result<ToolOutput, ToolCallError>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallSource {
    /// The call itself.
    Fresh,
    /// A prefetch, which this call is the first to use.
    Prefetched,
    /// An equal call of the same turn.
    Duplicate,
}

#[derive(Default)]
struct Slot {
    outcome: OnceCell<CallOutcome>,
    /// Whether a call has used or produced the outcome; `false` while it is only prefetched.
    claimed: AtomicBool,
}

/// The calls of one turn that succeeded or are still running.
#[derive(Default)]
struct Memo {
    slots: Mutex<HashMap<String, Arc<Slot>>>,
}

impl Memo {
    /// Returns the outcome of the call under `key`, and its source.
    ///
    /// Equal concurrent calls share one run; when the caller that runs it goes away, the next one takes over. A failure
    /// is shared with the waiting callers and then forgotten, so that the model may try again. A run that does not claim
    /// the outcome prefetches it: the first call that does takes it as its own.
    async fn run_once<F>(&self, key: &str, claims: bool, run: F) -> Result<(CallOutcome, CallSource), anyhow::Error>
    where
        F: AsyncFnOnce() -> Result<CallOutcome, anyhow::Error>,
    {
        let slot = lock(&self.slots).entry(key.to_owned()).or_default().clone();
        let mut own = false;
        let first_run = async || {
            own = true;
            slot.claimed.store(claims, Ordering::Relaxed);
            run().await
        };
        let outcome = slot.outcome.get_or_try_init(first_run).await?.clone();
        if outcome.is_err() {
            self.forget(key, &slot);
        }
        let source = if own {
            CallSource::Fresh
        } else if claims && !slot.claimed.swap(true, Ordering::Relaxed) {
            CallSource::Prefetched
        } else {
            CallSource::Duplicate
        };
        Ok((outcome, source))
    }

    fn forget(&self, key: &str, slot: &Arc<Slot>) {
        let mut slots = lock(&self.slots);
        if slots.get(key).is_some_and(|known| Arc::ptr_eq(known, slot)) {
            slots.remove(key);
        }
    }
}
