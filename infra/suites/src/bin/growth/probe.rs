use std::time::Duration;

use bytes::Bytes;

/// One request of a given size, with the upstream servers' responses to it.
#[derive(Clone)]
pub(crate) struct Probe {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
    pub(crate) plan: UpstreamResponses,
}

/// Responses of the scripted servers; `{{id}}` is replaced with the number of the request.
#[derive(Clone, Default)]
pub(crate) struct UpstreamResponses {
    /// The model's response to the question; a short one if this is empty.
    pub(crate) model: Bytes,
    /// The search provider's response.
    pub(crate) search: Bytes,
    /// The response of the custom tool's host.
    pub(crate) tool: Bytes,
}

impl Probe {
    /// A request with a JSON body.
    pub(crate) fn post(path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { method: "POST", path: path.into(), headers, body: body.into(), plan: UpstreamResponses::default() }
    }

    /// A request without a body.
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self {
            method: "GET",
            path: path.into(),
            headers: Vec::new(),
            body: Bytes::new(),
            plan: UpstreamResponses::default(),
        }
    }

    #[must_use]
    pub(crate) fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    #[must_use]
    pub(crate) fn plan(mut self, plan: UpstreamResponses) -> Self {
        self.plan = plan;
        self
    }
}

/// Builds an input of a size in bytes or entries.
pub(crate) type Make = Box<dyn Fn(usize) -> Probe + Send + Sync>;

/// A pattern of inputs.
pub(crate) struct Pattern {
    pub(crate) name: String,
    pub(crate) make: Make,
}

/// A kind of input with its patterns.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// The largest size that the product accepts, or slightly less.
    pub(crate) largest: usize,
    pub(crate) patterns: Vec<Pattern>,
}

impl Kind {
    /// The delay of another user that fails the suite, even on a busy machine and with an unoptimised build. Replies have a
    /// stricter one, because any user can make a model write one.
    pub(crate) fn max_delay(&self) -> Duration {
        let is_reply = self.name.starts_with("reply,");
        let is_large = self.largest > 64 * 1024;
        Duration::from_millis(if !is_reply {
            2_000
        } else if is_large {
            500
        } else {
            250
        })
    }
}
