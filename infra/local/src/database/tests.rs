mod said;
mod script;

use std::collections::HashMap;
use std::sync::Barrier;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
use aws_smithy_types::body::SdkBody;
use futures_util::poll;
use operations::Served;
use said::{Said, play};
use script::{ANSWERS, TABLE, answered_here, answered_over_http, prepared};

use super::*;

fn embedded() -> Embedded {
    Embedded::start(&Data::Memory, None).unwrap()
}

fn calls(embedded: &Embedded) -> Calls {
    embedded.serving.as_ref().unwrap().calls.clone()
}

/// The server's own client. It tries once, so that what fails does so at once.
fn direct(embedded: &Embedded, endpoint: Option<&str>) -> Client {
    let config = embedded.sdk_config(&mut Settings::default()).unwrap();
    let config = aws_sdk_dynamodb::config::Builder::from(&config).allow_no_auth();
    let mut config = config.retry_config(RetryConfig::disabled());
    if let Some(endpoint) = endpoint {
        config = config.endpoint_url(endpoint);
    }
    Client::from_conf(config.build())
}

/// The client of another process.
fn over_tcp(embedded: &Embedded) -> Client {
    let mut settings = Settings::default();
    embedded.point(&mut settings);
    Client::new(&store::sdk_config(&settings).unwrap())
}

/// What does not come to its end here never would.
async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("it ends")
}

fn key(name: &str) -> HashMap<String, AttributeValue> {
    ["pk", "sk"].map(|part| (part.to_owned(), AttributeValue::S(name.to_owned()))).into()
}

async fn put(client: &Client, name: &str) {
    client.put_item().table_name(TABLE).set_item(Some(key(name))).send().await.unwrap();
}

async fn got(client: &Client, name: &str) -> Option<HashMap<String, AttributeValue>> {
    client.get_item().table_name(TABLE).set_key(Some(key(name))).send().await.unwrap().item
}

#[test]
fn the_embedded_database_leaves_nothing_that_leads_to_a_real_one() {
    let embedded =
        Embedded { address: SocketAddr::from(([127, 0, 0, 1], 9)), serving: None, lock: None, published: None };
    let mut settings = Settings::from_pairs([("AWS_ACCESS_KEY_ID", "AKIAREAL"), ("AWS_SESSION_TOKEN", "real")]);
    embedded.point(&mut settings);
    assert_eq!(settings.var("AWS_ENDPOINT_URL_DYNAMODB"), Some("http://127.0.0.1:9"));
    assert_eq!(settings.var("AWS_ACCESS_KEY_ID"), Some("local"));
    assert_eq!(settings.var("AWS_SESSION_TOKEN"), None);
}

#[tokio::test]
async fn a_client_in_the_process_gets_the_answers_that_one_over_tcp_gets() {
    let embedded = embedded();
    let script = |token| [answered_here(token), answered_over_http()].concat();
    let here = within(play(&direct(&embedded, None), script("here"))).await;
    let over_tcp = within(play(&over_tcp(&embedded), script("over TCP"))).await;
    assert!(here.iter().all(Said::is_answer));
    assert_eq!(here, over_tcp);
}

#[tokio::test]
async fn a_client_in_the_process_needs_a_connection_only_for_what_http_has_to_answer() {
    let embedded = embedded();
    let nowhere = direct(&embedded, Some("http://127.0.0.1:9"));
    let here = within(play(&nowhere, answered_here("here"))).await;
    assert_eq!(here.iter().map(Said::in_short).collect::<Vec<_>>(), ANSWERS);
    let elsewhere = within(play(&nowhere, answered_over_http())).await;
    assert_eq!(elsewhere.iter().find(|said| said.is_answer()), None);
}

#[tokio::test]
async fn tokens_that_come_through_the_channel_are_not_the_databases_to_look_through() {
    let embedded = embedded();
    play(&direct(&embedded, None), prepared()).await;
    let write = async |client: &Client, name: &str| {
        let put = Put::builder().table_name(TABLE).set_item(Some(key(name))).build().unwrap();
        let put = TransactWriteItem::builder().put(put).build();
        let call = client.transact_write_items().transact_items(put).client_request_token("one");
        call.send().await.is_ok()
    };
    let (here, there) = (direct(&embedded, None), over_tcp(&embedded));
    assert!(write(&here, "a").await && !write(&here, "b").await);
    assert!(write(&there, "c").await && !write(&there, "d").await, "and the other way round");
}

#[tokio::test]
async fn what_one_client_writes_the_other_reads() {
    let embedded = embedded();
    let (here, there) = (direct(&embedded, None), over_tcp(&embedded));
    play(&here, prepared()).await;
    put(&here, "here").await;
    put(&there, "there").await;
    assert_eq!(got(&there, "here").await, Some(key("here")));
    assert_eq!(got(&here, "there").await, Some(key("there")));
}

#[tokio::test]
async fn a_panic_in_the_database_fails_its_call_and_no_other() {
    let embedded = embedded();
    let failed = within(calls(&embedded).ask(|_, _| panic!("on purpose"), SdkBody::empty())).await;
    assert!(failed.unwrap_err().is_io());
    within(play(&direct(&embedded, None), prepared())).await;
    assert_eq!(within(got(&over_tcp(&embedded), "nothing")).await, None);
}

#[tokio::test]
async fn a_call_that_was_given_up_while_it_waited_is_not_done() {
    static GATE: Barrier = Barrier::new(2);
    let embedded = embedded();
    let (client, calls) = (direct(&embedded, None), calls(&embedded));
    play(&client, prepared()).await;
    let held = |_: &Served, _: &[u8]| {
        GATE.wait();
        None
    };
    let mut busy = Box::pin(calls.ask(held, SdkBody::empty()));
    assert!(poll!(&mut busy).is_pending());
    {
        let mut waiting = Box::pin(put(&client, "late"));
        assert!(poll!(&mut waiting).is_pending());
    }
    tokio::task::spawn_blocking(|| GATE.wait()).await.unwrap();
    within(busy).await.unwrap();
    assert_eq!(within(got(&client, "late")).await, None);
}

#[tokio::test]
async fn a_database_that_stops_lets_no_call_wait() {
    static GATE: Barrier = Barrier::new(2);
    let embedded = embedded();
    let (client, calls) = (direct(&embedded, None), calls(&embedded));
    let held = |_: &Served, _: &[u8]| {
        // Once to say that it has begun, and once to be let go.
        GATE.wait();
        GATE.wait();
        None
    };
    let mut begun = Box::pin(calls.ask(held, SdkBody::empty()));
    let mut waiting = Box::pin(calls.ask(|_, _| None, SdkBody::empty()));
    assert!(poll!(&mut begun).is_pending());
    assert!(poll!(&mut waiting).is_pending());
    tokio::task::spawn_blocking(|| GATE.wait()).await.unwrap();
    let stopped = tokio::task::spawn_blocking(move || drop(embedded));
    tokio::task::spawn_blocking(|| GATE.wait()).await.unwrap();
    assert!(matches!(within(begun).await, Ok(None)));
    // It was next, or it failed.
    let _ended = within(waiting).await;
    within(stopped).await.unwrap();
    assert!(within(calls.ask(|_, _| None, SdkBody::empty())).await.unwrap_err().is_io());
    let refused = within(client.list_tables().send()).await.unwrap_err();
    assert!(matches!(refused, SdkError::DispatchFailure(_)), "{refused:?}");
}
