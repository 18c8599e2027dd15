//! The checks of a deployment as the hook makes them: by invocations, of several instances. Who resumes or stops a turn comes
//! to another instance than the turn's, which is still at work.

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

use crate::instance::{LONG, binary, database, key};

const CALLER: &str = "deployment-check";

/// The model of the checks, at its own pace.
async fn model() -> String {
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

/// What an instance writes; it goes on when nobody reads it any more.
async fn written(api: Arc<RuntimeApi>, event: Value) -> Option<ResponseChunks> {
    let mut answer = api.invoke(&event, LONG).answer().await.expect_streamed();
    let (sender, pieces) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(chunk) = answer.chunk().await {
            let _gone = sender.send(chunk.into());
        }
    });
    Some(unfold(pieces, |mut pieces| async move { Some((pieces.recv().await?, pieces)) }).boxed())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_check_of_a_deployment_holds_by_invocations_across_instances() {
    let (database, model, api) = (database().await, model().await, Arc::new(RuntimeApi::start().await));
    let row = json!([{"name": CALLER, "model": CALLER, "baseUrl": model, "tools": "native", "onlyFor": CALLER}]);
    let row = row.to_string();
    let settings = [
        ("AUTH", "api_key"),
        ("ALLOW_PRIVATE_UPSTREAMS", "yes"),
        ("AWS_ENDPOINT_URL_DYNAMODB", database.as_str()),
        ("EXTRA_MODELS", &row),
    ];
    let _instances: Vec<_> = (0..3).map(|_| Function::start(binary(), &api.address(), settings)).collect();
    let key = key(&database, CALLER).await;
    let lambda = FakeLambda::start(move |event| written(Arc::clone(&api), event)).await;
    let hook = [
        ("AWS_ENDPOINT_URL_LAMBDA", lambda.address.as_str()),
        ("CHECKED_FUNCTION", FakeLambda::FUNCTION),
        ("CHECKED_VERSION", FakeLambda::VERSION),
    ];
    let version =
        InvokeTransport::from_settings(&Settings::from_pairs(hook), platform::transport::build_client().unwrap())
            .unwrap();
    let patient = Duration::from_mins(1);
    let limits = Timeouts { answer: patient, first_event: patient, turn: patient, stop: patient, close: patient };
    let wish = SmokeOptions { model: Some(CALLER.to_owned()), timeouts: limits, strict: true };
    let mut outcomes = Vec::new();
    let target = Target::with_transport(version, Secret::by_value(key));
    let good = Box::pin(smoke::run(target, wish, |outcome| outcomes.push(outcome.clone()))).await;
    assert!(good && outcomes.iter().all(|one| matches!(one.status, CheckStatus::Passed(_))), "{outcomes:#?}");
}
