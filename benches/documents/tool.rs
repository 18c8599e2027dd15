use std::sync::Arc;
use std::time::Duration;

use documents::DocumentSource;
use domain::{Language, Membership, Owner};
use serde_json::{Value, json};
use tools::{OutboundRedactor, Progress, ResultBudget, Tool, ToolContext, UrlAllowlist};

/// The document tools, as a turn calls them.
pub(crate) struct DocumentTools(Vec<Arc<dyn Tool>>);

/// The numbers of a result.
pub(crate) struct Found {
    pub(crate) lines: u64,
    pub(crate) files: u64,
    /// Whether a limit ended the scan.
    pub(crate) is_cut: bool,
}

impl DocumentTools {
    pub(crate) fn new(source: &DocumentSource) -> Self {
        Self(documents::tools(source))
    }

    /// Searches all files, or those of a glob.
    pub(crate) async fn grep(&self, pattern: &str, include: &str) -> Found {
        let found = self.call("grep_search", json!({"pattern": pattern, "include": include})).await;
        let number = |name: &str| found[name].as_u64().expect("a number");
        let is_incomplete = found["note"].as_str().is_some_and(|note| note.contains("Not all"));
        Found { lines: number("count"), files: number("files"), is_cut: is_incomplete }
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Value {
        let tool = self.0.iter().find(|tool| tool.spec(Language::En).name == name).expect("the tool exists");
        let output = tool.call(arguments, &context()).await;
        let output = output.map_err(|_| "the call failed").expect("a result");
        serde_json::from_str(&output.content).expect("JSON")
    }
}

fn context() -> ToolContext {
    ToolContext {
        language: Language::En,
        time_zone: tools::TimeZone::UTC,
        owner: Owner::new("bench"),
        membership: Membership::default(),
        deadline: tokio::time::Instant::now() + Duration::from_mins(10),
        allowed_urls: UrlAllowlist::default(),
        sources: tools::SourceNumbers::default(),
        progress: Progress::default(),
        redactor: OutboundRedactor::default(),
        calculation_budget: tools::CalculationBudget::default(),
        result_budget: ResultBudget::default(),
    }
}
