//! Agents, tools, keys and articles that administrators define; other callers are rejected with `forbidden`.

#[cfg(feature = "articles")]
pub(crate) mod articles;
mod definitions;
pub(crate) mod executions;
pub(crate) mod import;
pub(crate) mod keys;
pub(crate) mod test_call;
pub(crate) mod usage;

pub(crate) use self::definitions::{Agents, Tools, create, delete, get, list, replace};
