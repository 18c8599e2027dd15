use serde_json::Value;

use crate::server::FakeServer;
use crate::{Reply, Request};

/// An endpoint of any kind on loopback that plays a script and records what it is asked.
pub struct FakeEndpoint(FakeServer);

impl FakeEndpoint {
    /// Starts one of a model's wire: it takes posts of JSON alone.
    pub async fn start() -> Self {
        Self(FakeServer::start("fake endpoint", rules).await)
    }

    /// Starts one that takes any request.
    pub async fn of_any() -> Self {
        Self(FakeServer::start("fake endpoint", |_| Vec::new()).await)
    }

    /// The base URL for the settings.
    pub fn url(&self) -> String {
        format!("http://{}", self.0.address)
    }

    /// Answers the next requests with these replies, one each.
    pub fn replies(&self, replies: impl IntoIterator<Item = Reply>) {
        self.0.queue(replies);
    }

    /// Answers requests that find no scripted reply.
    pub fn answer(&self, answer: impl Fn(&Request) -> Reply + Send + 'static) {
        self.0.answer(answer);
    }

    /// What was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        self.0.log()
    }

    /// A stream of events with these payloads.
    pub fn events(payloads: impl IntoIterator<Item = Value>) -> Reply {
        let stream = Reply::status(200).header("content-type", "text/event-stream");
        payloads.into_iter().fold(stream, |stream, payload| stream.bytes(format!("data: {payload}\n\n")))
    }
}

fn rules(request: &Request) -> Vec<(bool, &'static str)> {
    vec![(request.method == "POST", "the method is the wire's"), (request.json().is_object(), "the body is JSON")]
}
