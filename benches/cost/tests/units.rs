//! The counting proxy's units for requests of known sizes, compared with DynamoDB's documented rules: a write unit is 1 KB
//! of an item, rounded up, and doubled in a transaction; a read unit is 4 KB; an index is written once.

#![expect(clippy::unwrap_used, reason = "what a test expects and does not find ends it")]

use cost::CountingDatabase;
use serde_json::{Value, json};

struct TestTables {
    counted: CountingDatabase,
    http: platform::transport::Client,
}

/// Read units, write units, write units of the index.
type Units = (f64, f64, f64);

impl TestTables {
    async fn start() -> Self {
        let tables =
            Self { counted: CountingDatabase::start().await, http: platform::transport::build_client().unwrap() };
        let key = |name: &str, kind: &str| json!({ "AttributeName": name, "KeyType": kind });
        let index = json!({
            "IndexName": "by-updated", "Projection": { "ProjectionType": "ALL" },
            "KeySchema": [key("pk", "HASH"), key("updatedAt", "RANGE")],
        });
        let attribute = |name: &str, kind: &str| json!({ "AttributeName": name, "AttributeType": kind });
        let table = json!({
            "TableName": "data", "BillingMode": "PAY_PER_REQUEST", "LocalSecondaryIndexes": [index],
            "KeySchema": [key("pk", "HASH"), key("sk", "RANGE")],
            "AttributeDefinitions": [attribute("pk", "S"), attribute("sk", "S"), attribute("updatedAt", "N")],
        });
        tables.send("CreateTable", table).await;
        tables
    }

    /// Sends a request about the table; returns its units.
    async fn send_for_table(&self, operation: &str, mut body: Value) -> Units {
        body["TableName"] = "data".into();
        self.send(operation, body).await
    }

    async fn transact(&self, part: &str, mut about: Value) -> Units {
        about["TableName"] = "data".into();
        self.send("TransactWriteItems", json!({ "TransactItems": [{ part: about }] })).await
    }

    async fn send(&self, operation: &str, body: Value) -> Units {
        let request =
            self.http.post(&self.counted.address).header("x-amz-target", format!("DynamoDB_20120810.{operation}"));
        let request = request.header("content-type", "application/x-amz-json-1.0");
        let signed =
            "AWS4-HMAC-SHA256 Credential=local/20261121/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0";
        let request = request.header("authorization", signed).header("x-amz-date", "20261121T000000Z");
        let _answer = request.body(body.to_string()).send().await.unwrap();
        let requests = self.counted.take();
        requests.last().map(|seen| (seen.request.read, seen.request.write, seen.request.index)).unwrap_or_default()
    }
}

/// An item of this many bytes: 2 + 1 for `pk`, 2 + 1 for `sk`, 1 for `t` and its value.
fn item(sk: &str, bytes: usize) -> Value {
    json!({ "pk": { "S": "K" }, "sk": { "S": sk }, "t": { "S": "x".repeat(bytes - 7) } })
}

fn key(sk: &str) -> Value {
    json!({ "pk": { "S": "K" }, "sk": { "S": sk } })
}

#[tokio::test]
async fn write_units_follow_larger_of_old_and_new() {
    let tables = TestTables::start().await;
    let put = async |bytes| tables.send_for_table("PutItem", json!({ "Item": item("a", bytes) })).await;
    assert_eq!(put(1024).await, (0.0, 1.0, 0.0));
    assert_eq!(put(1025).await, (0.0, 2.0, 0.0));
    assert_eq!(put(100).await, (0.0, 2.0, 0.0), "what it was before is larger");
    assert_eq!(put(100).await, (0.0, 1.0, 0.0));
    let update = json!({
        "Key": key("a"), "UpdateExpression": "SET t = :t", "ExpressionAttributeValues": { ":t": { "S": "x".repeat(2048) } },
    });
    assert_eq!(tables.send_for_table("UpdateItem", update).await, (0.0, 3.0, 0.0));
    assert_eq!(tables.send_for_table("DeleteItem", json!({ "Key": key("a") })).await, (0.0, 3.0, 0.0));
    assert_eq!(
        tables.send_for_table("DeleteItem", json!({ "Key": key("a") })).await,
        (0.0, 1.0, 0.0),
        "nothing is there"
    );
}

#[tokio::test]
async fn transaction_doubles_units_and_batch_does_not() {
    let tables = TestTables::start().await;
    assert_eq!(tables.transact("Put", json!({ "Item": item("a", 1024) })).await, (0.0, 2.0, 0.0));
    assert_eq!(tables.transact("Put", json!({ "Item": item("a", 1025) })).await, (0.0, 4.0, 0.0));
    let puts = [item("b", 100), item("c", 1025)].map(|item| json!({ "PutRequest": { "Item": item } }));
    assert_eq!(tables.send("BatchWriteItem", json!({ "RequestItems": { "data": puts } })).await, (0.0, 3.0, 0.0));
}

#[tokio::test]
async fn read_unit_is_4_kb_of_total_size() {
    let tables = TestTables::start().await;
    for (sk, bytes) in [("a", 4096), ("b", 4097)] {
        tables.send_for_table("PutItem", json!({ "Item": item(sk, bytes) })).await;
    }
    let get = async |sk| tables.send_for_table("GetItem", json!({ "Key": key(sk), "ConsistentRead": true })).await;
    assert_eq!((get("a").await, get("b").await), ((1.0, 0.0, 0.0), (2.0, 0.0, 0.0)));
    assert_eq!(get("nothing").await, (1.0, 0.0, 0.0));
    let query = json!({
        "KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": { ":pk": { "S": "K" } }, "ConsistentRead": true,
        "ProjectionExpression": "pk",
    });
    assert_eq!(tables.send_for_table("Query", query).await, (3.0, 0.0, 0.0), "8,193 bytes, whatever is shown of them");
}

#[tokio::test]
async fn index_units_follow_changes_and_double_on_move() {
    let tables = TestTables::start().await;
    let key = json!({ "pk": { "S": "U#ann" }, "sk": { "S": "C#1" } });
    let set = |what: &str, number: u32| {
        let values = json!({ ":n": { "N": number.to_string() } });
        json!({ "Key": key, "UpdateExpression": format!("SET {what} = :n"), "ExpressionAttributeValues": values })
    };
    assert_eq!(
        tables.send_for_table("UpdateItem", set("leaseUntil", 1)).await,
        (0.0, 1.0, 0.0),
        "it is not in the index yet"
    );
    assert_eq!(tables.send_for_table("UpdateItem", set("updatedAt", 1)).await, (0.0, 1.0, 1.0));
    assert_eq!(tables.send_for_table("UpdateItem", set("leaseUntil", 2)).await, (0.0, 1.0, 1.0));
    assert_eq!(tables.send_for_table("UpdateItem", set("leaseUntil", 2)).await, (0.0, 1.0, 0.0), "nothing changes");
    assert_eq!(tables.send_for_table("UpdateItem", set("updatedAt", 2)).await, (0.0, 1.0, 2.0));
    assert_eq!(tables.transact("Update", set("updatedAt", 3)).await, (0.0, 2.0, 2.0));
}

#[tokio::test]
async fn failed_condition_costs_the_prevented_write() {
    let tables = TestTables::start().await;
    tables.send_for_table("PutItem", json!({ "Item": item("a", 1025) })).await;
    let update = |sk| {
        json!({
            "Key": key(sk), "UpdateExpression": "SET v = :v", "ConditionExpression": "v = :v",
            "ExpressionAttributeValues": { ":v": { "N": "1" } }, "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        })
    };
    assert_eq!(tables.send_for_table("UpdateItem", update("a")).await, (0.0, 2.0, 0.0));
    assert_eq!(tables.send_for_table("UpdateItem", update("nothing")).await, (0.0, 1.0, 0.0));
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "not asked within two minutes")]
async fn waiting_for_a_missing_request_times_out() {
    CountingDatabase::start().await.wait_for(|_| true).await;
}
