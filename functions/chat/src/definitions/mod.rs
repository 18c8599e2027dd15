//! Agents and tools that administrators define, and the models that a caller may use.

mod agent_definition;
mod agents;
mod cache;
mod custom_tools;
mod models;
mod resolve;

pub(crate) use self::agent_definition::AgentDefinition;
pub(crate) use self::agents::{AgentRow, Agents, DEFAULT_AGENT};
pub(crate) use self::custom_tools::CustomTools;
pub use self::models::TitleModel;
pub(crate) use self::models::VisibleModels;
pub(crate) use self::resolve::AgentCatalog;

#[cfg(test)]
pub(crate) use self::custom_tools::RESERVED_NAMES;
