//! Access to a separate database for each test, through the real SDK over loopback.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use aws_smithy_types::retry::RetryConfig;
use domain::Owner;
use domain::{FinishReason, Message, Usage, new_id};
use dynoxide::Database;
use platform::settings::Settings;
use store::{
    Answer, AnswerWrites, ConversationEdit, ConversationStore, IdempotencyStatus, LeaseError, MessageQuery, NewTurn,
    Page, ReadError, Store, StoredMessage, StoredTurn, TableNames, Target, TurnEnd, TurnLease, TurnOutcome, TurnRef,
    UserInput, create_tables, sdk_config,
};
use tokio::net::TcpListener;

/// Ends a turn whose answer has no further writes.
pub(crate) trait Finish {
    async fn finish(&self, lease: &TurnLease, answer: &Answer, now: SystemTime) -> Result<(), LeaseError>;
}

impl Finish for ConversationStore {
    async fn finish(&self, lease: &TurnLease, answer: &Answer, now: SystemTime) -> Result<(), LeaseError> {
        self.finish_with(lease, answer, AnswerWrites::default(), now).await.map(drop)
    }
}

/// Reads without recovery.
pub(crate) trait ReadStored {
    /// A page of the messages of the shown branch.
    async fn messages(
        &self,
        owner: &Owner,
        id: &str,
        limit: u32,
        cursor: Option<&str>,
        now: SystemTime,
    ) -> Result<Page<StoredMessage>, ReadError>;

    /// The last turn that wrote the answer with this seq.
    async fn get_turn(&self, owner: &Owner, id: &str, seq: u64, now: SystemTime) -> Result<StoredTurn, ReadError>;
}

impl ReadStored for ConversationStore {
    async fn messages(
        &self,
        owner: &Owner,
        id: &str,
        limit: u32,
        cursor: Option<&str>,
        now: SystemTime,
    ) -> Result<Page<StoredMessage>, ReadError> {
        let query = MessageQuery { limit, cursor, ..MessageQuery::default() };
        self.messages_page(owner, id, query, now).await.map(|(page, _)| page)
    }

    async fn get_turn(&self, owner: &Owner, id: &str, seq: u64, now: SystemTime) -> Result<StoredTurn, ReadError> {
        let turn = TurnRef { turn_id: String::new(), conversation_id: id.to_owned(), answer_seq: seq };
        self.find_turn(owner, &turn, now).await
    }
}

/// A fresh store, and the address of its database.
pub(crate) async fn store() -> Store {
    store_at(&database().await).await
}

/// Serves an empty database; returns its address.
pub(crate) async fn database() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(dynoxide::server::serve_on(listener, Database::memory().unwrap()));
    format!("http://{address}")
}

/// Creates the tables of the database at an address, and a store over it.
pub(crate) async fn store_at(endpoint: &str) -> Store {
    create_tables(&config(endpoint), &names()).await.unwrap();
    Store::new(&config(endpoint), names())
}

/// A store whose SDK never retries, so that one fault of the wire is one failed call.
pub(crate) async fn store_without_retries_at(endpoint: &str) -> Store {
    create_tables(&config(endpoint), &names()).await.unwrap();
    let config = config(endpoint).to_builder().retry_config(RetryConfig::disabled()).build();
    Store::new(&config, names())
}

/// All items of a table.
pub(crate) async fn rows(endpoint: &str, table: &str) -> Vec<HashMap<String, AttributeValue>> {
    let scan = Client::new(&config(endpoint)).scan().table_name(table).consistent_read(true);
    scan.into_paginator().items().send().collect::<Result<_, _>>().await.unwrap()
}

/// Puts an item of the data table as it is.
pub(crate) async fn put(endpoint: &str, item: HashMap<String, AttributeValue>) {
    put_into(endpoint, "data", item).await;
}

/// Puts an item of a table as it is.
pub(crate) async fn put_into(endpoint: &str, table: &str, item: HashMap<String, AttributeValue>) {
    Client::new(&config(endpoint)).put_item().table_name(table).set_item(Some(item)).send().await.unwrap();
}

/// Puts items of the data table as they are.
pub(crate) async fn put_all(endpoint: &str, items: Vec<HashMap<String, AttributeValue>>) {
    let client = Client::new(&config(endpoint));
    for items in items.chunks(25) {
        let puts = items.iter().map(|item| PutRequest::builder().set_item(Some(item.clone())).build().unwrap());
        let puts = puts.map(|put| WriteRequest::builder().put_request(put).build()).collect();
        client.batch_write_item().request_items("data", puts).send().await.unwrap();
    }
}

pub(crate) fn names() -> TableNames {
    TableNames { data: "data".to_owned(), ephemeral: "ephemeral".to_owned() }
}

pub(crate) fn config(endpoint: &str) -> aws_types::SdkConfig {
    sdk_config(&Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", endpoint)])).unwrap()
}

/// A time, in seconds after the tests' epoch.
pub(crate) fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
}

pub(crate) fn alice() -> Owner {
    Owner::new("alice")
}

/// A turn that begins a conversation.
pub(crate) fn first_turn(text: &str) -> NewTurn {
    NewTurn {
        attachments: Vec::new(),
        language: domain::Language::of(text),
        conversation_id: None,
        chat_id: None,
        turn_id: new_id(),
        user_message_id: new_id(),
        assistant_message_id: new_id(),
        input: UserInput::Message(text.to_owned()),
        target: Target::End,
        model: "volcano".to_owned(),
        title: format!("About {text}"),
        temporary: false,
        request: None,
        idempotency: None,
    }
}

/// A change of a title.
pub(crate) fn title(text: &str) -> ConversationEdit {
    ConversationEdit { title: Some(text.to_owned()), ..ConversationEdit::default() }
}

/// A turn that continues one.
pub(crate) fn next_turn(conversation: &str, text: &str) -> NewTurn {
    NewTurn { conversation_id: Some(conversation.to_owned()), ..first_turn(text) }
}

/// A turn that begins a conversation under an idempotency key.
pub(crate) async fn keyed_turn(store: &Store, owner: &Owner, key: &str) -> NewTurn {
    match store.idempotency.status(owner, key, b"{}", at(0)).await.unwrap() {
        IdempotencyStatus::New(claim) => NewTurn { idempotency: Some(claim), ..first_turn("Q") },
        other => panic!("the key is not free: {other:?}"),
    }
}

/// An answer without tools.
pub(crate) fn answer(text: &str) -> Answer {
    Answer {
        content: text.to_owned(),
        thinking: String::new(),
        tool_calls: Vec::new(),
        sources: Vec::new(),
        added_sources: None,
        outcome: ended(TurnEnd::Done(FinishReason::Stop)),
        transcript: vec![assistant_message(text)],
        summary: None,
        title: None,
        new_title: None,
    }
}

pub(crate) fn ended(end: TurnEnd) -> TurnOutcome {
    let (usage, models) = (Usage::default(), Vec::new());
    TurnOutcome { usage, end, models, thinking_ms: None, error_message: None, reclassified: 0 }
}

pub(crate) fn user_message(text: &str) -> Message {
    Message::user(text)
}

pub(crate) fn assistant_message(text: &str) -> Message {
    Message::Assistant { text: text.to_owned(), thinking: String::new(), calls: Vec::new(), provider_data: None }
}

/// The messages of the earlier turns.
pub(crate) async fn history_of(store: &ConversationStore, lease: &TurnLease, budget: usize) -> Vec<Message> {
    store.history(lease, budget).await.unwrap().into_iter().flat_map(|past| past.messages).collect()
}
