mod exchange;
mod script;

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Barrier;
use std::time::Duration;

use answer::Answer;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_types::body::SdkBody;
use calls::CallSender;
use exchange::{Exchange, send_all};
use futures_util::poll;
use script::{
    EXPECTED_OUTCOMES, TABLE, create_table_request, supported_requests, unreadable_requests, unused_operations,
};

use super::operations::Operation;
use super::*;

/// Any loopback port.
const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn start_embedded() -> EmbeddedDatabase {
    EmbeddedDatabase::start(&Data::Memory, Some(ANY)).unwrap()
}

fn calls(embedded: &EmbeddedDatabase) -> CallSender {
    match &embedded.route {
        Route::Channel(calls) => calls.clone(),
        Route::Socket(_) => panic!("the database is in this process"),
    }
}

/// An operation that deletes nothing.
fn operation(execute: fn(&Database, &[u8]) -> Answer) -> Operation {
    Operation { execute, is_deletion: |_| false }
}

/// The server's own client, without retries, so that failures are immediate.
fn connect_direct(embedded: &EmbeddedDatabase) -> Client {
    let config = sdk_config(Some(embedded), &mut Settings::default()).unwrap();
    let config = aws_sdk_dynamodb::config::Builder::from(&config).allow_no_auth();
    Client::from_conf(config.retry_config(RetryConfig::disabled()).build())
}

/// A client of the DynamoDB at an address.
fn connect_over_tcp(address: SocketAddr) -> Client {
    let endpoint = format!("http://{address}");
    Client::new(&store::sdk_config(&Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", &endpoint)])).unwrap())
}

/// A client of dynoxide's own HTTP server, over its own database.
async fn start_original() -> Client {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(dynoxide::server::serve_on(listener, Database::memory().unwrap()));
    connect_over_tcp(address)
}

/// Fails the test when a future does not end within 20 s.
async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("it ends")
}

fn key(name: &str) -> HashMap<String, AttributeValue> {
    ["pk", "sk"].map(|part| (part.to_owned(), AttributeValue::S(name.to_owned()))).into()
}

async fn put(client: &Client, name: &str) {
    client.put_item().table_name(TABLE).set_item(Some(key(name))).send().await.unwrap();
}

async fn get(client: &Client, name: &str) -> Option<HashMap<String, AttributeValue>> {
    client.get_item().table_name(TABLE).set_key(Some(key(name))).send().await.unwrap().item
}

#[test]
fn embedded_database_overrides_real_endpoint_and_credentials() {
    let mut settings = Settings::from_pairs([("AWS_ACCESS_KEY_ID", "AKIAREAL"), ("AWS_SESSION_TOKEN", "real")]);
    override_settings(&mut settings);
    assert_eq!(settings.var("AWS_ENDPOINT_URL_DYNAMODB"), Some(EMBEDDED_ENDPOINT));
    assert_eq!(settings.var("AWS_ACCESS_KEY_ID"), Some("local"));
    assert_eq!(settings.var("AWS_SESSION_TOKEN"), None);
}

#[tokio::test]
async fn all_routes_return_the_same_answers() {
    let script = |token| [supported_requests(token), unused_operations()].concat();
    let original = within(send_all(&start_original().await, script("original"))).await;
    assert!(original.iter().all(Exchange::has_answer));
    let (inproc, tcp) = (start_embedded(), start_embedded());
    assert_eq!(within(send_all(&connect_direct(&inproc), script("here"))).await, original);
    assert_eq!(within(send_all(&connect_over_tcp(tcp.address.unwrap()), script("tcp"))).await, original);
    assert_eq!(
        original.iter().map(Exchange::summary).take(EXPECTED_OUTCOMES.len()).collect::<Vec<_>>(),
        EXPECTED_OUTCOMES
    );
}

#[tokio::test]
async fn command_gets_same_answers_through_running_server() {
    let folder = tempfile::TempDir::new().unwrap();
    let _server = EmbeddedDatabase::start(&Data::Folder(folder.path().to_owned()), None).unwrap();
    let command = EmbeddedDatabase::join(folder.path()).await.unwrap();
    assert!(matches!(command.route, Route::Socket(_)));
    let inproc = start_embedded();
    let script = || [supported_requests("one"), unused_operations()].concat();
    let expected = within(send_all(&connect_direct(&inproc), script())).await;
    assert_eq!(within(send_all(&connect_direct(&command), script())).await, expected);
}

#[tokio::test]
async fn unreadable_requests_are_rejected_without_writes() {
    let embedded = start_embedded();
    let client = connect_direct(&embedded);
    send_all(&client, create_table_request()).await;
    for exchange in within(send_all(&client, unreadable_requests())).await {
        let short = exchange.summary();
        let refused = ["SerializationException", "UnknownOperationException", "ValidationException"];
        assert!(refused.iter().any(|code| short.ends_with(code)), "{short}");
    }
    assert_eq!(client.scan().table_name(TABLE).send().await.unwrap().count(), 0);
}

#[tokio::test]
async fn transaction_token_is_shared_by_all_routes() {
    let embedded = start_embedded();
    let (direct_client, tcp_client) = (connect_direct(&embedded), connect_over_tcp(embedded.address.unwrap()));
    send_all(&direct_client, create_table_request()).await;
    let write = async |client: &Client, name: &str| {
        let item = format!(r#"{{"pk":{{"S":"{name}"}},"sk":{{"S":"{name}"}}}}"#);
        let put = format!(r#"{{"Put":{{"TableName":"{TABLE}","Item":{item}}}}}"#);
        let body = format!(r#"{{"ClientRequestToken":"one","TransactItems":[{put}]}}"#);
        send_all(client, vec![("TransactWriteItems", body)]).await[0].summary()
    };
    let [done, other] =
        ["done", "IdempotentParameterMismatchException"].map(|end| format!("TransactWriteItems: {end}"));
    assert_eq!([write(&direct_client, "a").await, write(&tcp_client, "a").await], [done.clone(), done]);
    assert_eq!([write(&direct_client, "b").await, write(&tcp_client, "b").await], [other.clone(), other]);
}

#[tokio::test]
async fn clients_read_each_others_writes() {
    let embedded = start_embedded();
    let (direct_client, tcp_client) = (connect_direct(&embedded), connect_over_tcp(embedded.address.unwrap()));
    send_all(&direct_client, create_table_request()).await;
    put(&direct_client, "here").await;
    put(&tcp_client, "there").await;
    assert_eq!(get(&tcp_client, "here").await, Some(key("here")));
    assert_eq!(get(&direct_client, "there").await, Some(key("there")));
}

#[test]
fn non_loopback_address_is_rejected() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8000", "[::ffff:10.0.0.1]:1"] {
        let refused = EmbeddedDatabase::start(&Data::Memory, Some(address.parse().unwrap())).err().unwrap();
        assert!(refused.to_string().contains("loopback only"), "{address}: {refused}");
    }
}

#[tokio::test]
async fn removed_file_stops_writes_and_is_rescued() {
    let folder = tempfile::TempDir::new().unwrap();
    let embedded = EmbeddedDatabase::start(&Data::Folder(folder.path().to_owned()), None).unwrap();
    let client = connect_direct(&embedded);
    send_all(&client, create_table_request()).await;
    put(&client, "before").await;
    std::fs::remove_file(folder.path().join("dynamodb.sqlite")).unwrap();
    for _ in 0..2 {
        let refused = client.put_item().table_name(TABLE).set_item(Some(key("after"))).send().await.unwrap_err();
        let code = refused.as_service_error().and_then(|error| error.meta().code());
        assert_eq!(code, Some(store::STORAGE_DAMAGED));
    }
    drop(embedded);
    let names = || std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let rescued: Vec<_> = names().filter(|path| path.to_str().unwrap().contains("rescued-")).collect();
    assert_eq!(rescued.len(), 1, "it is saved once");
    std::fs::rename(&rescued[0], folder.path().join("dynamodb.sqlite")).unwrap();
    let embedded = EmbeddedDatabase::start(&Data::Folder(folder.path().to_owned()), None).unwrap();
    assert_eq!(get(&connect_direct(&embedded), "before").await, Some(key("before")));
}

#[tokio::test]
async fn panic_fails_only_its_call() {
    let embedded = start_embedded();
    let failed = within(calls(&embedded).call(operation(|_, _| panic!("on purpose")), SdkBody::empty())).await;
    assert!(failed.unwrap_err().is_io());
    within(send_all(&connect_direct(&embedded), create_table_request())).await;
    assert_eq!(within(get(&connect_over_tcp(embedded.address.unwrap()), "nothing")).await, None);
}

#[tokio::test]
async fn abandoned_call_in_queue_is_not_run() {
    static GATE: Barrier = Barrier::new(2);
    let embedded = start_embedded();
    let (client, calls) = (connect_direct(&embedded), calls(&embedded));
    send_all(&client, create_table_request()).await;
    let held = |_: &Database, _: &[u8]| {
        GATE.wait();
        Answer::new(200, Vec::new())
    };
    let mut busy = Box::pin(calls.call(operation(held), SdkBody::empty()));
    assert!(poll!(&mut busy).is_pending());
    {
        let mut waiting = Box::pin(put(&client, "late"));
        assert!(poll!(&mut waiting).is_pending());
    }
    tokio::task::spawn_blocking(|| GATE.wait()).await.unwrap();
    within(busy).await.unwrap();
    assert_eq!(within(get(&client, "late")).await, None);
}

#[tokio::test]
async fn stopped_database_leaves_no_call_waiting() {
    static GATE: Barrier = Barrier::new(2);
    let embedded = start_embedded();
    let (client, calls) = (connect_direct(&embedded), calls(&embedded));
    let held = |_: &Database, _: &[u8]| {
        // Once to signal the start, and once to wait for the release.
        GATE.wait();
        GATE.wait();
        Answer::new(200, Vec::new())
    };
    let mut begun = Box::pin(calls.call(operation(held), SdkBody::empty()));
    let mut waiting = Box::pin(calls.call(operation(|_, _| Answer::new(200, Vec::new())), SdkBody::empty()));
    assert!(poll!(&mut begun).is_pending());
    assert!(poll!(&mut waiting).is_pending());
    tokio::task::spawn_blocking(|| GATE.wait()).await.unwrap();
    let stopped = tokio::task::spawn_blocking(move || drop(embedded));
    tokio::task::spawn_blocking(|| GATE.wait()).await.unwrap();
    assert!(within(begun).await.is_ok());
    // It ran next, or it failed.
    let _ended = within(waiting).await;
    within(stopped).await.unwrap();
    assert!(
        within(calls.call(operation(|_, _| Answer::new(200, Vec::new())), SdkBody::empty())).await.unwrap_err().is_io()
    );
    let refused = within(client.list_tables().send()).await.unwrap_err();
    assert!(matches!(refused, SdkError::DispatchFailure(_)), "{refused:?}");
}
