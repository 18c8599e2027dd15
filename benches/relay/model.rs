//! A model that answers at the requested pace, with one chunk and one write per token. If it is to search and has the tool, its
//! first reply is a call.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt;
use futures_util::stream::unfold;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::answer_spec::{self, AnswerSpec};

/// Serves until its process ends.
pub(crate) async fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    println!("http://{}", listener.local_addr().expect("a bound listener has an address"));
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("a connection takes its options"));
    let routes = Router::new().route("/v1/chat/completions", post(complete));
    axum::serve(listener, routes).await.expect("serving goes on for ever");
}

async fn complete(request: String) -> Response {
    let spec = AnswerSpec::find(&request).expect("every request holds a wish");
    let calls = spec.searches && request.contains("search_web") && !request.contains(process::RESULT_URL);
    let body = if calls { search_call().into() } else { Body::from_stream(unfold(Answer::new(spec), Answer::next)) };
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// A call in the reply's text, with a query that no earlier call had.
fn search_call() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let query = format!("weather {}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let call = json!({ "tool": "search_web", "query": query });
    chunk(&format!(r#"{},"finish_reason":null"#, json!({ "content": format!("<tool_call>{call}</tool_call>") })))
        + &end()
}

struct Answer {
    remaining: u64,
    pace: Option<Interval>,
    ended: bool,
}

impl Answer {
    fn new(spec: AnswerSpec) -> Self {
        let pace = (spec.pause > Duration::ZERO).then(|| {
            let mut pace = interval(spec.pause);
            pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
            pace
        });
        Self { remaining: spec.tokens, pace, ended: false }
    }

    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if self.ended {
            return None;
        }
        match &mut self.pace {
            Some(pace) => drop(pace.tick().await),
            // Yield, so that the connection task flushes the chunks so far.
            None => tokio::task::yield_now().await,
        }
        let chunk =
            if self.remaining == 0 { end() } else { content(&answer_spec::encode_time(answer_spec::now_micros())) };
        self.ended = self.remaining == 0;
        self.remaining = self.remaining.saturating_sub(1);
        Some((Ok(chunk.into()), self))
    }
}

fn content(token: &str) -> String {
    chunk(&format!(r#"{{"content":"{token}"}},"logprobs":null,"finish_reason":null"#))
}

fn end() -> String {
    chunk(r#"{},"logprobs":null,"finish_reason":"stop""#) + "data: [DONE]\n\n"
}

fn chunk(delta: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-BfT2Cc5SYOYWdNIQ0rt6VPbGX8Vzq\",\"object\":\"chat.completion.chunk\",\
         \"created\":1749305124,\"model\":\"gpt-4o-mini-2024-07-18\",\"service_tier\":\"default\",\
         \"system_fingerprint\":\"fp_34a54ae93c\",\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n"
    )
}
