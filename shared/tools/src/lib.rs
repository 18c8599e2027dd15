//! The tools that a model may call.
//!
//! Each tool is one file and one line in the list that fills a function's [`ToolRegistry`]. The registry holds the tools
//! of a deployment; a [`ToolSession`] runs the calls of one turn. The session turns every problem into a result: unknown
//! names, arguments that do not fit, timeouts, panics, results that are too long, and repeated calls.

pub mod arguments;
mod calculation_budget;
mod calculator;
mod current_time;
mod entry;
mod error;
#[cfg(test)]
mod fuzz;
pub mod markdown;
mod outbound_redactor;
mod progress;
mod registry;
pub mod schema;
mod session;
mod source_numbers;
mod time_zone;
mod tool;
pub mod url_allowlist;

pub use calculation_budget::CalculationBudget;
pub use calculator::Calculator;
pub use current_time::CurrentTime;
pub use domain::{is_invisible, strip_invisible};
pub use entry::ToolBinding;
pub use error::ToolCallError;
pub use outbound_redactor::OutboundRedactor;
pub use progress::{Progress, ProgressReceiver};
pub use registry::ToolRegistry;
pub use session::{ToolRun, ToolSession};
pub use source_numbers::SourceNumbers;
pub use time_zone::TimeZone;
pub use tool::{CitingResult, ResultBudget, Tool, ToolContext, ToolError, ToolMetadata, ToolOutput};
pub use url_allowlist::UrlAllowlist;
