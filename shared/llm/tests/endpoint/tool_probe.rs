//! Discovery of a model's tool support: from Ollama's API, from stored results, and from rejections.

use std::future::{pending, ready};
use std::time::{Duration, SystemTime};

use domain::{Attachment, AttachmentContent, Message, ToolSpec};
use llm::{CachedToolSupport, ModelClient, ModelError, Models, Prompt, ToolMode, ToolSupport, ToolSupportSource};
use platform::settings::Settings;
use serde_json::json;
use tokio::time::Instant;

use crate::server::{Answer, Server, Step, far_deadline, hello_prompt, read_reply};

const DAY: Duration = Duration::from_hours(24);

fn ollama(server: &Server) -> ModelClient {
    let settings = Settings::from_pairs([("OLLAMA_API_URL", &*server.root), ("OLLAMA_MODEL", "qwen3:8b")]);
    Models::from_settings(&settings, platform::transport::build_client().unwrap())
        .unwrap()
        .get("local")
        .unwrap()
        .clone()
}

fn native(server: &Server) -> ModelClient {
    let entry = json!([{"name": "x", "baseUrl": server.root, "model": "m", "tools": "native"}]);
    let settings = Settings::from_pairs([("MODELS", entry.to_string())]);
    Models::from_settings(&settings, platform::transport::build_client().unwrap()).unwrap().get("x").unwrap().clone()
}

fn show_response(capabilities: &str) -> Answer {
    Answer::json(200, &format!(r#"{{"capabilities":[{capabilities}],"details":{{}}}}"#))
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
}

fn support(mode: ToolMode, source: ToolSupportSource) -> ToolSupport {
    ToolSupport { mode, source }
}

const BY_DEFAULT: ToolSupport = ToolSupport { mode: ToolMode::Prompted, source: ToolSupportSource::Table };

#[tokio::test(start_paused = true)]
async fn ollama_is_probed_once_a_day() {
    let server = Server::start([show_response(r#""completion","tools""#), show_response(r#""completion""#)]).await;
    let client = ollama(&server);
    assert_eq!((client.tools(now()), client.knows_tool_support(now())), (BY_DEFAULT, false));
    let found = client.probe_tool_support(now(), ready(None)).await;
    let tools = support(ToolMode::Native, ToolSupportSource::Provider);
    assert_eq!(found, Some(CachedToolSupport { tools, context_tokens: Some(0), expires_at: now() + DAY }));
    assert_eq!((client.tools(now()), client.knows_tool_support(now())), (tools, true));
    assert_eq!(client.probe_tool_support(now() + DAY / 2, ready(None)).await, None);
    let requests = server.requests();
    assert_eq!(
        (requests.len(), requests[0].line.as_str(), &requests[0].body),
        (1, "POST /api/show", &json!({"model": "qwen3:8b"}))
    );
    assert!(!client.knows_tool_support(now() + DAY));
    client.probe_tool_support(now() + DAY, ready(None)).await;
    assert_eq!(client.tools(now() + DAY), support(ToolMode::Prompted, ToolSupportSource::Provider));
}

#[tokio::test(start_paused = true)]
async fn failed_probe_keeps_prompted_mode() {
    for answer in [
        Answer::json(404, r#"{"error":"model not found"}"#),
        Answer::json(200, "{}"),
        Answer::json(200, "<html>"),
        Answer::json(500, r#"{"capabilities":["tools"]}"#),
        Answer::default().step(Step::Close),
        Answer::default().step(Step::Stall),
        Answer::streaming("application/json").bytes(br#"{"capabilities":["#).step(Step::Stall),
    ] {
        let server = Server::start([answer]).await;
        let client = ollama(&server);
        let begun = Instant::now();
        assert_eq!(client.probe_tool_support(now(), ready(None)).await, None);
        assert_eq!((client.tools(now()), client.knows_tool_support(now())), (BY_DEFAULT, true));
        assert!(begun.elapsed() <= Duration::from_secs(11));
    }
}

#[tokio::test(start_paused = true)]
async fn oversized_list_is_ignored() {
    let server = Server::start([Answer::json(200, &" ".repeat(9 * 1024 * 1024))]).await;
    let client = ollama(&server);
    assert_eq!(client.probe_tool_support(now(), ready(None)).await, None);
    assert_eq!(client.tools(now()), BY_DEFAULT);
}

#[tokio::test(start_paused = true)]
async fn stored_result_replaces_the_probe() {
    let server = Server::start([show_response(r#""tools""#)]).await;
    let client = ollama(&server);
    let tools = support(ToolMode::Native, ToolSupportSource::Provider);
    let stored = CachedToolSupport { tools, context_tokens: Some(40_960), expires_at: now() + DAY };
    assert_eq!(client.probe_tool_support(now(), ready(Some(stored))).await, None);
    assert_eq!((client.tools(now()), client.context_tokens(), server.requests().len()), (tools, 16_384, 0));
}

#[tokio::test(start_paused = true)]
async fn concurrent_probes_send_one_request() {
    let server = Server::start([show_response(r#""tools""#)]).await;
    let client = ollama(&server);
    let probes = (0..8).map(|_| {
        let client = client.clone();
        async move {
            client.probe_tool_support(now(), ready(None)).await;
            client.tools(now()).mode
        }
    });
    let mut tasks: tokio::task::JoinSet<ToolMode> = probes.collect();
    while let Some(path) = tasks.join_next().await {
        assert_eq!(path.unwrap(), ToolMode::Native);
    }
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn prompted_mode_needs_no_probe() {
    let server = Server::start([Answer::hello()]).await;
    let client = server.client(&[]);
    assert!(client.knows_tool_support(now()));
    assert_eq!(client.probe_tool_support(now(), pending()).await, None);
    assert_eq!((client.tools(now()), server.requests().len()), (BY_DEFAULT, 0));
}

#[tokio::test(start_paused = true)]
async fn only_rejection_of_tools_is_published() {
    let unsupported = || Answer::json(400, r#"{"error":{"message":"m does not support tools"}}"#);
    let with_tools = Prompt { tools: [now_tool()].into(), ..hello_prompt() };
    for (answer, prompt, error, path) in [
        (unsupported(), &with_tools, ModelError::ToolsUnsupported, ToolMode::Prompted),
        (unsupported(), &hello_prompt(), ModelError::Rejected, ToolMode::Native),
        (Answer::json(400, "{}"), &with_tools, ModelError::Rejected, ToolMode::Native),
    ] {
        let server = Server::start([answer]).await;
        let client = native(&server);
        assert_eq!(read_reply(&client, prompt, far_deadline()).await, (vec![], Some(error)));
        assert_eq!(client.tools(SystemTime::now()).mode, path);
        let unpublished = client.take_unpublished_rejection();
        assert_eq!(
            unpublished.map(|unpublished| unpublished.tools),
            (path == ToolMode::Prompted).then(|| client.tools(SystemTime::now()))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn refused_tools_of_callers_change_nothing() {
    let schema = r#"{"type":"error","error":{"type":"invalid_request_error","message":"tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"}}"#;
    let unsupported = r#"{"error":{"message":"m does not support tools"}}"#;
    let thinking = r#"{"error":{"message":"thinking is not supported"}}"#;
    let internal = r#"{"error":{"code":500,"message":"the schema cannot be converted"}}"#;
    for (status, body, error) in [
        (400, schema, ModelError::Rejected),
        (400, unsupported, ModelError::ToolsUnsupported),
        (400, thinking, ModelError::Rejected),
        (500, internal, ModelError::Unavailable),
    ] {
        let server = Server::start([Answer::json(status, body)]).await;
        let client = native(&server);
        let prompt = Prompt { from_caller: true, tools: [now_tool()].into(), ..hello_prompt() };
        for _ in 0..4 {
            assert_eq!(read_reply(&client, &prompt, far_deadline()).await, (vec![], Some(error.clone())), "{body}");
        }
        assert_eq!(client.tools(SystemTime::now()).mode, ToolMode::Native, "{body}");
        assert_eq!(client.take_unpublished_rejection(), None, "{body}");
        assert!(!client.is_failing() && client.is_available(SystemTime::now()), "{body}");
        assert_eq!(client.pending_health_change(), None, "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn refused_schema_of_one_tool_leaves_tools_native() {
    let body = r#"{"error":{"message":"tools.0.custom: For 'object' type, property 'properties' is not supported"}}"#;
    let server = Server::start([Answer::json(400, body)]).await;
    let client = native(&server);
    let prompt = Prompt { tools: [now_tool()].into(), ..hello_prompt() };
    assert_eq!(read_reply(&client, &prompt, far_deadline()).await, (vec![], Some(ModelError::Rejected)));
    assert_eq!((client.tools(SystemTime::now()).mode, server.requests().len()), (ToolMode::Native, 1));
    assert!(client.is_failing(), "the tool is the operator's");
}

fn now_tool() -> ToolSpec {
    ToolSpec {
        name: "now".to_owned(),
        description: String::new(),
        parameters: json!({"type": "object"}),
        examples: vec![],
    }
}

#[tokio::test(start_paused = true)]
async fn identity_depends_on_settings_model_and_endpoint() {
    let (one, other) = (Server::start([Answer::hello()]).await, Server::start([Answer::hello()]).await);
    let mut identities = vec![
        native(&one).identity(),
        native(&other).identity(),
        one.client(&[]).identity(),
        one.client(&[("OPENAI_MODEL", "n"), ("OPENAI_API_KEY", "secret")]).identity(),
        ollama(&one).identity(),
    ];
    assert_eq!(native(&one).identity(), native(&one).identity());
    assert!(identities.iter().all(|identity| !identity.contains("secret")));
    identities.sort();
    identities.dedup();
    assert_eq!(identities.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn refused_pictures_are_remembered_for_the_model() {
    let body = r#"{"error":{"message":"No endpoints found that support image input"}}"#;
    let image = Attachment {
        content: AttachmentContent::Base64("AAAA".into()),
        ..Attachment::at("a.png".to_owned(), "image/png".to_owned(), "")
    };
    let message = Message::User { text: "What is it?".to_owned(), attachments: vec![image] };
    let with_picture = Prompt { messages: vec![message], ..hello_prompt() };
    let with_tools = Prompt { from_caller: true, ..with_picture.clone() };
    for (prompt, error, takes_images) in [
        (&with_picture, ModelError::ImagesUnsupported, Some(false)),
        (&with_tools, ModelError::ImagesUnsupported, None),
        (&hello_prompt(), ModelError::Rejected, None),
    ] {
        let server = Server::start([Answer::json(404, body)]).await;
        let client = native(&server);
        assert_eq!(client.takes_images(SystemTime::now()), None);
        assert_eq!(read_reply(&client, prompt, far_deadline()).await, (vec![], Some(error.clone())));
        assert_eq!(server.requests().len(), 1, "it is not retried");
        assert_eq!(client.takes_images(SystemTime::now()), takes_images);
        assert_eq!(client.take_unpublished_image_refusal().is_some(), takes_images.is_some());
        assert_eq!(client.is_failing(), error == ModelError::Rejected, "text is still accepted");
    }
}
