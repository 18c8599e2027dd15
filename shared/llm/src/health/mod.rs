//! The health of endpoints, models and connections, as observed in calls.

pub(crate) mod breaker;
mod idle_connections;
mod model_health;

pub(crate) use breaker::{Breakers, endpoint_key};
pub(crate) use idle_connections::IdleConnections;
pub(crate) use model_health::{CallHealth, ModelHealth};
