use std::sync::Arc;
use std::time::Duration;

use platform::settings::{SettingError, Settings};

use crate::capabilities::MAX_ALLOCATED;
use crate::endpoint::Identities;
use crate::health::{Breakers, IdleConnections};

#[derive(Clone)]
pub(crate) struct ClientDeps {
    pub(crate) http: platform::transport::Client,
    pub(crate) idle_connections: Arc<IdleConnections>,
    pub(crate) timeouts: Timeouts,
    pub(crate) breakers: Arc<Breakers>,
    pub(crate) max_allocated_context: u64,
    pub(crate) identities: Arc<Identities>,
}

impl ClientDeps {
    pub(crate) fn new(http: platform::transport::Client, timeouts: Timeouts) -> Self {
        let (idle_connections, breakers, identities) = Default::default();
        Self { http, idle_connections, timeouts, breakers, max_allocated_context: MAX_ALLOCATED, identities }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeouts {
    /// From the request to the first byte of the answer.
    pub(crate) first_byte: Duration,
    /// Between two bytes, of comments too.
    pub(crate) idle: Duration,
    /// Between two parts of the answer.
    pub(crate) progress: Duration,
}

impl Timeouts {
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let seconds = |name, default| settings.parse_integer(name, 1..=900, default).map(Duration::from_secs);
        Ok(Self {
            first_byte: seconds("MODEL_FIRST_BYTE_SECONDS", 30)?,
            idle: seconds("MODEL_IDLE_SECONDS", 30)?,
            progress: seconds("MODEL_PROGRESS_SECONDS", 90)?,
        })
    }
}
