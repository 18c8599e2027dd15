use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::providers::UNKNOWN;
use crate::{ToolMode, ToolSupportSource};

const ARK: Provider = Provider { model_list: Some(ModelListApi::Ark), ..UNKNOWN };
const OPENROUTER: Provider = Provider { model_list: Some(ModelListApi::OpenRouter), ..UNKNOWN };

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

fn client(provider: &'static Provider, base_url: &str) -> ModelClient {
    let api_key = Some(platform::secrets::Secret::by_value("key"));
    let config = ModelConfig { api_key, ..ModelConfig::new("x", base_url, "m", Wire::Openai) };
    let timers = Timeouts::from_settings(&platform::settings::Settings::default()).unwrap();
    let http = platform::transport::build_client().unwrap();
    ModelClient::with_provider(provider, config, &ClientDeps::new(http, timers))
}

#[tokio::test]
async fn list_request_carries_the_model_key() {
    let lists = [
        (
            &ARK,
            r#"{"data":[{"id":"m","features":{"tools":{"function_calling":true}},"token_limits":{"context_window":7}}]}"#,
        ),
        (&OPENROUTER, r#"{"data":[{"id":"m","supported_parameters":["tools"],"context_length":7}]}"#),
    ];
    for (provider, list) in lists {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = client(provider, &format!("http://{}/api/v3", listener.local_addr().unwrap()));
        let now = SystemTime::UNIX_EPOCH;
        let (request, found) =
            tokio::join!(serve(listener, list), client.probe_tool_support(now, std::future::ready(None)));
        assert!(request.starts_with("GET /api/v3/models HTTP/1.1\r\n"), "{request}");
        assert!(request.contains("\r\nauthorization: Bearer key\r\n"), "{request}");
        let tools = ToolSupport { mode: ToolMode::Native, source: ToolSupportSource::Provider };
        let context_tokens = Some(7);
        assert_eq!(
            found,
            Some(CachedToolSupport { tools, context_tokens, expires_at: now + std::time::Duration::from_hours(24) })
        );
        assert_eq!((client.tools(now), client.context_tokens()), (tools, 7));
    }
}
