//! Agents, tools, keys and articles that administrators define; other callers are rejected with `forbidden`.

pub(crate) mod agents;
#[cfg(feature = "articles")]
pub(crate) mod articles;
mod definition_view;
pub(crate) mod executions;
pub(crate) mod import;
pub(crate) mod keys;
pub(crate) mod test_call;
pub(crate) mod tools;
