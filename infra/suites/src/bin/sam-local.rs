//! The built function under `sam local start-api`, in a container: sends HTTP requests, and reads the stored items from
//! the embedded DynamoDB of the local server. The database listens on loopback only, so a forwarder on the bridge between
//! host and containers passes connections on. Containers use Docker Desktop's name of the host.
#![expect(clippy::unwrap_used, reason = "what a suite expects and does not find ends it")]

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use suites::{Tool, events, forward, only, print_passed, required_variable};
use support::{Completion, FakeModel, FakeTavily, MODEL, MODEL_KEY, SEARCH_KEY};
use tokio::process::Command;

/// Table names, which the emulator derives from the template's resources.
const TABLES: [(&str, &str); 2] = [("DATA_TABLE", "DataTable"), ("EPHEMERAL_TABLE", "EphemeralTable")];

/// Host name by which containers reach their host.
const HOST_NAME: &str = "host.docker.internal";

/// Timeout for the start of a container, even on a busy machine.
const CONTAINER_TIMEOUT: Duration = Duration::from_mins(3);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let bridge: IpAddr = required_variable("BRIDGE").parse().unwrap();
    let (model, search) = (FakeModel::start().await, FakeTavily::start().await);
    let (server, local_url, database) = start_local_server().await;
    let database = forward(bridge, database).await;
    let upstreams = [model.url(), search.url()];
    let mut parameters = vec![
        "Architecture=x86_64".to_owned(),
        "Auth=none".to_owned(),
        format!("DynamodbEndpoint=http://{HOST_NAME}:{}", database.port()),
        format!("OpenaiModel={MODEL}"),
        "TitleModel=none".to_owned(),
    ];
    for (name, url) in ["OpenaiBaseUrl", "TavilyBaseUrl"].into_iter().zip(upstreams) {
        parameters.push(format!("{name}={}", forward_url(bridge, &url).await));
    }
    let (sam, api) = start_api(bridge, &parameters).await;

    check_whole_responses(&api).await;
    check_turn(&model, &api, &local_url).await;
    sam.stop().await;
    server.stop().await;
}

/// Starts the product on this machine with a database that a forwarder can reach. Returns its URL and the database.
async fn start_local_server() -> (Tool, String, SocketAddr) {
    let started = Tool::start_listening(|[address, database]| {
        let mut command = Command::new(required_variable("SERVER"));
        command.args(["--ephemeral", "--port", &address.port().to_string(), "--dynamodb", &database.to_string()]);
        command.env_clear().envs(TABLES);
        command
    });
    let (server, [address, database]) = started.await;
    (server, format!("http://{address}"), database)
}

/// Returns the same URL for use in containers.
async fn forward_url(bridge: IpAddr, url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (address, path) = rest.split_once('/').unwrap_or((rest, ""));
    let forwarded = forward(bridge, address.parse().unwrap()).await;
    format!("http://{forwarded}/{path}").trim_end_matches('/').to_owned()
}

async fn start_api(bridge: IpAddr, parameters: &[String]) -> (Tool, String) {
    let template = with_keys(&PathBuf::from(required_variable("SAM_BUILD")));
    let started = Tool::start_listening(|[address]| {
        let mut command = Command::new("sam");
        command.args(["local", "start-api", "--skip-pull-image", "--warm-containers", "LAZY"]);
        command.args(["--host", "127.0.0.1", "--port", &address.port().to_string()]);
        command.args(["--add-host", &format!("{HOST_NAME}:{bridge}")]);
        command.arg("--template").arg(&template).arg("--parameter-overrides").args(parameters);
        command
    });
    let (sam, [address]) = started.await;
    (sam, format!("http://{address}"))
}

/// Adds keys to the built template's environment, because the services for real keys have no emulator.
fn with_keys(folder: &Path) -> PathBuf {
    let template = std::fs::read_to_string(folder.join("template.yaml")).unwrap();
    let keys = format!("Variables:\n        OPENAI_API_KEY: {MODEL_KEY}\n        TAVILY_API_KEY: {SEARCH_KEY}\n");
    assert!(template.contains("      Variables:\n        "), "the variables stand where they did");
    let path = folder.join("with-keys.yaml");
    std::fs::write(&path, template.replacen("Variables:\n", &keys, 1)).unwrap();
    path
}

fn http() -> platform::transport::Client {
    platform::transport::build_client().unwrap()
}

async fn get(url: &str) -> (u16, String) {
    let answer = http().get(url).timeout(CONTAINER_TIMEOUT).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

async fn check_whole_responses(api: &str) {
    let (status, page) = get(&format!("{api}/")).await;
    assert_eq!((status, page.contains("<html")), (200, true), "{page}");
    print_passed("the page comes out of the container");
    let (status, health) = get(&format!("{api}/healthz")).await;
    assert_eq!((status, health.contains(r#""status":"ok""#)), (200, true), "{health}");
    let (status, missing) = get(&format!("{api}/api/nowhere")).await;
    assert_eq!((status, missing.contains("not_found")), (404, true), "{missing}");
    print_passed("health and an unknown path are answered");
}

async fn check_turn(model: &FakeModel, api: &str, local_url: &str) {
    model.queue_replies([
        Completion::of([r#"<tool_call>{"tool": "search_web", "query": "茶"}</tool_call>"#]),
        Completion::of(["茶是一种饮料。"]),
    ]);
    let request = http().post(format!("{api}/api/chat")).header("x-user-id", "wang");
    let answer = request.json(&json!({ "message": "茶是什么？" })).timeout(CONTAINER_TIMEOUT).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "text/event-stream; charset=utf-8");
    let events = events(&answer.text().await.unwrap());
    assert_eq!(only(&events, "done")["finishReason"], "stop");
    assert_eq!(only(&events, "tool_result")["ok"], true);
    print_passed("a turn with a search comes whole, as an event stream");

    let id = only(&events, "start")["conversationId"].as_str().unwrap();
    let request = http().get(format!("{local_url}/api/conversations/{id}")).header("x-user-id", "wang");
    let stored: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(stored["messages"][1]["content"], "茶是一种饮料。", "{stored}");
    print_passed("the local server finds the conversation in its own DynamoDB");
}
