use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Records the responses of an endpoint to one call, attempt by attempt, so that they can be replayed.
///
/// It receives no request, no key and no address. Its methods must not block.
pub trait ResponseRecorder: Send + Sync {
    /// Records the head of a response: status, content type (empty if there is none) and the requested wait, if any.
    fn record_head(&self, _status: u16, _content_type: &str, _retry_after: Option<Duration>) {}

    /// Records a chunk of the body, as received from the network.
    fn record_chunk(&self, _bytes: &[u8]) {}

    /// Records the end of the attempt; also called if there was no response.
    fn record_end(&self, _end: AttemptEnd) {}
}

/// How an attempt ended on the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptEnd {
    /// The body was complete, or the rest of it was not needed.
    #[serde(rename = "whole")]
    Complete,
    /// The connection was lost, before or during the response.
    #[serde(rename = "cut")]
    Disconnected,
    /// A timeout, before or during the response.
    #[serde(rename = "silent")]
    TimedOut,
    /// The connection could not be made.
    Unreachable,
}
