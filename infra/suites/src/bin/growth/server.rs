//! The product in its own process, and the processor time that it uses.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use suites::required_variable;

use crate::arguments;
use crate::probe::Probe;
use crate::upstream::{Upstream, with_number};
use crate::watcher::Watcher;

/// Timeout of one request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

const NO_LIMIT: &str = "1000000/60s";

/// A request timed out.
#[derive(Debug)]
pub(crate) struct RequestTimeout;

/// The product.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    http: platform::transport::Client,
    /// Number of requests so far, which makes searches distinct.
    count: AtomicU64,
    agent: String,
    /// The tool that definition requests update.
    tool: String,
}

impl Server {
    /// Starts it with an empty store and an agent that has every tool.
    pub(crate) async fn start(upstream: &Upstream, watcher: &Watcher) -> Self {
        let (child, url) = launch(upstream, watcher);
        let http = platform::transport::build_client().expect("the HTTP client builds");
        let mut server = Self { child, url, http, count: AtomicU64::new(1), agent: String::new(), tool: String::new() };
        server.define(upstream).await;
        server
    }

    /// Kills the process, which is stuck in a computation, and starts another one.
    pub(crate) async fn restart(&mut self, upstream: &Upstream, watcher: &Watcher) {
        self.end();
        (self.child, self.url) = launch(upstream, watcher);
        self.define(upstream).await;
    }

    fn end(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).expect("the server runs until it is ended");
    }

    async fn define(&mut self, upstream: &Upstream) {
        let host = format!("http://{}", upstream.address);
        let parameters = json!({ "type": "object", "properties": { "id": { "type": "string" } } });
        let endpoint = json!({ "urlTemplate": format!("{host}/tool") });
        for name in ["host", "probe"] {
            let tool =
                json!({ "name": name, "description": "A host.", "endpoint": endpoint, "parameters": parameters });
            self.tool = self.create("tools", &tool).await;
        }
        let endpoint = json!({ "url": format!("{host}/mcp") });
        let files = json!({ "name": "files", "description": "Files.", "type": "mcp", "endpoint": endpoint });
        self.create("tools", &files).await;
        let mut names = vec!["host", "files", "search_web", "read_url", "calculator", "current_time"];
        let endpoint = json!({ "urlTemplate": format!("{host}/tool") });
        for (name, items) in arguments::tools() {
            self.create("tools", &arguments::definition(name, &items, &endpoint)).await;
            names.push(name);
        }
        let tools: Vec<Value> = names.iter().map(|name| json!({ "tool": name })).collect();
        self.agent = self.create("agents", &json!({ "name": "all", "tools": tools })).await;
    }

    async fn create(&self, kind: &str, document: &Value) -> String {
        let request = self.http.post(format!("{}/api/admin/{kind}", self.url)).json(document);
        let answer: Value = request.send().await.expect("it answers").json().await.expect("its answer is JSON");
        answer["id"].as_str().unwrap_or_else(|| panic!("{kind}: {answer}")).to_owned()
    }

    /// Sends a request and reads the whole response; returns the status, or `None` when the server closed the connection.
    pub(crate) async fn send(&self, probe: &Probe) -> Result<Option<u16>, RequestTimeout> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let path = probe.path.replace("{{tool}}", &self.tool);
        let mut request = self.http.request(probe.method.parse().expect("a method"), format!("{}{path}", self.url));
        for (name, value) in &probe.headers {
            request = request.header(name, value);
        }
        let body = with_number(&probe.body, number);
        let body = if body.len() < 64 * 1024 { self.with_agent(&body) } else { body };
        let answered = async {
            let answer = request.body(body).send().await.ok()?;
            let status = answer.status().as_u16();
            answer.bytes().await.ok().map(|_| status)
        };
        tokio::time::timeout(REQUEST_TIMEOUT, answered).await.map_err(|_| RequestTimeout)
    }

    fn with_agent(&self, body: &bytes::Bytes) -> bytes::Bytes {
        String::from_utf8_lossy(body).replace("{{agent}}", &self.agent).into()
    }

    /// The processor time of its threads, including kernel time.
    pub(crate) fn cpu(&self) -> Duration {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("Linux lists the threads");
        let used = threads.filter_map(|thread| {
            let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(used.sum())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn launch(upstream: &Upstream, watcher: &Watcher) -> (Child, String) {
    let mut command = Command::new(required_variable("SERVER"));
    command.args(["--ephemeral", "--port", "0"]).env_clear().envs(settings(upstream, watcher));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the server starts");
    let printed = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
    let url = printed.map_while(Result::ok).find_map(|line| address(&line)).expect("it prints its address");
    (child, url)
}

fn settings(upstream: &Upstream, watcher: &Watcher) -> Vec<(&'static str, String)> {
    let (host, slow) = (format!("http://{}", upstream.address), format!("http://{}/v1", watcher.address));
    let slow =
        json!([{ "name": "slow", "baseUrl": slow, "model": "slow", "apiKeyVar": "OPENAI_API_KEY", "tools": "prompt" }]);
    vec![
        ("OPENAI_BASE_URL", format!("{host}/v1")),
        ("OPENAI_MODEL", "scripted".to_owned()),
        ("OPENAI_API_KEY", "key".to_owned()),
        ("TITLE_MODEL", "none".to_owned()),
        ("MODELS", slow.to_string()),
        ("DEFAULT_MODEL", "openai".to_owned()),
        ("TAVILY_BASE_URL", host),
        ("TAVILY_API_KEY", "key".to_owned()),
        ("CHAT_RATE_LIMIT", NO_LIMIT.to_owned()),
        ("SEARCH_RATE_LIMIT", NO_LIMIT.to_owned()),
        ("ALLOW_PRIVATE_TOOLS", "yes".to_owned()),
        ("TURN_SECONDS", "120".to_owned()),
        ("RUST_LOG", "off".to_owned()),
    ]
}

fn address(line: &str) -> Option<String> {
    let start = line.find("http://127.0.0.1:")?;
    line[start..].split_whitespace().next().map(str::to_owned)
}
