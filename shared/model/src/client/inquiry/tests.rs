use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::models::Connect;
use crate::providers::{OTHER, Provider};
use crate::timers::Timers;
use crate::{ModelConfig, ToolsMode, Wire};

const ARK: Provider = Provider { listing: Some(Listing::Ark), ..OTHER };
const OPENROUTER: Provider = Provider { listing: Some(Listing::OpenRouter), ..OTHER };

/// Answers one request with `list`; returns the request.
async fn serve(listener: TcpListener, list: &str) -> String {
    let (mut socket, _) = listener.accept().await.unwrap();
    let mut request = String::new();
    while !request.contains("\r\n\r\n") {
        let mut bytes = [0; 1024];
        let count = socket.read(&mut bytes).await.unwrap();
        request.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{list}", list.len());
    socket.write_all(answer.as_bytes()).await.unwrap();
    request
}

fn client(provider: &'static Provider, base_url: String) -> ModelClient {
    let config = ModelConfig {
        name: "x".to_owned(),
        base_url,
        api_key: Some(secrets::Secret::by_value("key")),
        model: "m".to_owned(),
        wire: Wire::Openai,
        tools: ToolsMode::Auto,
        fallback: None,
        only_for: None,
        options: crate::Options::default(),
        demo: false,
    };
    let timers = Timers::from_settings(&settings::Settings::default()).unwrap();
    let http = transport::client().unwrap();
    ModelClient::of_provider(provider, config, &Connect::new(http, timers))
}

#[tokio::test]
async fn list_request_carries_the_model_key() {
    let lists = [
        (&ARK, r#"{"data":[{"id":"m","features":{"tools":{"function_calling":true}}}]}"#),
        (&OPENROUTER, r#"{"data":[{"id":"m","supported_parameters":["tools"]}]}"#),
    ];
    for (provider, list) in lists {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = client(provider, format!("http://{}/api/v3", listener.local_addr().unwrap()));
        let now = SystemTime::UNIX_EPOCH;
        let (request, found) = tokio::join!(serve(listener, list), client.inquire(now, std::future::ready(None)));
        assert!(request.starts_with("GET /api/v3/models HTTP/1.1\r\n"), "{request}");
        assert!(request.contains("\r\nauthorization: Bearer key\r\n"), "{request}");
        let tools = ToolUse { path: ToolPath::Native, from: ToolsFrom::Provider };
        assert_eq!(found, Some(Finding { tools, until: now + DAY }));
        assert_eq!(client.tools(now), tools);
    }
}
