//! Upstream servers of the product: a model, a search provider and hosts of tools, on their own thread.

use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::probe::UpstreamResponses;
use crate::requests::{call, stream};

/// The scripted servers, on one address.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    script: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    plan: UpstreamResponses,
    /// Questions that were answered once: the next request for them contains a result.
    answered: HashSet<u64>,
}

type Shared = State<Arc<Mutex<Script>>>;

impl Upstream {
    /// Starts the servers; they run until the program ends.
    pub(crate) fn start() -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let script = Arc::new(Mutex::new(Script::default()));
        let router = Router::new()
            .route("/v1/chat/completions", post(model))
            .route("/search", post(search))
            .route("/extract", post(search))
            .route("/tool", get(tool))
            .route("/mcp", post(mcp))
            .with_state(Arc::clone(&script));
        std::thread::spawn(move || serve(listener, router));
        Self { address, script }
    }

    /// Replaces the plan for all later requests.
    pub(crate) fn set_plan(&self, plan: &UpstreamResponses) {
        lock(&self.script).plan = plan.clone();
    }
}

fn serve(listener: std::net::TcpListener, router: Router) {
    listener.set_nonblocking(true).expect("a listener can be made to wait for nobody");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a thread is enough");
    runtime.block_on(async move {
        let listener = TcpListener::from_std(listener).expect("the runtime takes the listener");
        let router = router.layer(axum::extract::DefaultBodyLimit::disable());
        axum::serve(listener, router).await.expect("the servers run until the program ends");
    });
}

fn lock(script: &Mutex<Script>) -> MutexGuard<'_, Script> {
    script.lock().expect("no answer panics")
}

/// Returns the number in the last question of a request; 0 if there is none.
fn number(body: &[u8]) -> u64 {
    let at = body.windows(3).rposition(|window| window == b"go-").map_or(body.len(), |at| at + 3);
    let digits = body[at..].iter().take_while(|byte| byte.is_ascii_digit());
    digits.take(9).fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

async fn model(State(script): Shared, body: Bytes) -> Response {
    let (number, mut script) = (number(&body), lock(&script));
    let planned = !script.plan.model.is_empty() && number > 0 && script.answered.insert(number);
    let answer = if planned { with_number(&script.plan.model, number) } else { stream([json!({ "content": "ok" })]) };
    ([(CONTENT_TYPE, "text/event-stream")], answer).into_response()
}

async fn search(State(script): Shared, body: Bytes) -> Response {
    let digits: Vec<u8> = body.iter().copied().filter(u8::is_ascii_digit).collect();
    let text = with_number(&lock(&script).plan.search, String::from_utf8_lossy(&digits).parse().unwrap_or_default());
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}

async fn tool(State(script): Shared) -> Response {
    let answer = lock(&script).plan.tool.clone();
    let kind = if answer.first().is_some_and(|byte| b"[{".contains(byte)) { "application/json" } else { "text/plain" };
    ([(CONTENT_TYPE, kind)], answer).into_response()
}

/// An MCP server with one tool, whose result is the planned text.
async fn mcp(State(script): Shared, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let tool = json!({ "name": "one", "description": "One.", "inputSchema": { "type": "object" } });
    let result = match request["method"].as_str() {
        Some("tools/call") => {
            let text = String::from_utf8_lossy(&lock(&script).plan.tool).into_owned();
            json!({ "content": [{ "type": "text", "text": text }] })
        }
        Some("tools/list") => json!({ "tools": [tool] }),
        _ => json!({}),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
    ([(CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

/// Inserts the number of the request into a template.
pub(crate) fn with_number(template: &Bytes, number: u64) -> Bytes {
    const SLOT: &[u8] = b"{{id}}";
    if !template.windows(SLOT.len()).any(|window| window == SLOT) {
        return template.clone();
    }
    String::from_utf8_lossy(template).replace("{{id}}", &number.to_string()).into()
}

/// A model response that calls the MCP server's tool.
pub(crate) fn mcp_call() -> Bytes {
    call("files_one", &json!({}))
}
