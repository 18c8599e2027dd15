use serde_json::{Value, json};

pub(super) const TABLE: &str = "letters";

/// An operation and its request body.
pub(super) type ScriptRequest = (&'static str, String);

/// The product's requests, with every answer that they may get; `token` is new to the database.
pub(super) fn supported_requests(token: &str) -> Vec<ScriptRequest> {
    encode([tables(), writes(), transactions(token), reads(), rejected_requests(), full_scans()].concat())
}

/// The expected outcomes of [`supported_requests`].
pub(super) const EXPECTED_OUTCOMES: &[&str] = &[
    "CreateTable: done",
    "CreateTable: ResourceInUseException",
    "DescribeTable: done",
    "DescribeTable: ResourceNotFoundException",
    "ListTables: done",
    "DescribeTimeToLive: done",
    "UpdateTimeToLive: done",
    "DescribeTimeToLive: done",
    "PutItem: done",
    "PutItem: done",
    "PutItem: ConditionalCheckFailedException",
    "UpdateItem: done",
    "UpdateItem: ConditionalCheckFailedException",
    "BatchWriteItem: done",
    "BatchWriteItem: done",
    "BatchWriteItem: done",
    "BatchWriteItem: done",
    "DeleteItem: ConditionalCheckFailedException",
    "DeleteItem: done",
    "TransactWriteItems: done",
    "TransactWriteItems: done",
    "TransactWriteItems: IdempotentParameterMismatchException",
    "TransactWriteItems: TransactionCanceledException",
    "GetItem: done",
    "GetItem: done",
    "GetItem: ResourceNotFoundException",
    "Query: done",
    "Query: done",
    "Query: done",
    "Scan: done",
    "BatchWriteItem: ValidationException",
    "BatchWriteItem: ValidationException",
    "BatchWriteItem: ValidationException",
    "BatchWriteItem: ValidationException",
    "BatchWriteItem: ValidationException",
    "BatchWriteItem: ValidationException",
    "BatchWriteItem: ValidationException",
    "BatchWriteItem: ValidationException",
    "BatchWriteItem: ResourceNotFoundException",
    "PutItem: ValidationException",
    "PutItem: ValidationException",
    "PutItem: ValidationException",
    "PutItem: ValidationException",
    "UpdateItem: ValidationException",
    "UpdateItem: ValidationException",
    "UpdateItem: ValidationException",
    "DeleteItem: ValidationException",
    "Query: ValidationException",
    "Query: ValidationException",
    "TransactWriteItems: ValidationException",
    "TransactWriteItems: ValidationException",
    "TransactWriteItems: ValidationException",
    "BatchWriteItem: ValidationException",
    "Scan: done",
    "Scan: done",
];

/// Operations that the product does not use; the last ones delete the table.
pub(super) fn unused_operations() -> Vec<ScriptRequest> {
    encode(vec![
        ("BatchGetItem", json!({ "RequestItems": { TABLE: { "Keys": [key("1")] } } })),
        ("TransactGetItems", json!({ "TransactItems": [{ "Get": of_table(json!({ "Key": key("1") })) }] })),
        ("DeleteTable", of_table(json!({}))),
        ("ListTables", json!({})),
    ])
}

/// Bodies that cannot be parsed, and unknown operations.
pub(super) fn unreadable_requests() -> Vec<ScriptRequest> {
    let raw = [("GetItem", "{"), ("GetItem", "[]"), ("PutItem", r#"{"TableName":7}"#), ("Query", "\"\u{1}\"")];
    let raw = raw.map(|(operation, body)| (operation, body.to_owned()));
    let unknown = vec![("DescribeLimits", json!({}))];
    encode(invalid()).into_iter().chain(raw).chain(encode(unknown)).collect()
}

/// Creates the table.
pub(super) fn create_table_request() -> Vec<ScriptRequest> {
    encode(vec![("CreateTable", table())])
}

fn encode(lines: Vec<(&'static str, Value)>) -> Vec<ScriptRequest> {
    lines.into_iter().map(|(operation, body)| (operation, body.to_string())).collect()
}

fn table() -> Value {
    let kinds = [("pk", "S"), ("sk", "S"), ("at", "N")];
    let kinds = kinds.map(|(name, kind)| json!({ "AttributeName": name, "AttributeType": kind }));
    json!({
        "TableName": TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": kinds,
        "KeySchema": keys("sk"),
        "LocalSecondaryIndexes": [
            { "IndexName": "by-at", "KeySchema": keys("at"), "Projection": { "ProjectionType": "ALL" } },
        ],
    })
}

fn keys(range: &str) -> Value {
    json!([{ "AttributeName": "pk", "KeyType": "HASH" }, { "AttributeName": range, "KeyType": "RANGE" }])
}

fn key(name: &str) -> Value {
    json!({ "pk": { "S": "a" }, "sk": { "S": name } })
}

/// An item with a value of every kind.
fn item(name: &str, at: u32) -> Value {
    json!({
        "pk": { "S": "a" }, "sk": { "S": name }, "at": { "N": at.to_string() },
        "bytes": { "B": "AAEC" }, "yes": { "BOOL": true }, "none": { "NULL": true }, "empty": { "S": "" },
        "list": { "L": [{ "N": "-1.50" }, { "S": "ß𝄞\"\\" }] }, "map": { "M": { "inner": { "N": "1e3" } } },
        "words": { "SS": ["b", "a"] }, "numbers": { "NS": ["10", "9"] }, "blobs": { "BS": ["AA==", "/w=="] },
    })
}

/// An item with only texts, numbers and bytes.
fn plain(name: &str, at: u32) -> Value {
    json!({ "pk": { "S": "a" }, "sk": { "S": name }, "at": { "N": at.to_string() }, "bytes": { "B": "AAEC" } })
}

/// An item that is not in the index.
fn unindexed(name: &str) -> Value {
    json!({ "pk": { "S": "a" }, "sk": { "S": name }, "text": { "S": "ß𝄞\"\\" }, "number": { "N": "1.50e2" } })
}

fn put(item: &Value) -> Value {
    json!({ "PutRequest": { "Item": item } })
}

fn batch(requests: &[Value]) -> Value {
    json!({ "RequestItems": { TABLE: requests } })
}

fn with_capacity_report(mut request: Value) -> Value {
    request["ReturnConsumedCapacity"] = "TOTAL".into();
    request
}

fn of_table(mut request: Value) -> Value {
    request["TableName"] = TABLE.into();
    request
}

/// Adds a condition that does not hold, and requests the existing item in the answer.
fn unmet(request: Value) -> Value {
    let mut request = of_table(request);
    request["ConditionExpression"] = "attribute_not_exists(pk)".into();
    request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD".into();
    request
}

fn transaction(token: &str, items: &Value) -> Value {
    json!({ "ClientRequestToken": token, "TransactItems": items })
}

fn page(more: &Value) -> Value {
    let mut query = of_table(json!({
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": { ":pk": { "S": "a" } },
        "Limit": 2,
    }));
    query.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    query
}

fn tables() -> Vec<(&'static str, Value)> {
    let expiry = json!({ "TimeToLiveSpecification": { "AttributeName": "expires", "Enabled": true } });
    vec![
        ("CreateTable", table()),
        ("CreateTable", table()),
        ("DescribeTable", of_table(json!({}))),
        ("DescribeTable", json!({ "TableName": "nowhere" })),
        ("ListTables", json!({})),
        ("DescribeTimeToLive", of_table(json!({}))),
        ("UpdateTimeToLive", of_table(expiry)),
        ("DescribeTimeToLive", of_table(json!({}))),
    ]
}

fn writes() -> Vec<(&'static str, Value)> {
    let change = json!({
        "Key": key("1"),
        "UpdateExpression": "ADD #at :one SET words2 = words",
        "ExpressionAttributeNames": { "#at": "at" },
        "ExpressionAttributeValues": { ":one": { "N": "1" } },
        "ReturnValues": "ALL_NEW",
        "ReturnConsumedCapacity": "TOTAL",
    });
    let puts = ["3", "4", "5"].map(|name| put(&item(name, 9)));
    vec![
        ("PutItem", of_table(json!({ "Item": item("1", 1) }))),
        ("PutItem", of_table(json!({ "Item": item("1", 2), "ReturnValues": "ALL_OLD" }))),
        ("PutItem", unmet(json!({ "Item": item("1", 3) }))),
        ("UpdateItem", of_table(change)),
        ("UpdateItem", unmet(json!({ "Key": key("1"), "UpdateExpression": "REMOVE words" }))),
        ("BatchWriteItem", json!({ "RequestItems": { TABLE: puts } })),
        (
            "BatchWriteItem",
            batch(&[put(&plain("4", 3)), put(&plain("8", 2)), put(&unindexed("3")), put(&plain("9", 1))]),
        ),
        ("BatchWriteItem", batch(&[put(&plain("7", 1)), json!({ "DeleteRequest": { "Key": key("9") } })])),
        ("BatchWriteItem", with_capacity_report(batch(&[put(&plain("7", 2))]))),
        ("DeleteItem", unmet(json!({ "Key": key("1") }))),
        ("DeleteItem", of_table(json!({ "Key": key("5"), "ReturnValues": "ALL_OLD" }))),
    ]
}

fn transactions(token: &str) -> Vec<(&'static str, Value)> {
    let put = |name| json!({ "Put": of_table(json!({ "Item": item(name, 4) })) });
    let wrong = json!([put("6"), { "Put": unmet(json!({ "Item": item("1", 4) })) }]);
    vec![
        ("TransactWriteItems", transaction(token, &json!([put("2")]))),
        ("TransactWriteItems", transaction(token, &json!([put("2")]))),
        ("TransactWriteItems", transaction(token, &json!([put("6")]))),
        ("TransactWriteItems", transaction(&format!("{token} unmet"), &wrong)),
    ]
}

fn reads() -> Vec<(&'static str, Value)> {
    vec![
        ("GetItem", of_table(json!({ "Key": key("1"), "ConsistentRead": true }))),
        ("GetItem", of_table(json!({ "Key": key("6") }))),
        ("GetItem", json!({ "TableName": "nowhere", "Key": key("1") })),
        ("Query", page(&json!({}))),
        ("Query", page(&json!({ "ExclusiveStartKey": key("2"), "ProjectionExpression": "sk, words" }))),
        ("Query", page(&json!({ "IndexName": "by-at", "ScanIndexForward": false }))),
        ("Scan", of_table(json!({ "Limit": 3 }))),
    ]
}

/// Reads all items.
fn full_scans() -> Vec<(&'static str, Value)> {
    vec![("Scan", of_table(json!({}))), ("Scan", of_table(json!({ "IndexName": "by-at" })))]
}

fn with(value: Value) -> Value {
    let mut item = item("8", 8);
    item["more"] = value;
    of_table(json!({ "Item": item }))
}

/// Requests that can be parsed but are rejected.
fn rejected_requests() -> Vec<(&'static str, Value)> {
    let (twice, seventh) = (put(&item("7", 7)), put(&plain("7", 7)));
    let many: Vec<_> = (0..26).map(|at| put(&plain(&format!("7 {at}"), at))).collect();
    let (mut large, mut mistyped, mut nameless) = (plain("7", 7), plain("7", 7), plain("7", 7));
    large["text"] = json!({ "S": "x".repeat(400 * 1024) });
    mistyped["at"] = json!({ "S": "7" });
    nameless[""] = json!({ "S": "7" });
    let emptied = json!({ "Put": with(json!({ "S": "" })) });
    let empty = json!({ "Put": of_table(json!({ "Item": key("") })) });
    let unused = json!({ "ExpressionAttributeValues": { ":pk": { "S": "a" }, ":more": { "S": "" } } });
    vec![
        ("BatchWriteItem", batch(&[twice.clone(), twice])),
        ("BatchWriteItem", batch(&[seventh.clone(), seventh.clone()])),
        ("BatchWriteItem", batch(&[seventh.clone(), put(&plain("", 7))])),
        ("BatchWriteItem", batch(&[seventh.clone(), put(&mistyped)])),
        ("BatchWriteItem", batch(&[seventh.clone(), put(&nameless)])),
        ("BatchWriteItem", batch(&[seventh.clone(), put(&large)])),
        ("BatchWriteItem", batch(&many)),
        ("BatchWriteItem", batch(&[])),
        ("BatchWriteItem", json!({ "RequestItems": { "nowhere": [seventh] } })),
        ("PutItem", of_table(json!({ "Item": key("") }))),
        ("PutItem", of_table(json!({ "Item": { "pk": { "N": "1" }, "sk": { "S": "8" } } }))),
        ("PutItem", with(json!({ "S": "x".repeat(400 * 1024) }))),
        ("PutItem", with(json!({ "SS": [] }))),
        ("UpdateItem", of_table(json!({ "Key": key("1"), "UpdateExpression": "SET" }))),
        ("UpdateItem", of_table(json!({ "Key": key("1"), "UpdateExpression": "REMOVE pk" }))),
        ("UpdateItem", of_table(json!({ "Key": key("1"), "UpdateExpression": "SET empty = empty + sk" }))),
        ("DeleteItem", of_table(json!({ "Key": { "pk": { "S": "a" } } }))),
        ("Query", page(&unused)),
        ("Query", page(&json!({ "IndexName": "none" }))),
        ("TransactWriteItems", json!({ "TransactItems": [emptied, emptied] })),
        ("TransactWriteItems", json!({ "TransactItems": [empty] })),
        ("TransactWriteItems", json!({ "TransactItems": [{ "Put": with(json!({ "NS": [] })) }] })),
        ("BatchWriteItem", json!({ "RequestItems": { TABLE: [{ "PutRequest": with(json!({ "BS": [] })) }] } })),
    ]
}

/// Requests with invalid values.
fn invalid() -> Vec<(&'static str, Value)> {
    let deep = (0..200).fold(json!({ "S": "bottom" }), |inner, _| json!({ "M": { "m": inner } }));
    vec![
        ("PutItem", with(json!({ "N": "many" }))),
        ("PutItem", with(json!({ "N": "1e2147483648" }))),
        ("PutItem", with(json!({ "NULL": false }))),
        ("PutItem", with(deep)),
        ("Query", page(&json!({ "Limit": 0 }))),
        ("TransactWriteItems", json!({ "TransactItems": [{ "Put": with(json!({ "N": "1e2147483648" })) }] })),
    ]
}
