use domain::{CallPosition, ToolCall, ToolOutcome};
use tokio::time::Instant;

/// A call and, once it has finished, its outcome and cost.
#[derive(Clone, Copy, Debug)]
pub struct CallRecord<'a> {
    /// As the model made it.
    pub call: &'a ToolCall,
    /// `None` while it runs.
    pub outcome: Option<&'a ToolOutcome>,
    /// What the turn had written before it.
    pub position: CallPosition,
    /// When the model made it.
    pub called_at: Instant,
    /// The length of the result that the model reads, in bytes.
    pub bytes: usize,
    /// Credits that the search provider charged for it.
    pub credits: u64,
}
