//! A server and the cached mode of its protocol.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use egress::Egress;
use secrecy::{ExposeSecret, SecretString};
use store::RateLimiter;
use work::lock;

use crate::http::{Credentials, ServerEndpoint, ToolDefinition};

/// The state of a server in this process.
pub(super) struct Connection {
    pub(super) definition: ToolDefinition,
    pub(super) endpoint: ServerEndpoint,
    pub(super) egress: Egress,
    pub(super) credentials: Credentials,
    pub(super) limiter: RateLimiter,
    /// `None` until the server has replied.
    pub(super) mode: Mutex<Option<ProtocolMode>>,
    pub(super) ids: AtomicU64,
}

/// The protocol mode of a server.
#[derive(Clone, Debug)]
pub(super) enum ProtocolMode {
    /// Every request is independent.
    Stateless,
    /// The handshake is not done yet.
    New,
    /// The handshake is done.
    Session {
        /// The session id, if the server uses sessions.
        id: Option<SecretString>,
        /// The negotiated version.
        version: String,
    },
}

impl ProtocolMode {
    pub(super) fn session(&self) -> Option<&SecretString> {
        if let Self::Session { id, .. } = self { id.as_ref() } else { None }
    }
}

impl Connection {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.endpoint.timeout_seconds))
    }

    /// Forgets an expired session, unless another call has already replaced it.
    pub(super) fn forget_session(&self, expired: &ProtocolMode) {
        let id = |mode: &ProtocolMode| mode.session().map(|id| id.expose_secret().to_owned());
        lock(&self.mode).take_if(|mode| id(mode) == id(expired));
    }
}
