use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, Membership, Owner, Source, ToolSpec};
use prompts::{ToolTexts, fill};
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::{CalculationBudget, OutboundRedactor, Progress, SourceNumbers, TimeZone, ToolCallError, UrlAllowlist};

/// A tool that a model may call. Each tool has one file in this crate and one line in the list of tools.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Returns the description that the model reads. Only its texts depend on the language.
    fn spec(&self, language: Language) -> ToolSpec;

    /// Returns what the tool is, for people and clients.
    fn metadata(&self) -> ToolMetadata {
        ToolMetadata::built_in("general")
    }

    /// Runs one call whose arguments fit the schema.
    ///
    /// The caller may drop the future at any time: when the turn ends or when the timeout has passed. A dropped call
    /// must not leave work running. Dropping is the only stop signal; a cancellation token would add nothing. A
    /// computation that does not yield needs a guard that stops it on drop in any case (see the calculator).
    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;

    /// Returns the deduplication key of `arguments`: within a turn, calls with equal keys are one call, even if their
    /// arguments differ.
    fn dedup_key(&self, arguments: &Value) -> Value {
        arguments.clone()
    }

    /// Returns the maximum number of credits that a call costs by the price list.
    fn estimated_credits(&self, _arguments: &Value) -> u64 {
        0
    }

    /// Returns the timeout of one call; the turn's own deadline comes first.
    fn timeout(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Wraps the content of a result for the model, after the session has truncated it. The default returns it
    /// unchanged.
    fn wrap_result(&self, content: String) -> String {
        content
    }

    /// Returns the text for the model when a call failed for `reason`, a short sentence in that language.
    fn failure_text(&self, reason: &str, language: Language) -> String {
        fill(ToolTexts::of(language).failed, &[("reason", reason)])
    }
}

/// What a tool is, for people and clients; models do not read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolMetadata {
    /// The kind of its work, such as `search`.
    pub category: &'static str,
    /// Whether it is part of the product and not defined by an administrator.
    pub internal: bool,
    /// The version of its arguments and results; absent for a tool that an administrator defines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<&'static str>,
    /// The name of the folder to which the paths in its arguments are relative, never a path of the machine; absent for a
    /// tool without paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

impl ToolMetadata {
    /// A tool of the product in this category.
    pub fn built_in(category: &'static str) -> Self {
        Self { category, internal: true, version: Some("1.0.0"), cwd: None }
    }

    /// This tool with paths relative to the folder of that name.
    #[must_use]
    pub fn in_folder(self, cwd: impl Into<String>) -> Self {
        Self { cwd: Some(cwd.into()), ..self }
    }

    /// A tool that an administrator defines.
    pub fn custom() -> Self {
        Self { category: "custom", internal: false, version: None, cwd: None }
    }
}

/// The part of a turn that its calls can see.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The user for whom the call runs.
    pub owner: Owner,
    /// Decides what the call may use of what is for groups.
    pub membership: Membership,
    /// The language of all texts for the model.
    pub language: Language,
    /// The time zone in which the model is given dates and times.
    pub time_zone: TimeZone,
    /// When the turn ends.
    pub deadline: Instant,
    /// The URLs of the conversation so far, including its history; the session adds the sources of each result.
    pub allowed_urls: UrlAllowlist,
    /// The numbers of the conversation's pages, which all calls of the turn share.
    pub sources: SourceNumbers,
    /// The channel for the call's progress; the session gives each call its own.
    pub progress: Progress,
    /// Replaces personal data in the arguments that a call sends to a host.
    pub redactor: OutboundRedactor,
    /// The work budget that the calculations of the turn share.
    pub calculation_budget: CalculationBudget,
    /// How much each result may contain for the model.
    pub result_budget: ResultBudget,
}

/// How much a result may contain for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultBudget {
    /// Maximum length of the text, in bytes; the session truncates what is longer.
    pub max_bytes: usize,
    /// Maximum number of entries of a list, such as search results.
    pub max_entries: usize,
}

impl ResultBudget {
    /// Maximum length in any case, in bytes.
    pub const MAX_BYTES: usize = 256 * 1024;
}

impl Default for ResultBudget {
    fn default() -> Self {
        Self { max_bytes: Self::MAX_BYTES, max_entries: usize::MAX }
    }
}

/// The result of a successful call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// The text for the model.
    pub content: String,
    /// The text for the user, in Markdown, where it differs; blank if there is nothing for a user to read.
    pub user_text: Option<String>,
    /// A short text for a status line.
    pub summary: String,
    /// Pages to cite.
    pub sources: Vec<Source>,
    /// Whether it came from a cache that an earlier call of the same user had filled.
    pub cached: bool,
    /// Credits that it cost this user, or the other user whose call fetched it.
    pub credits: u64,
    /// Replaces the texts and the sources by those with the turn's numbers.
    pub citing: Option<Arc<dyn CitingResult>>,
}

/// A result that names pages by their numbers. It is rendered when a call of the model gets it: a prefetched result
/// that no call uses gives no numbers.
pub trait CitingResult: Debug + Send + Sync {
    /// Renders the texts and the sources, `for_user` also as an answer; each page gets its number.
    fn render(&self, numbers: &SourceNumbers, for_user: bool) -> ToolOutput;
}

/// Whether both are the same result, not equal ones.
impl PartialEq for dyn CitingResult {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self, other)
    }
}

impl ToolOutput {
    /// Renders a result that names pages, `for_user` also as an answer; any other one keeps the numbers that it has.
    pub(crate) fn with_numbers(self, numbers: &SourceNumbers, for_user: bool) -> Self {
        let Some(citing) = &self.citing else {
            numbers.adopt(&self.sources);
            return self;
        };
        Self { cached: self.cached, credits: self.credits, ..citing.render(numbers, for_user) }
    }
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The model reads it, and the turn continues.
    #[error("{}", .0.failure.message)]
    Model(ToolCallError),
    /// Ends the turn.
    #[error(transparent)]
    Fatal(#[from] anyhow::Error),
}

impl From<ToolCallError> for ToolError {
    fn from(error: ToolCallError) -> Self {
        Self::Model(error)
    }
}

impl ToolCallError {
    /// The tool or the turn ran out of time.
    pub(crate) fn timeout(tool: &dyn Tool, language: Language) -> Self {
        let content = tool.failure_text(ToolTexts::of(language).timed_out, language);
        Self::new("timeout", "The tool took too long and was stopped.", content)
    }

    /// The tool itself is faulty.
    pub fn failed(tool: &dyn Tool, language: Language) -> Self {
        let content = tool.failure_text(ToolTexts::of(language).broken, language);
        Self::new("failed", "The tool failed.", content)
    }
}
