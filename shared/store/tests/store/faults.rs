use store::{BeginError, LeaseError, StoreError};

use crate::support::{
    Finish, alice, answer, assistant_message, at, config, first_turn, history_of, names, next_turn, rows, store_at,
    store_without_retries_at, user_message,
};
use crate::wire::{Fault, Wire};

#[tokio::test]
async fn f081_begin_with_lost_response_succeeds() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_without_retries_at(&endpoint).await.conversations;
    wire.fail("TransactWriteItems", &[Fault::LostResponse]);
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    wire.fail("TransactWriteItems", &[Fault::LostResponse]);
    store.finish(&lease, &answer("A"), at(1)).await.unwrap();
    wire.fail("TransactWriteItems", &[Fault::LostResponse]);
    let next = store.begin(&alice(), &next_turn(&lease.conversation_id, "Q2"), at(2)).await.unwrap();
    assert_eq!(history_of(&store, &next, 1000).await, [user_message("Q"), assistant_message("A")]);
    assert_eq!(store.get(&alice(), &lease.conversation_id).await.unwrap().message_count, 4);
}

#[tokio::test]
async fn f082_sdk_retry_writes_once() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    wire.fail("TransactWriteItems", &[Fault::LostResponse]);
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    assert_eq!(store.get(&alice(), &lease.conversation_id).await.unwrap().message_count, 2);
    assert_eq!(rows(&endpoint, "data").await.len(), 3);
}

#[tokio::test]
async fn undelivered_begin_is_busy_and_writes_nothing() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_without_retries_at(&endpoint).await.conversations;
    wire.fail("TransactWriteItems", &[Fault::Refused("ThrottlingException")]);
    let failed = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap_err();
    assert_eq!(failed, BeginError::Store(StoreError::Busy));
    assert_eq!(rows(&endpoint, "data").await, []);
}

#[tokio::test]
async fn f082_conflicts_are_retried_at_begin_and_end() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_without_retries_at(&endpoint).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    wire.fail(
        "TransactWriteItems",
        &[Fault::Cancelled("TransactionConflict"), Fault::Cancelled("TransactionConflict")],
    );
    store.finish(&lease, &answer("A"), at(1)).await.unwrap();
    wire.fail(
        "TransactWriteItems",
        &[Fault::Cancelled("TransactionConflict"), Fault::Cancelled("TransactionConflict")],
    );
    let next = store.begin(&alice(), &next_turn(&lease.conversation_id, "Q2"), at(2)).await.unwrap();
    wire.fail(
        "TransactWriteItems",
        &[Fault::Cancelled("ThrottlingError"), Fault::Cancelled("ProvisionedThroughputExceeded")],
    );
    store.begin(&alice(), &first_turn("Q3"), at(2)).await.unwrap();
    wire.fail(
        "UpdateItem",
        &[Fault::Refused("TransactionConflictException"), Fault::Refused("TransactionConflictException")],
    );
    store.renew(&next, at(3)).await.unwrap();
}

#[tokio::test]
async fn f079_throttling_is_retried_then_busy() {
    let (wire, endpoint) = Wire::new().await;
    let patient = store_at(&endpoint).await.conversations;
    wire.fail("TransactWriteItems", &[Fault::Refused("ProvisionedThroughputExceededException")]);
    let lease = patient.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let impatient = store_without_retries_at(&endpoint).await.conversations;
    for code in ["ThrottlingException", "RequestLimitExceeded", "ProvisionedThroughputExceededException"] {
        wire.fail("UpdateItem", &[Fault::Refused(code)]);
        assert_eq!(impatient.renew(&lease, at(1)).await, Err(LeaseError::Store(StoreError::Busy)), "{code}");
    }
    wire.fail("TransactWriteItems", &[(); 20].map(|()| Fault::Cancelled("ThrottlingError")));
    assert_eq!(impatient.finish(&lease, &answer("A"), at(1)).await, Err(LeaseError::Store(StoreError::Busy)));
}

#[tokio::test]
async fn fault_names_operation_and_code_only() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_without_retries_at(&endpoint).await.conversations;
    wire.fail("TransactWriteItems", &[Fault::Refused("ValidationException")]);
    let failed = store.begin(&alice(), &first_turn("hunter2"), at(0)).await.unwrap_err();
    assert_eq!(failed.to_string(), "storage fault: TransactWriteItems: ValidationException");
    wire.fail("TransactWriteItems", &[Fault::Cancelled("ValidationError")]);
    let failed = store.begin(&alice(), &first_turn("hunter2"), at(0)).await.unwrap_err();
    assert_eq!(failed.to_string(), "storage fault: TransactWriteItems: ValidationError");
}

#[tokio::test]
async fn unreachable_database_is_busy() {
    let nobody = "http://127.0.0.1:9";
    let config = config(nobody).to_builder().retry_config(aws_smithy_types::retry::RetryConfig::disabled()).build();
    let store = store::Store::new(&config, names());
    let failed = store.conversations.list(&alice(), 10, None).await.unwrap_err();
    assert_eq!(failed, StoreError::Busy.into());
}
