//! A host named `api.example.com` on loopback, and definitions that call it.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use domain::ToolCall;
use domain::{Language, Membership, Owner};
use dynoxide::Database;
use egress::{Egress, Network, Policy};
use platform::settings::Settings;
use serde_json::{Value, json};
use store::{Store, TableNames, create_tables, sdk_config};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::{Duration, Instant};
use tools::{
    CalculationBudget, OutboundRedactor, Progress, ResultBudget, Tool, ToolCallError, ToolContext, ToolError,
    ToolOutput, ToolRegistry, UrlAllowlist,
};

use crate::http::{Endpoint, HttpTool, Rules, ToolDefinition, ToolSecrets};

/// These tests do not use TLS.
pub(crate) const OPEN: Policy = Policy::public().with_http();

/// Replies to each connection with the next reply, and repeats the last one; it records the requests.
pub(crate) struct Host {
    address: SocketAddr,
    received: Arc<Mutex<Vec<String>>>,
}

struct SingleHostNetwork(SocketAddr);

#[async_trait]
impl Network for SingleHostNetwork {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let public = IpAddr::from([93, 184, 215, 14]);
        if name == "api.example.com" { Ok(vec![public]) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn connect_address(&self, _: SocketAddr) -> SocketAddr {
        self.0
    }
}

impl Host {
    pub(crate) async fn answering(answers: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = received.clone();
        let mut answers: Vec<String> = answers.iter().rev().map(ToString::to_string).collect();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = vec![0; 65536];
                let read = stream.read(&mut request).await.unwrap_or(0);
                seen.lock().unwrap().push(String::from_utf8_lossy(&request[..read]).into_owned());
                let answer = if answers.len() > 1 { answers.pop() } else { answers.first().cloned() };
                let _ = stream.write_all(answer.unwrap().as_bytes()).await;
            }
        });
        Self { address, received }
    }

    pub(crate) fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }

    /// The tool of a definition that calls this host.
    pub(crate) async fn tool(&self, definition: &Value) -> HttpTool {
        self.tool_with(definition, &[("TOOL_SECRET_KEY", "canary/7f3a")]).await
    }

    pub(crate) async fn tool_with(&self, definition: &Value, settings: &[(&str, &str)]) -> HttpTool {
        let definition = parse(definition).unwrap();
        let Endpoint::Web(endpoint) = definition.endpoint.clone() else { panic!("a host") };
        let secrets = ToolSecrets::from_settings(&Settings::from_pairs(settings.iter().copied())).unwrap();
        HttpTool::new(definition, endpoint, self.egress(), &secrets, store().await.rate_limiter)
    }

    pub(crate) fn egress(&self) -> Egress {
        Egress::new(OPEN, SingleHostNetwork(self.address))
    }
}

pub(crate) fn parse(definition: &Value) -> Result<ToolDefinition, String> {
    let reserved_names = ["search_web".to_owned()];
    let rules = Rules { policy: OPEN, reserved_names: &reserved_names, is_stored: false };
    ToolDefinition::parse(definition.to_string().as_bytes(), rules).map_err(|failure| failure.message)
}

/// A definition with this endpoint and a text parameter for each of these names.
pub(crate) fn definition(endpoint: &Value, parameters: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> =
        parameters.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    json!({
        "name": "probe", "description": "Asks.", "endpoint": endpoint,
        "parameters": {"type": "object", "properties": properties, "required": parameters},
    })
}

pub(crate) fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

pub(crate) async fn call(tool: &dyn Tool, arguments: Value) -> Result<ToolOutput, ToolError> {
    tool.call(arguments, &context()).await
}

fn context() -> ToolContext {
    ToolContext {
        language: Language::Zh,
        time_zone: tools::TimeZone::UTC,
        owner: Owner::new("ada"),
        membership: Membership::default(),
        deadline: Instant::now() + Duration::from_mins(1),
        allowed_urls: UrlAllowlist::default(),
        sources: tools::SourceNumbers::default(),
        progress: Progress::default(),
        redactor: OutboundRedactor::default(),
        calculation_budget: CalculationBudget::default(),
        result_budget: ResultBudget::default(),
    }
}

/// Returns the text for the model of a call within a turn.
pub(crate) async fn tool_text(tool: impl Tool + 'static, arguments: Value) -> String {
    let call = ToolCall { id: "c1".to_owned(), name: tool.spec(Language::default()).name, arguments };
    let session = ToolRegistry::new(vec![Arc::new(tool)]).session(context());
    session.run(&call).await.unwrap().result.content
}

/// Returns the text for the model: of a result, or of a failure after its code.
pub(crate) async fn read(tool: &dyn Tool, arguments: Value) -> String {
    match call(tool, arguments).await {
        Ok(output) => output.content,
        Err(ToolError::Model(ToolCallError { failure, content })) => format!("{}: {content}", failure.code),
        Err(ToolError::Fatal(error)) => panic!("{error}"),
    }
}

pub(crate) async fn store() -> Store {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(listener, Database::memory().unwrap()));
    let config = sdk_config(&Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", endpoint)])).unwrap();
    create_tables(&config, &tables()).await.unwrap();
    Store::new(&config, tables())
}

fn tables() -> TableNames {
    TableNames { data: "data".to_owned(), ephemeral: "ephemeral".to_owned() }
}
