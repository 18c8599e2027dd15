//! The checks of a deployment as the deployment hook makes them: by invocations of several instances. Requests to resume or
//! stop a turn reach another instance than the one that runs it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Json;
use axum::response::Response;
use axum::routing::post;
use futures_util::StreamExt;
use futures_util::stream::{iter, unfold};
use platform::secrets::Secret;
use platform::settings::Settings;
use runtime_api::{Function, RuntimeApi};
use serde_json::{Value, json};
use smoke::{CheckStatus, SmokeOptions, Target, Timeouts};
use support::{FakeLambda, ResponseChunks, serve_router};
use tokio::sync::mpsc;
use tokio::time::sleep;
use verify::{ChatRequest, InvokeTransport, Script};

use crate::instance::{INVOCATION_TIME, binary, create_key, start_database};

const CALLER: &str = "deployment-check";

/// Starts the model of the checks, which answers by script, and returns its URL.
async fn start_model() -> String {
    let answer = async |Json(question): Json<ChatRequest>| {
        let script = Script::for_request(&question);
        let lines = iter(script.lines).then(move |line| async move {
            sleep(script.interval).await;
            Ok::<_, std::io::Error>(line)
        });
        Response::builder().header("content-type", "text/event-stream").body(Body::from_stream(lines)).unwrap()
    };
    serve_router(Router::new().route("/chat/completions", post(answer))).await
}

/// The response of an instance, in chunks. The instance continues when the receiver is gone.
async fn invoke(api: Arc<RuntimeApi>, event: Value) -> Option<ResponseChunks> {
    let mut answer = api.invoke(&event, INVOCATION_TIME).answer().await.expect_streamed();
    let (sender, chunks) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(chunk) = answer.chunk().await {
            let _gone = sender.send(chunk.into());
        }
    });
    Some(unfold(chunks, |mut chunks| async move { Some((chunks.recv().await?, chunks)) }).boxed())
}

#[tokio::test(flavor = "multi_thread")]
async fn deployment_checks_pass_across_instances() {
    let (database, model, api) = (start_database().await, start_model().await, Arc::new(RuntimeApi::start().await));
    let row = json!([{"name": CALLER, "model": CALLER, "baseUrl": model, "tools": "native", "onlyFor": CALLER}]);
    let row = row.to_string();
    let settings = [
        ("AUTH", "api_key"),
        ("ALLOW_PRIVATE_UPSTREAMS", "yes"),
        ("AWS_ENDPOINT_URL_DYNAMODB", database.as_str()),
        ("EXTRA_MODELS", &row),
    ];
    let _instances: Vec<_> = (0..3).map(|_| Function::start(binary(), &api.address(), settings)).collect();
    let key = create_key(&database, CALLER).await;
    let lambda = FakeLambda::start(move |event| invoke(Arc::clone(&api), event)).await;
    let hook = [
        ("AWS_ENDPOINT_URL_LAMBDA", lambda.address.as_str()),
        ("CHECKED_FUNCTION", FakeLambda::FUNCTION),
        ("CHECKED_VERSION", FakeLambda::VERSION),
    ];
    let version =
        InvokeTransport::from_settings(&Settings::from_pairs(hook), platform::transport::build_client().unwrap())
            .unwrap();
    let timeout = Duration::from_mins(1);
    let timeouts = Timeouts { answer: timeout, first_event: timeout, turn: timeout, stop: timeout, close: timeout };
    let options = SmokeOptions { model: Some(CALLER.to_owned()), timeouts, strict: true };
    let mut outcomes = Vec::new();
    let target = Target::with_transport(version, Secret::by_value(key));
    let good = Box::pin(smoke::run(target, options, |outcome| outcomes.push(outcome.clone()))).await;
    assert!(good && outcomes.iter().all(|one| matches!(one.status, CheckStatus::Passed(_))), "{outcomes:#?}");
}
