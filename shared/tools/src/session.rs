use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use conversation::{ToolCall, ToolReport, ToolResult};
use futures_util::FutureExt;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::memo::{Memo, Origin, Outcome};
use crate::refusal::Refusal;
use crate::registry::Entry;
use crate::{Progress, ToolContext, ToolError, ToolOutput, arguments, markdown};

/// Longest text of a result for the model, in bytes.
const MAX_CONTENT: usize = 256 * 1024;

/// Suffix of a truncated text.
const CUT: &str = "\n（内容过长，已截断）";

/// Suffix of the result of a repeated call. It is not a prefix, because the beginning identifies the kind of a result.
const REPEATED: &str =
    "\n（本轮已经用相同的参数调用过这个工具，以上是同一个结果。请直接使用它，不要再次重复这个调用。）";

/// The calls of one turn.
pub struct ToolSession {
    entries: Arc<Vec<Entry>>,
    context: ToolContext,
    memo: Memo,
}

/// The outcome of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// For the user.
    pub report: ToolReport,
    /// For the model.
    pub result: ToolResult,
    /// For the user, if the result of this tool is the final answer.
    pub answer: Option<String>,
    /// The credits spent.
    pub credits: u64,
    /// Whether it was prefetched before the model made the call.
    pub ahead: bool,
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
    pub async fn run(&self, call: &ToolCall) -> Result<Ran, anyhow::Error> {
        self.run_telling(call, &|_| {}).await
    }

    /// Runs a call like [`run`](Self::run) and reports its progress to `on_progress`; equal calls report it once.
    pub async fn run_telling(&self, call: &ToolCall, tell: &(dyn Fn(String) + Sync)) -> Result<Ran, anyhow::Error> {
        let started = Instant::now();
        let (outcome, origin) = match self.admitted(call) {
            Ok((entry, arguments)) => {
                let key = entry.key(&arguments);
                self.memo.once(&key, async || self.outcome(entry, arguments, tell).await).await?
            }
            Err(refusal) => (Err(refusal), Origin::Own),
        };
        Ok(ran(call, outcome, origin, started.elapsed()))
    }

    /// Returns the result of a call that is not run, because its reply made `limit` calls before it.
    pub fn beyond(&self, call: &ToolCall, limit: usize) -> Ran {
        ran(call, Err(Refusal::too_many_calls(limit)), Origin::Own, Duration::ZERO)
    }

    /// Returns the maximum cost of a call, and a future that prefetches it before the model makes it.
    ///
    /// The first equivalent call takes the result as its own. The future resolves to the credits spent, which that call
    /// counts too. `None` for a call that cannot run.
    pub fn ahead(&self, call: &ToolCall) -> Option<(u64, impl Future<Output = u64>)> {
        let (entry, arguments) = self.admitted(call).ok()?;
        let price = entry.tool.price(&arguments);
        let run = async move {
            let key = entry.key(&arguments);
            let outcome = self.memo.ahead(&key, async || self.outcome(entry, arguments, &|_| {}).await).await;
            outcome.ok().flatten().and_then(Result::ok).map_or(0, |output| output.credits)
        };
        Some((price, run))
    }

    fn admitted(&self, call: &ToolCall) -> Result<(&Entry, Value), Refusal> {
        let Some(entry) = self.entries.iter().find(|entry| entry.spec.name == call.name) else {
            return Err(Refusal::unknown_tool(&call.name, self.entries.iter().map(|entry| entry.spec.name.as_str())));
        };
        let arguments = arguments::checked(&entry.spec.parameters, &call.arguments)
            .map_err(|reason| Refusal::invalid_arguments(&reason))?;
        Ok((entry, arguments))
    }

    async fn outcome(
        &self,
        entry: &Entry,
        arguments: Value,
        tell: &(dyn Fn(String) + Sync),
    ) -> Result<Outcome, anyhow::Error> {
        let tool = entry.tool.as_ref();
        let now = Instant::now();
        if now >= self.context.deadline {
            return Ok(Err(Refusal::timeout(tool)));
        }
        let end = self.context.deadline.min(now + tool.timeout());
        let (progress, mut parts) = Progress::channel();
        let context = ToolContext { progress, ..self.context.clone() };
        let call = AssertUnwindSafe(async { tool.call(arguments, &context).await }).catch_unwind();
        match parts.beside(timeout_at(end, call), tell).await {
            Ok(Ok(Ok(output))) => {
                self.context.pages.note_sources(&output.sources);
                let shown = entry.direct.then(|| output.shown.unwrap_or_else(|| markdown::text(&output.content)));
                let (shown, framed) = (shown.map(capped), tool.framed(capped(output.content)));
                Ok(Ok(ToolOutput { content: framed, shown, ..output }))
            }
            Ok(Ok(Err(ToolError::Model { failure, content }))) => {
                Ok(Err(Refusal { failure, content: capped(content) }))
            }
            Ok(Ok(Err(ToolError::Fatal(error)))) => Err(error),
            Ok(Err(_panic)) => {
                tracing::error!(tool = entry.spec.name, "a tool panicked");
                Ok(Err(Refusal::failed(tool)))
            }
            Err(_elapsed) => Ok(Err(Refusal::timeout(tool))),
        }
    }
}

fn ran(call: &ToolCall, outcome: Outcome, origin: Origin, took: Duration) -> Ran {
    let repeated = origin == Origin::Equal;
    let (ok, error, output) = match outcome {
        Ok(output) => (true, None, output),
        Err(Refusal { failure, content }) => {
            let summary = failure.code.replace('_', " ");
            (false, Some(failure), ToolOutput { content, summary, ..ToolOutput::default() })
        }
    };
    let content = if repeated { format!("{}{REPEATED}", output.content) } else { output.content };
    let report = ToolReport {
        id: call.id.clone(),
        name: call.name.clone(),
        ok,
        cached: repeated || output.cached,
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        summary: output.summary,
        sources: output.sources,
        error,
    };
    let result = ToolResult { call_id: call.id.clone(), name: call.name.clone(), ok, content };
    let credits = if repeated { 0 } else { output.credits };
    Ran { report, result, answer: output.shown, credits, ahead: origin == Origin::Ahead }
}

fn capped(mut text: String) -> String {
    if text.len() > MAX_CONTENT {
        text.truncate(text.floor_char_boundary(MAX_CONTENT - CUT.len()));
        text.push_str(CUT);
    }
    text
}
