//! Metrics of turns: counts, durations and ids, never users' text. Each line of the log is in the format of `line`, from
//! which `CloudWatch` extracts metrics; docs/operations.md describes them.

mod credits;
mod line;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use domain::{ErrorCode, FinishReason};
use tokio::time::Instant;

use self::line::{Line, Metric};
use super::report::{TurnReport, call_outcome, millis};

/// Declares the metrics: name and unit.
macro_rules! declare_metrics {
    ($($metric:ident = $name:literal in $unit:literal,)*) => {
        $(const $metric: Metric = Metric($name, $unit);)*

        /// The names of all metrics that are written.
        #[cfg(test)]
        const ALL: &[Metric] = &[$($metric),*];
    };
}

declare_metrics! {
    TURNS = "Turns" in "Count",
    FAILED_TURNS = "FailedTurns" in "Count",
    STOPPED_TURNS = "StoppedTurns" in "Count",
    DEADLINE_ANSWERS = "DeadlineAnswers" in "Count",
    RESUMED_READERS = "ResumedReaders" in "Count",
    REJECTED_REQUESTS = "RefusedRequests" in "Count",
    FIRST_BYTE = "FirstByte" in "Milliseconds",
    FIRST_TOKEN = "FirstToken" in "Milliseconds",
    TURN_TIME = "TurnTime" in "Milliseconds",
    ROUNDS = "Rounds" in "Count",
    INPUT_TOKENS = "InputTokens" in "Count",
    OUTPUT_TOKENS = "OutputTokens" in "Count",
    COST = "EstimatedCost" in "None",
    CREDITS = "SearchCredits" in "Count",
    CREDITS_SPENT = "SearchCreditsSpent" in "Percent",
    REJECTED_SEARCHES = "SearchesRefused" in "Count",
    CACHE_HITS = "CacheHits" in "Count",
    TOOL_CALLS = "ToolCalls" in "Count",
    TOOL_TIME = "ToolTime" in "Milliseconds",
    MODEL_CALLS = "ModelCalls" in "Count",
    MODEL_ERRORS = "ModelErrors" in "Count",
    INTERNAL_ERRORS = "InternalErrors" in "Count",
    SLOW_WORK = "SlowWork" in "Count",
}

/// Where metrics are written; nowhere by default.
#[derive(Clone, Default)]
pub struct Metrics(Option<Arc<Out>>);

struct Out {
    function: String,
    version: String,
    writer: Mutex<Box<dyn Write + Send>>,
}

impl Metrics {
    /// Writes metrics under a function's name and, for faults of this service, its version: one JSON object per line. A line
    /// that cannot be written is dropped.
    pub fn to(function: impl Into<String>, version: impl Into<String>, writer: impl Write + Send + 'static) -> Self {
        let (function, version) = (function.into(), version.into());
        Self(Some(Arc::new(Out { function, version, writer: Mutex::new(Box::new(writer)) })))
    }

    /// Writes the metrics of a finished turn, of its tool calls, of its failed model calls and of a fault of this service.
    pub(crate) fn turn(&self, report: &TurnReport<'_>, now: SystemTime) {
        let Some(out) = &self.0 else { return };
        let function = &out.function;
        let lines = [turn_line(function, report)].into_iter();
        let lines = lines.chain(tool_lines(function, report)).chain(model_error_lines(function, report));
        let fault = report.outcome.err().and_then(|code| out.fault_line(code));
        out.write(lines.chain(fault.map(|line| with_turn_ids(line, report))), now);
    }

    /// Counts a rejected request. Unknown paths, wrong methods and missing credentials are not counted: any client can
    /// cause them, and they reveal nothing about the function.
    pub fn request_rejected(&self, code: ErrorCode, request_id: &str, now: SystemTime) {
        let Some(out) = &self.0 else { return };
        if matches!(code, ErrorCode::NotFound | ErrorCode::MethodNotAllowed | ErrorCode::Unauthorized) {
            return;
        }
        let line = Line::of(&out.function).by([("Code", code.as_str())]).metric(REJECTED_REQUESTS, 1);
        let lines = [line].into_iter().chain(out.fault_line(code));
        out.write(lines.map(|line| line.member("requestId", request_id.into())), now);
    }

    /// Counts a client that subscribes to a turn that an earlier request started.
    pub(crate) fn resumed(&self, turn_id: &str, now: SystemTime) {
        let Some(out) = &self.0 else { return };
        out.write([Line::of(&out.function).metric(RESUMED_READERS, 1).member("turnId", turn_id.into())], now);
    }
}

impl Out {
    /// The line of a fault of this version, in its code or its settings; `None` for other errors, such as those of models'
    /// endpoints.
    fn fault_line(&self, code: ErrorCode) -> Option<Line> {
        let line = || Line::of(&self.function).by([("Version", self.version.as_str())]).metric(INTERNAL_ERRORS, 1);
        matches!(code, ErrorCode::Internal | ErrorCode::NotConfigured).then(line)
    }

    fn slow_work_line(&self, work: &str, count: u32) -> Line {
        Line::of(&self.function).by([("Work", work)]).metric(SLOW_WORK, count)
    }

    /// Writes lines, and one for each kind of slow work since the last ones.
    fn write(&self, lines: impl IntoIterator<Item = Line>, now: SystemTime) {
        let slow = work::take_slow_work().into_iter();
        let slow = slow.map(|(work, count)| self.slow_work_line(&work, count));
        let text: String = lines.into_iter().chain(slow).map(|line| line.into_json(now) + "\n").collect();
        let mut writer = work::lock(&self.writer);
        let _lost = writer.write_all(text.as_bytes()).and_then(|()| writer.flush());
    }
}

fn turn_line(function: &str, report: &TurnReport<'_>) -> Line {
    let TurnReport { request, outcome, usage, state, .. } = report;
    let received_at = Instant::from_std(request.received_at);
    let cached = state.calls().filter_map(|call| call.outcome).filter(|outcome| outcome.cached).count();
    let mut line = Line::of(function)
        .metric(TURNS, 1)
        .metric(FAILED_TURNS, u8::from(outcome.is_err()))
        .metric(STOPPED_TURNS, u8::from(*outcome == Ok(FinishReason::Stopped)))
        .metric(DEADLINE_ANSWERS, u8::from(*outcome == Ok(FinishReason::Deadline)))
        .metric(FIRST_BYTE, millis(report.started_at.saturating_duration_since(received_at)))
        .metric(TURN_TIME, millis(report.ended_at.saturating_duration_since(received_at)))
        .metric(ROUNDS, state.replies)
        .metric(MODEL_CALLS, report.attempts.len())
        .metric(CACHE_HITS, cached)
        .metric(CREDITS, usage.search_credits)
        .metric(INPUT_TOKENS, usage.input_tokens)
        .metric(OUTPUT_TOKENS, usage.output_tokens);
    if let Some(at) = state.first_text_at {
        line = line.metric(FIRST_TOKEN, millis(at.saturating_duration_since(received_at)));
    }
    if let Some(cost) = usage.cost_micros.and_then(|micros| u32::try_from(micros).ok()) {
        line = line.metric(COST, f64::from(cost) / 1e6);
    }
    with_turn_ids(line, report).member("end", report.outcome_label().into()).member("model", report.model.into())
}

/// Lines of the calls by tool and outcome; all names that a model invented are one.
fn tool_lines(function: &str, report: &TurnReport<'_>) -> impl Iterator<Item = Line> {
    let mut groups: BTreeMap<(&str, &str), (u32, Vec<u64>)> = BTreeMap::new();
    for call in report.state.calls() {
        let tool = report.tool_label(&call);
        let (count, times) = groups.entry((tool, call_outcome(&call))).or_default();
        *count += 1;
        times.extend(call.outcome.map(|outcome| outcome.duration_ms));
    }
    groups.into_iter().map(|((tool, outcome), (count, times))| {
        let line = Line::of(function).by([("Tool", tool), ("Outcome", outcome)]);
        with_turn_ids(line.metric(TOOL_CALLS, count).metrics(TOOL_TIME, times), report)
    })
}

/// Lines of the failed attempts by model and kind.
fn model_error_lines(function: &str, report: &TurnReport<'_>) -> impl Iterator<Item = Line> {
    let mut groups: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for (attempt, kind) in report.attempts.iter().filter_map(|attempt| Some((attempt, attempt.error_kind?))) {
        *groups.entry((&attempt.model, kind)).or_default() += 1;
    }
    groups.into_iter().map(|((model, kind), count)| {
        with_turn_ids(Line::of(function).by([("Model", model), ("Kind", kind)]).metric(MODEL_ERRORS, count), report)
    })
}

/// Adds the ids of a turn to a line.
fn with_turn_ids(line: Line, report: &TurnReport<'_>) -> Line {
    line.member("requestId", report.request.request_id.as_str().into())
        .member("conversationId", report.conversation_id.into())
        .member("turnId", report.turn_id.into())
}

#[cfg(test)]
mod tests;
