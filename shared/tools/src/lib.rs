//! The tools that a model may call.
//!
//! Each tool is one file in this crate and one line in the list that fills a function's [`ToolRegistry`]. The registry
//! holds the tools of a deployment; a [`ToolSession`] runs the calls of one turn. The session turns every problem into
//! a result: unknown names, arguments that do not fit, timeouts, panics, results that are too long, and repeated calls.

mod arguments;
mod calculator;
mod call_error;
mod current_time;
mod event_stream;
mod fixed_arguments;
#[cfg(test)]
mod fuzz;
pub mod http;
mod markdown;
pub mod mcp;
mod memo;
mod outbound_redactor;
mod page;
mod progress;
mod read_url;
mod registry;
mod schema;
mod search;
mod session;
mod tavily;
mod tool;
mod url_allowlist;
mod web_search;

pub use calculator::{CalculationBudget, Calculator};
pub use current_time::CurrentTime;
pub use outbound_redactor::OutboundRedactor;
pub use progress::Progress;
pub use read_url::ReadUrl;
pub use registry::{ToolBinding, ToolRegistry};
pub use search::{CreditBudget, CreditLimit, CreditObserver, DailySearchLimits, Search, SearchConfig};
pub use session::{ToolRun, ToolSession};
pub use tool::{Tool, ToolContext, ToolError, ToolOutput};
pub use url_allowlist::UrlAllowlist;
pub use web_search::WebSearch;
