//! A minimal relay between a client and a model: it forwards the request unchanged, and the response as it arrives.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt;
use platform::transport::Client;
use tokio::net::TcpListener;

#[derive(Clone)]
struct Upstream {
    client: Client,
    model: String,
}

/// Serves a relay of the model at this address, until the process ends.
pub(crate) async fn serve(model: Option<String>) {
    let model = model.expect("the address of the model");
    let client = platform::transport::build_client().expect("a client can be made");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    println!("http://{}", listener.local_addr().expect("a bound listener has an address"));
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("a connection takes its options"));
    let routes = Router::new().route("/v1/chat/completions", post(relay)).with_state(Upstream { client, model });
    axum::serve(listener, routes).await.expect("serving goes on for ever");
}

async fn relay(State(upstream): State<Upstream>, request: Bytes) -> Response {
    let url = format!("{}/v1/chat/completions", upstream.model);
    let answer = upstream.client.post(url).header(CONTENT_TYPE, "application/json").body(request).send();
    let body = Body::from_stream(answer.await.expect("the model answers").bytes_stream());
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}
