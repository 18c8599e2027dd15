//! What the document tools share: a call runs in the pool for heavy work, over the tree of its source.

use std::marker::PhantomData;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use domain::{Language, Membership, Owner, ToolSpec};
use prompts::ToolFile;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tools::{Progress, Tool, ToolContext, ToolError, ToolMetadata, ToolOutput, arguments, schema};
use work::{LONG_WORK, StopFlag};

use crate::interrupt::Interrupt;
use crate::tree::Tree;
use crate::{DocumentError, DocumentSource};

/// Maximum duration of a scan; afterwards it returns what it has found.
const MAX_DURATION: Duration = Duration::from_secs(10);

/// Timeout of a call: it includes the wait for a thread.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Bytes that the fields around the entries of a result take.
const FRAME_BYTES: usize = 400;

/// The arguments of a document tool, which can run its calls.
pub(crate) trait Operation: DeserializeOwned + JsonSchema + Send + 'static {
    const FILE: ToolFile;
    const CATEGORY: &'static str;

    /// Runs a call. Blocks; checks the interrupt at every file and at every few lines.
    fn run(self, tree: &mut Tree, call: &Call<'_>) -> Result<ToolOutput, DocumentError>;
}

/// What a call may use.
pub(crate) struct Call<'a> {
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) language: Language,
    pub(crate) progress: Progress,
    /// Longest result.
    pub(crate) max_bytes: usize,
}

/// The tool with the arguments `O`, over a source.
pub(crate) struct DocumentTool<O> {
    source: DocumentSource,
    operation: PhantomData<fn() -> O>,
}

impl<O> DocumentTool<O> {
    pub(crate) fn new(source: DocumentSource) -> Self {
        Self { source, operation: PhantomData }
    }
}

#[async_trait]
impl<O: Operation> Tool for DocumentTool<O> {
    fn spec(&self, language: Language) -> ToolSpec {
        schema::localised_spec::<O>(&O::FILE, language)
    }

    fn metadata(&self) -> ToolMetadata {
        ToolMetadata::built_in(O::CATEGORY).in_folder(self.source.name())
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let language = context.language;
        let operation: O = arguments::parse(arguments, language)?;
        let (progress, max_bytes) = (context.progress.clone(), context.result_budget.max_bytes);
        let output =
            run_over(&self.source, (&context.owner, &context.membership), MAX_DURATION, move |tree, interrupt| {
                operation.run(tree, &Call { interrupt, language, progress, max_bytes })
            });
        output.await.map_err(|error| error.to_tool_error(self, language))
    }

    fn timeout(&self) -> Duration {
        CALL_TIMEOUT
    }
}

/// Limits the entries of a result, so that its JSON is never cut in the middle.
pub(crate) struct JsonBudget {
    remaining: usize,
}

impl JsonBudget {
    /// The budget of a result of at most this many bytes.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { remaining: max_bytes.saturating_sub(FRAME_BYTES) }
    }

    /// Takes what an entry needs as escaped JSON; false if it does not fit. Nothing fits after that.
    pub(crate) fn take(&mut self, entry: &Value) -> bool {
        let bytes = tool_calls::escape(&entry.to_string()).len() + 1;
        let remaining = self.remaining.checked_sub(bytes);
        self.remaining = remaining.unwrap_or(0);
        remaining.is_some()
    }
}

pub(crate) fn json_output(result: &Value, summary: String) -> ToolOutput {
    ToolOutput { content: tool_calls::escape(&result.to_string()), summary, ..ToolOutput::default() }
}

/// Runs `work` over what exists for a caller in the current tree of a source, as [`run_blocking`] does.
pub(crate) async fn run_over<T: Send + 'static>(
    source: &DocumentSource,
    (owner, membership): (&Owner, &Membership),
    duration: Duration,
    work: impl FnOnce(&mut Tree, &Interrupt) -> Result<T, DocumentError> + Send + 'static,
) -> Result<T, DocumentError> {
    // It keeps a temporary folder as long as the work needs it.
    let (root, access) = (source.root().await?, source.access_of(membership));
    run_blocking(owner, duration, move |interrupt| work(&mut root.tree(access)?, interrupt)).await
}

/// Runs `work` in the pool. It must check its interrupt at every file and at every few lines: the interrupt is due when
/// this future is dropped, and after `duration`.
///
/// # Errors
/// Those of `work`; `Unreadable` if it panics.
async fn run_blocking<T: Send + 'static>(
    owner: &Owner,
    duration: Duration,
    work: impl FnOnce(&Interrupt) -> Result<T, DocumentError> + Send + 'static,
) -> Result<T, DocumentError> {
    // The duration begins with the work, not with the wait for a thread.
    let run = move |stop: &StopFlag| work(&Interrupt::new(stop.clone(), Instant::now() + duration));
    LONG_WORK.run(owner, run).await.unwrap_or(Err(DocumentError::Unreadable))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn dropped_call_stops_its_scan() {
        let (started, begun) = tokio::sync::oneshot::channel();
        let (ended, end) = mpsc::channel();
        let owner = Owner::new("ada");
        let scan = run_blocking(&owner, Duration::from_mins(1), move |interrupt| {
            let _ = started.send(());
            while !interrupt.is_due() {
                std::thread::yield_now();
            }
            ended.send(()).unwrap();
            Ok(())
        });
        tokio::select! {
            _ = scan => unreachable!("the scan ends only when it is dropped"),
            begun = begun => begun.unwrap(),
        }
        end.recv_timeout(Duration::from_secs(10)).unwrap();
    }

    #[tokio::test]
    async fn scan_ends_after_its_duration() {
        let scan = |interrupt: &Interrupt| {
            while !interrupt.is_due() {
                std::thread::yield_now();
            }
            Ok(1)
        };
        assert_eq!(run_blocking(&Owner::new("bob"), Duration::ZERO, scan).await, Ok(1));
    }

    #[test]
    fn entries_count_as_escaped_json() {
        let mut budget = JsonBudget::new(FRAME_BYTES + 14);
        assert!(
            budget.take(&"abc".into()) && !budget.take(&"<<".into()),
            "two brackets take ten bytes with their quotes"
        );
        assert!(!budget.take(&"".into()), "nothing fits after the first that does not");
    }
}
