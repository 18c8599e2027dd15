//! Fake tools with configurable behaviour.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use domain::Owner;
use domain::{Language, Source, ToolCall, ToolSpec};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;
use tools::{
    OutboundRedactor, Progress, Tool, ToolCallError, ToolContext, ToolError, ToolOutput, ToolRegistry, ToolSession,
    UrlAllowlist,
};

/// Behaves according to its `behaviour` argument and counts its runs.
#[derive(Default)]
pub(crate) struct Probe {
    pub(crate) runs: AtomicUsize,
    pub(crate) ended: AtomicUsize,
    pub(crate) gate: Notify,
}

struct DropCounter<'a>(&'a AtomicUsize);

impl Drop for DropCounter<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Tool for Probe {
    fn spec(&self, _language: Language) -> ToolSpec {
        spec("probe", "Behaves as told.")
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let _end = DropCounter(&self.ended);
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        match arguments["behaviour"].as_str().unwrap() {
            "answer" => Ok(answer(run, &context.owner)),
            "wait" => {
                self.gate.notified().await;
                Ok(answer(run, &context.owner))
            }
            "tell" => {
                for text in ["上半", "场", "结束"] {
                    context.progress.send(text);
                }
                self.gate.notified().await;
                context.progress.send("。");
                Ok(answer(run, &context.owner))
            }
            "long" => Ok(ToolOutput { content: "汉".repeat(200_000), ..ToolOutput::default() }),
            "show" => {
                let user_text = Some("**for you**".to_owned());
                Ok(ToolOutput { content: "for the model".to_owned(), user_text, ..ToolOutput::default() })
            }
            "panic" => panic!("a fault of the tool"),
            "fail" => Err(ToolCallError::new("rate_limited", "Too fast.", "慢一点".to_owned()).into()),
            _ => Err(ToolError::Fatal(anyhow::anyhow!("the end"))),
        }
    }

    fn estimated_credits(&self, _arguments: &Value) -> u64 {
        7
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(4)
    }

    fn failure_text(&self, reason: &str, _language: Language) -> String {
        format!("[{reason}]")
    }
}

pub(crate) struct Plain;

#[async_trait]
impl Tool for Plain {
    fn spec(&self, _language: Language) -> ToolSpec {
        spec("plain", "Never ends.")
    }

    async fn call(&self, _arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        std::future::pending().await
    }
}

pub(crate) fn spec(name: &str, description: &str) -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {"behaviour": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["behaviour"],
    });
    ToolSpec { name: name.to_owned(), description: description.to_owned(), parameters, examples: Vec::new() }
}

pub(crate) fn answer(run: usize, owner: &Owner) -> ToolOutput {
    let source =
        Source { index: 1, title: "T".to_owned(), url: "https://example.com/".to_owned(), excerpt: String::new() };
    let content = format!("run {run} for {}", owner.as_str());
    ToolOutput { content, summary: "1 result".to_owned(), sources: vec![source], credits: 2, ..ToolOutput::default() }
}

pub(crate) fn call(id: &str, behaviour: &str) -> ToolCall {
    named("probe", id, json!({"behaviour": behaviour}))
}

pub(crate) fn named(name: &str, id: &str, arguments: Value) -> ToolCall {
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments }
}

pub(crate) fn session(probe: &Arc<Probe>, seconds: u64) -> ToolSession {
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::clone(probe) as _, Arc::new(Plain)];
    let deadline = Instant::now() + Duration::from_secs(seconds);
    ToolRegistry::new(tools).session(ToolContext { deadline, ..context(Language::Zh) })
}

/// A turn of one minute in a language.
pub(crate) fn context(language: Language) -> ToolContext {
    ToolContext {
        language,
        time_zone: tools::TimeZone::UTC,
        owner: Owner::new("ada"),
        membership: domain::Membership::default(),
        deadline: Instant::now() + Duration::from_mins(1),
        allowed_urls: UrlAllowlist::default(),
        sources: tools::SourceNumbers::default(),
        progress: Progress::default(),
        redactor: OutboundRedactor::default(),
        calculation_budget: tools::CalculationBudget::default(),
        result_budget: tools::ResultBudget::default(),
    }
}

pub(crate) async fn refused(call: ToolCall) -> (String, String) {
    let probe = Arc::new(Probe::default());
    let ran = session(&probe, 60).run(&call).await.unwrap();
    assert_eq!(probe.runs.load(Ordering::SeqCst), 0, "a refused call does not run");
    assert!(!ran.report.ok && !ran.result.ok);
    (ran.report.error.unwrap().code, ran.result.content)
}
