//! The tools that a model may call.
//!
//! Each tool is one file in this crate and one line in the list that fills a function's [`ToolRegistry`]. The registry
//! holds the tools of a deployment; a [`ToolSession`] runs the calls of one turn. The session turns every problem into
//! a result: unknown names, arguments that do not fit, timeouts, panics, results that are too long, and repeated calls.

mod arguments;
mod bound;
mod calculator;
mod current_time;
mod event_stream;
#[cfg(test)]
mod fuzz;
pub mod http;
mod known_pages;
mod markdown;
pub mod mcp;
mod memo;
mod outgoing;
mod page;
mod progress;
mod read_url;
mod refusal;
mod registry;
mod schema;
mod search;
mod session;
mod tavily;
mod tool;
mod web_search;

pub use calculator::{CalculationBudget, Calculator};
pub use current_time::CurrentTime;
pub use known_pages::KnownPages;
pub use outgoing::Outgoing;
pub use progress::Progress;
pub use read_url::ReadUrl;
pub use registry::{ToolBinding, ToolRegistry};
pub use search::{Budget, CreditWatch, DailySearches, RefusedBy, Search, SearchConfig};
pub use session::{Ran, ToolSession};
pub use tool::{Tool, ToolContext, ToolError, ToolOutput};
pub use web_search::WebSearch;
