//! Agents, tools, keys and articles that administrators define; other callers are rejected with `forbidden`.

mod agents;
#[cfg(feature = "articles")]
pub(crate) mod articles;
mod definitions;
pub(crate) mod executions;
pub(crate) mod import;
pub(crate) mod keys;
pub(crate) mod test_call;
mod tools;

pub(crate) use self::agents::Agents;
pub(crate) use self::definitions::{create, delete, get, list, replace};
pub(crate) use self::tools::Tools;
