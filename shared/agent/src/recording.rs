//! What takes a turn down: where it goes is for others to say.

use std::sync::Arc;

use domain::{Event, ToolCall};
use llm::{ModelClient, ResponseRecorder, ToolMode};
use tools::ToolRun;

use crate::{Agent, Turn};

/// Takes turns down, so that they can be run again elsewhere; never fails one.
pub trait Recorder: Send + Sync {
    /// Begins to take down a turn that is about to run, or lets it be.
    fn begin(&self, agent: &Agent, turn: &Turn<'_>) -> Option<Arc<dyn Recording>>;
}

/// One turn that is taken down; it is told things in the order in which they happen, and is not waited for.
pub trait Recording: Send + Sync {
    /// Something that clients see.
    fn event(&self, event: &Event);

    /// A model is about to be asked, and given tools in this way; gives what takes its answer down.
    fn asked(&self, model: &ModelClient, path: ToolMode) -> Arc<dyn ResponseRecorder>;

    /// A call came to its end; without a result when that ends the turn.
    fn ran(&self, call: &ToolCall, ran: Option<&ToolRun>);
}
