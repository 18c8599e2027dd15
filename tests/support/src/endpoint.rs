use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use serde_json::Value;

use crate::server::FakeServer;
use crate::{Reply, Request};

/// A scripted HTTP endpoint on loopback that records its requests.
pub struct FakeEndpoint(FakeServer);

impl FakeEndpoint {
    /// Starts an LLM endpoint: it accepts only `POST` requests with a JSON body.
    pub async fn start() -> Self {
        Self(FakeServer::start("fake endpoint", rules).await)
    }

    /// Starts an endpoint that accepts any request.
    pub async fn start_permissive() -> Self {
        Self(FakeServer::start("fake endpoint", |_| Vec::new()).await)
    }

    /// The base URL for the settings.
    pub fn url(&self) -> String {
        format!("http://{}", self.0.address)
    }

    /// Queues replies for the next requests, one each.
    pub fn queue_replies(&self, replies: impl IntoIterator<Item = Reply>) {
        self.0.queue_replies(replies);
    }

    /// Sets the function that answers requests when the queue is empty.
    pub fn respond_with(&self, responder: impl Fn(&Request) -> Reply + Send + 'static) {
        self.0.respond_with(responder);
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.0.requests()
    }

    /// A stream of events with these payloads.
    pub fn events(payloads: impl IntoIterator<Item = Value>) -> Reply {
        let stream = Reply::status(200).header("content-type", "text/event-stream");
        payloads.into_iter().fold(stream, |stream, payload| stream.bytes(format!("data: {payload}\n\n")))
    }

    /// A stream in AWS's binary framing of events with these types and payloads.
    pub fn binary_events(events: impl IntoIterator<Item = (&'static str, Value)>) -> Reply {
        let stream = Reply::status(200).header("content-type", "application/vnd.amazon.eventstream");
        events.into_iter().fold(stream, |stream, (kind, payload)| {
            let headers = [(":message-type", "event"), (":event-type", kind)];
            let header =
                |(name, value): (&'static str, &'static str)| Header::new(name, HeaderValue::String(value.into()));
            let message = Message::new_from_parts(headers.map(header).into(), payload.to_string().into_bytes());
            let mut frame = Vec::new();
            write_message_to(&message, &mut frame).expect("the frame is valid");
            stream.bytes(frame)
        })
    }
}

fn rules(request: &Request) -> Vec<(bool, &'static str)> {
    vec![(request.method == "POST", "the method is the wire's"), (request.json().is_object(), "the body is JSON")]
}
