//! The effect of failed and successful calls on the health of an endpoint.

use std::time::SystemTime;

use llm::{EndpointHealth, ModelClient, ModelError, Models};
use platform::settings::Settings;
use tokio::time::Duration;

use crate::server::{Answer, Server, Step, far_deadline, hello_prompt, read_reply};

fn is_available(client: &ModelClient) -> bool {
    client.is_available(SystemTime::now())
}

async fn error(client: &ModelClient) -> Option<ModelError> {
    read_reply(client, &hello_prompt(), far_deadline()).await.1
}

#[tokio::test(start_paused = true)]
async fn f004_down_endpoint_gets_single_attempts_until_success() {
    let busy = || Answer::new(503, &[], "");
    let answers = (0..7).map(|_| busy()).chain([Answer::hello(), busy(), Answer::hello()]);
    let server = Server::start(answers).await;
    let client = server.client(&[]);
    let mut seen = Vec::new();
    for _ in 0..5 {
        let failed = error(&client).await.is_some();
        seen.push((failed, server.requests().len(), is_available(&client), client.is_failing()));
    }
    let expected = [
        (true, 3, true, false),
        (true, 6, false, true),
        (true, 7, false, true),
        (false, 8, true, false),
        (false, 10, true, false),
    ];
    assert_eq!(seen, expected);
}

#[tokio::test(start_paused = true)]
async fn f019_f020_f021_interrupted_replies_open_the_breaker() {
    for step in [Step::Stall, Step::Reset, Step::Close] {
        let server = Server::start([Answer::stream().text("half").step(step)]).await;
        let client = server.client(&[]);
        let mut available = Vec::new();
        for _ in 0..5 {
            assert!(error(&client).await.is_some());
            available.push(is_available(&client));
        }
        assert_eq!((available, server.requests().len()), (vec![true, true, true, true, false], 5));
    }
}

#[tokio::test(start_paused = true)]
async fn f004_models_of_one_endpoint_share_an_outage() {
    let (down, up) = (Server::start([Answer::new(500, &[], "")]).await, Server::start([Answer::hello()]).await);
    let models = format!(
        r#"[{{"name":"a","model":"x","baseUrl":"{0}"}},{{"name":"b","model":"y","baseUrl":"{0}"}},
            {{"name":"c","model":"x","baseUrl":"{1}"}}]"#,
        down.root, up.root
    );
    let models = Models::from_settings(
        &Settings::from_pairs([("MODELS", &*models)]),
        platform::transport::build_client().unwrap(),
    );
    let models = models.unwrap();
    let client = |name| models.get(name).unwrap();
    for _ in 0..2 {
        assert_eq!(error(client("a")).await, Some(ModelError::Unavailable));
    }
    assert_eq!(["a", "b", "c"].map(|name| is_available(client(name))), [false, false, true]);
    assert_eq!(client("a").endpoint(), client("b").endpoint());
    assert_ne!(client("a").endpoint(), client("c").endpoint());
}

#[tokio::test(start_paused = true)]
async fn f005_f007_rejected_model_is_failing_until_success() {
    for (status, available) in [(404, true), (401, false), (402, false)] {
        let server = Server::start([Answer::json(status, "{}"), Answer::hello()]).await;
        let client = server.client(&[]);
        assert!(!client.is_failing());
        assert!(error(&client).await.is_some());
        assert_eq!((client.is_failing(), is_available(&client)), (true, available), "{status}");
        assert_eq!(error(&client).await, None);
        assert_eq!((client.is_failing(), is_available(&client)), (false, true), "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn f004_abandoned_reply_does_not_affect_health() {
    let server = Server::start([Answer::stream().text("hello").step(Step::Stall)]).await;
    let client = server.client(&[]);
    let now = SystemTime::now();
    let published = EndpointHealth { changed_at: now, down_until: Some(now + Duration::from_mins(1)) };
    client.refresh_health(now, std::future::ready(Some(published))).await;
    assert!(!is_available(&client));
    drop(client.reply(&hello_prompt(), llm::CallOptions::with_deadline(far_deadline())).await.unwrap());
    assert!(client.is_failing() && client.pending_health_change().is_none());
}
