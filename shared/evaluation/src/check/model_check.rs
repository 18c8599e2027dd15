use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use domain::{Language, Message, ToolSpec};
use llm::{
    AttemptLog, CallOptions, Delta, ModelClient, ModelError, Prompt, Reply, ResponseRecorder, ToolMode, ToolSupport,
    ToolSupportSource, Wire,
};
use tokio::time::Instant;
use tool_calls::{CallScanner, ReplyPart, ThinkingFilter};
use tools::{CurrentTime, Tool};
use work::lock;

use super::finding::{Finding, unreachable};
use crate::model_settings::{ModelSettings, mode_name};

/// A prompt whose reply has many tokens, but is short.
const COUNT_PROMPT: &str = "Count from 1 to 20, with commas.";

/// A prompt that needs the tool `current_time`.
const TIME_PROMPT: &str = "What time is it in Tokyo right now? Use the tool.";

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Of one request, with its retries.
    pub(super) timeout: Duration,
    /// A first token after this time or later is slow.
    pub(super) slow: Duration,
}

pub(super) struct ModelCheck<'a> {
    pub(super) client: &'a ModelClient,
    pub(super) names: ModelSettings,
    /// Host and port of the endpoint.
    pub(super) host: String,
    pub(super) limits: Limits,
}

struct ReadReply {
    /// Deltas of text and reasoning.
    pieces: usize,
    /// Whether the tool was called, natively or in the text.
    has_call: bool,
}

impl ModelCheck<'_> {
    /// Requests a short reply: whether it comes, how soon, and how it arrives. A failure is the only finding.
    pub(super) async fn check_answer(&self) -> Vec<Finding> {
        let (recorder, log) = (Arc::new(ArrivalRecorder::default()), AttemptLog::default());
        let prompt = Prompt { messages: vec![user_message(COUNT_PROMPT)], ..Prompt::default() };
        let options = CallOptions { recorder: Some(recorder.clone()), attempt_log: log.clone(), ..self.call_options() };
        let reply = match self.client.reply(&prompt, options).await {
            Ok(reply) => reply,
            Err(error) => return vec![self.failed("answer", error, &log).await],
        };
        let started_at = log.records().last().map(|record| record.started_at);
        let first_token = started_at.map(|start| start.elapsed()).unwrap_or_default();
        match read_reply(reply, &[]).await {
            Ok(ReadReply { pieces: 0, .. }) => vec![Finding::failed("answer", "the reply has no text")],
            Ok(read) => vec![self.first_token(first_token), self.streaming(read.pieces, &lock(&recorder.0))],
            Err(error) => vec![self.failed("answer", error, &log).await],
        }
    }

    /// Requests a reply with one tool, in the mode that the server will use.
    pub(super) async fn check_tools(&self) -> Finding {
        self.client.probe_tool_support(SystemTime::now(), async { None }).await;
        let support = self.client.tools(SystemTime::now());
        let log = AttemptLog::default();
        let called = self.call_tool(support.mode, &log).await;
        if called == Err(ModelError::ToolsUnsupported) && support.mode == ToolMode::Native {
            let status = http_status(last_status(&log));
            let mode = format!("prompted: the server rejects native tools{status}, so calls are written as text");
            let log = AttemptLog::default();
            return match self.call_tool(ToolMode::Prompted, &log).await {
                Ok(called) => Finding::note("tools", format!("{mode}; {}", call_text(called))),
                Err(error) => self.failed("tools", error, &log).await,
            };
        }
        let mode = mode_text(support);
        match called {
            Ok(called) => match self.better_mode(support, called).await {
                Some(advice) => Finding::note("tools", format!("{mode}; {}; {advice}", call_text(called))),
                None if called => Finding::ok("tools", format!("{mode}; {}", call_text(true))),
                None => Finding::note("tools", format!("{mode}; {}", call_text(false))),
            },
            Err(error) => self.failed("tools", error, &log).await,
        }
    }

    /// Tries the other mode once where it may be better; returns what to set if the model calls the tool in it.
    async fn better_mode(&self, support: ToolSupport, called: bool) -> Option<&'static str> {
        let (other, advice) = match (support.mode, support.source) {
            (ToolMode::Prompted, ToolSupportSource::Table) => (
                ToolMode::Native,
                "native tools work too, with fewer tokens and rounds: set \"tools\": \"native\" in a row of MODELS",
            ),
            (ToolMode::Native, _) if !called => (
                ToolMode::Prompted,
                "the server seems to ignore native tools, calls as text work: set \"tools\": \"prompt\" in a row of MODELS",
            ),
            _ => return None,
        };
        (self.call_tool(other, &AttemptLog::default()).await == Ok(true)).then_some(advice)
    }

    /// Returns the size of the context window, as far as it is known; makes no request.
    pub(super) fn check_context(&self) -> Finding {
        let config = self.client.config();
        let tokens = self.client.context_tokens();
        if config.options.context_tokens.is_some() {
            Finding::ok("context", format!("{tokens} tokens, from MODEL_OPTIONS"))
        } else if self.client.is_context_assumed() {
            let text = format!("unknown, {tokens} tokens are assumed: set \"contextTokens\" in MODEL_OPTIONS");
            Finding::note("context", text)
        } else {
            Finding::ok("context", format!("{tokens} tokens, known for this model of {}", self.client.provider()))
        }
    }

    /// Returns a note if the endpoint required another wire than the configured one.
    pub(super) fn check_wire(&self) -> Option<Finding> {
        let is_other = self.client.wire() != self.client.config().wire;
        let note = "the endpoint requires the Responses API: \"wire\": \"responses\" in a row of MODELS saves a rejected request";
        is_other.then(|| Finding::note("wire", note))
    }

    async fn call_tool(&self, mode: ToolMode, log: &AttemptLog) -> Result<bool, ModelError> {
        let tools = [CurrentTime.spec(Language::En)];
        let messages = vec![user_message(TIME_PROMPT)];
        let prompt = match mode {
            ToolMode::Native => Prompt { messages, tools: Arc::new(tools.clone()), ..Prompt::default() },
            ToolMode::Prompted => {
                let config = self.client.config();
                let format = tool_calls::format_of(config.call_format.as_deref(), &config.model);
                let system = format.instructions(&tools, Language::En, "");
                Prompt { system, messages, ..Prompt::default() }
            }
        };
        let options = CallOptions { attempt_log: log.clone(), ..self.call_options() };
        let reply = self.client.reply(&prompt, options).await?;
        Ok(read_reply(reply, &tools).await?.has_call)
    }

    fn call_options(&self) -> CallOptions {
        // Short waits between attempts, as if there were a fallback.
        CallOptions { has_fallback: true, ..CallOptions::with_deadline(Instant::now() + self.limits.timeout) }
    }

    fn first_token(&self, time: Duration) -> Finding {
        let seconds = time.as_secs_f64();
        if time < self.limits.slow {
            return Finding::ok("answer", format!("first token after {seconds:.1} s"));
        }
        let limit = self.limits.slow.as_secs();
        Finding::note("answer", format!("first token after {seconds:.1} s, which is slow ({limit} s or more)"))
    }

    fn streaming(&self, pieces: usize, arrival: &Arrival) -> Finding {
        let subject = "streaming";
        let is_stream = self.client.config().wire == Wire::Ollama
            || matches!(&*arrival.content_type, "text/event-stream" | "application/vnd.amazon.eventstream");
        if !is_stream {
            Finding::note(subject, "the server sends one document instead of a stream: users wait for the whole answer")
        } else if pieces <= 1 || arrival.chunks <= 1 {
            let text =
                "the whole answer arrived in one piece: switch off buffering in the server or in a proxy before it";
            Finding::note(subject, text)
        } else {
            Finding::ok(subject, format!("the answer arrived in {pieces} pieces"))
        }
    }

    async fn failed(&self, subject: &'static str, error: ModelError, log: &AttemptLog) -> Finding {
        let (status, address) = (last_status(log), &self.client.config().base_url);
        let unreachable = match (&error, status) {
            (ModelError::Unavailable, None) => {
                unreachable(address, &self.host, &self.names.address, self.limits.timeout).await
            }
            _ => None,
        };
        let help = log.records().last().and_then(|record| record.help);
        let with_help = help.map(|help| format!("{error}{}: {help}", http_status(status)));
        Finding::failed(subject, unreachable.or(with_help).unwrap_or_else(|| self.describe(error, status)))
    }
}

/// Returns the status in parentheses, after a blank; empty if there is none.
pub(super) fn http_status(status: Option<u16>) -> String {
    status.map(|status| format!(" (HTTP {status})")).unwrap_or_default()
}

fn last_status(log: &AttemptLog) -> Option<u16> {
    log.records().last()?.status
}

fn user_message(text: &str) -> Message {
    Message::user(text)
}

/// Reads a reply to its end; `tools` are those that its text may call.
async fn read_reply(mut reply: Reply, tools: &[ToolSpec]) -> Result<ReadReply, ModelError> {
    let (mut pieces, mut has_call, mut text) = (0, false, String::new());
    while let Some(delta) = reply.next().await {
        match delta? {
            Delta::Text(more) => {
                pieces += 1;
                text.push_str(&more);
            }
            Delta::Thinking(_) => pieces += 1,
            Delta::Call(call) => has_call |= tools.iter().any(|tool| tool.name == call.name),
            Delta::Reasoning(_) | Delta::CutCall | Delta::Usage(_) | Delta::Finish(_) => {}
        }
    }
    Ok(ReadReply { pieces, has_call: has_call || calls_in_text(&text, tools) })
}

fn calls_in_text(text: &str, tools: &[ToolSpec]) -> bool {
    let mut filter = ThinkingFilter::default();
    let mut parts = filter.push(text);
    parts.extend(filter.finish());
    let shown = parts.into_iter().map(|part| if let ReplyPart::Text(more) = part { more } else { String::new() });
    CallScanner::new(tools).finds_call(&shown.collect::<String>())
}

fn mode_text(support: ToolSupport) -> String {
    let source = match (support.source, support.mode) {
        (ToolSupportSource::Settings, _) => "set by \"tools\"",
        (ToolSupportSource::Table, ToolMode::Native) => "known for this model",
        (ToolSupportSource::Table, ToolMode::Prompted) => "native tools are not known for this model",
        (ToolSupportSource::Provider, _) => "from the server's list of models",
        (ToolSupportSource::Rejection, _) => "the server rejects native tools",
    };
    format!("{} ({source})", mode_name(support.mode))
}

fn call_text(called: bool) -> &'static str {
    if called {
        "the model called the tool"
    } else {
        "the model did not call the tool that it should call: `evaluate` measures how often it does"
    }
}

/// How the latest response arrived on the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrival {
    /// The value of `content-type`, in lower case and without parameters; empty if there is none.
    pub(super) content_type: String,
    pub(super) chunks: usize,
}

/// Records the arrival of responses; keeps the latest.
#[derive(Debug, Default)]
pub(super) struct ArrivalRecorder(Mutex<Arrival>);

impl ResponseRecorder for ArrivalRecorder {
    fn record_head(&self, _status: u16, content_type: &str, _retry_after: Option<Duration>) {
        let content_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        *lock(&self.0) = Arrival { content_type, chunks: 0 };
    }

    fn record_chunk(&self, _bytes: &[u8]) {
        lock(&self.0).chunks += 1;
    }
}
