//! A server for one vector index, as Amazon S3 Vectors' API reference (2025-07-15) describes its operations.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The longest filterable metadata of a vector, in bytes.
const MAX_FILTERABLE_BYTES: usize = 2048;

/// What the server does with a request instead of answering it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// Answers with this status, and `Retry-After: 0`.
    Status(u16),
    /// Never answers, and does nothing.
    Hang,
    /// Does what was requested, and never answers.
    HangAfter,
}

/// How the index was created.
#[derive(Clone, Debug)]
pub(crate) struct IndexSettings {
    pub(crate) dimensions: usize,
    pub(crate) metric: &'static str,
    pub(crate) non_filterable: Vec<&'static str>,
    /// The status of the full-text search of the key `text`.
    pub(crate) text_search: Option<&'static str>,
}

#[derive(Clone, Default)]
pub(crate) struct VectorsServer {
    pub(crate) url: String,
    state: Arc<Mutex<Contents>>,
    hung: Arc<Notify>,
}

#[derive(Default)]
struct Contents {
    settings: IndexSettings,
    vectors: BTreeMap<String, Stored>,
    faults: HashMap<&'static str, VecDeque<Option<Fault>>>,
    requests: Vec<(String, Value)>,
    page_length: usize,
    ignores_filters: bool,
    reverses: bool,
}

struct Stored {
    vector: Vec<f32>,
    metadata: Value,
}

/// A vector that a query found.
struct Hit<'a> {
    key: &'a String,
    stored: &'a Stored,
    distance: Option<f32>,
    terms: Option<f32>,
    fused: f32,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self { dimensions: 1024, metric: "cosine", non_filterable: vec!["text"], text_search: Some("ACTIVE") }
    }
}

impl VectorsServer {
    pub(crate) async fn start(settings: IndexSettings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self { url: format!("http://{}", listener.local_addr().unwrap()), ..Self::default() };
        *server.state.lock().unwrap() = Contents { settings, page_length: 7, ..Contents::default() };
        let router = Router::new().route("/{operation}", post(answer)).with_state(server.clone());
        let router = router.layer(axum::extract::DefaultBodyLimit::max(20 * 1024 * 1024));
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    /// Sets what happens to the next requests of an operation, one each; `None` for an answer.
    pub(crate) fn fail(&self, operation: &'static str, faults: impl IntoIterator<Item = Option<Fault>>) {
        self.state.lock().unwrap().faults.entry(operation).or_default().extend(faults);
    }

    /// Waits until a request hangs; times out if none does.
    pub(crate) async fn hang(&self) {
        tokio::time::timeout(Duration::from_secs(20), self.hung.notified()).await.unwrap();
    }

    /// Answers queries without their filters from now on.
    pub(crate) fn ignore_filters(&self) {
        self.state.lock().unwrap().ignores_filters = true;
    }

    /// Answers queries in the opposite order from now on.
    pub(crate) fn reverse(&self) {
        self.state.lock().unwrap().reverses = true;
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.state.lock().unwrap().vectors.keys().cloned().collect()
    }

    /// The metadata of all vectors, in the order of their keys.
    pub(crate) fn metadata(&self) -> Vec<Value> {
        self.state.lock().unwrap().vectors.values().map(|stored| stored.metadata.clone()).collect()
    }

    /// The number of requests so far, by operation.
    pub(crate) fn count(&self, operation: &str) -> usize {
        self.state.lock().unwrap().requests.iter().filter(|(name, _)| name == operation).count()
    }

    /// The last request of an operation.
    pub(crate) fn last(&self, operation: &str) -> Value {
        let state = self.state.lock().unwrap();
        state.requests.iter().rev().find(|(name, _)| name == operation).unwrap().1.clone()
    }
}

async fn answer(
    State(server): State<VectorsServer>,
    Path(operation): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    check_signature(&headers);
    let request: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((&request["vectorBucketName"], &request["indexName"]), (&json!("bucket"), &json!("articles")));
    let fault = {
        let mut state = server.state.lock().unwrap();
        state.requests.push((operation.clone(), request.clone()));
        state.faults.get_mut(operation.as_str()).and_then(VecDeque::pop_front).flatten()
    };
    if let Some(Fault::Status(status)) = fault {
        return error(status, "TooManyRequestsException");
    }
    if matches!(fault, Some(Fault::Hang)) {
        server.hung.notify_one();
        std::future::pending::<()>().await;
    }
    let outcome = server.state.lock().unwrap().run(&operation, &request);
    if matches!(fault, Some(Fault::HangAfter)) {
        server.hung.notify_one();
        std::future::pending::<()>().await;
    }
    outcome.map_or_else(|reason| error(400, reason), |response| Json(response).into_response())
}

/// Checks what Signature Version 4 puts into the headers.
fn check_signature(headers: &HeaderMap) {
    let authorization = headers["authorization"].to_str().unwrap();
    let scope = "/us-east-1/s3vectors/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=";
    let (credential, signature) = authorization.split_once(scope).unwrap();
    assert!(credential.starts_with("AWS4-HMAC-SHA256 Credential=local/"), "{authorization}");
    assert!(signature.len() == 64 && signature.bytes().all(|byte| byte.is_ascii_hexdigit()), "{authorization}");
    assert_eq!((headers["content-type"].to_str().unwrap(), headers["x-amz-date"].len()), ("application/json", 16));
}

fn error(status: u16, code: &'static str) -> Response {
    let headers = [("x-amzn-errortype", code), ("retry-after", "0")];
    (StatusCode::from_u16(status).unwrap(), headers, r#"{"message":"canary of the service"}"#).into_response()
}

impl Contents {
    fn run(&mut self, operation: &str, request: &Value) -> Result<Value, &'static str> {
        match operation {
            "GetIndex" => Ok(self.describe()),
            "PutVectors" => self.put(request["vectors"].as_array().unwrap()),
            "DeleteVectors" => self.delete(request["keys"].as_array().unwrap()),
            "QueryVectors" => self.query(request),
            _ => Err("UnknownOperationException"),
        }
    }

    fn describe(&self) -> Value {
        let IndexSettings { dimensions, metric, non_filterable, text_search } = &self.settings;
        let searches: Vec<Value> =
            text_search.iter().map(|status| json!({ "metadataKey": "text", "status": status })).collect();
        json!({ "index": {
            "vectorBucketName": "bucket", "indexName": "articles", "creationTime": 1_800_000_000,
            "indexArn": "arn:aws:s3vectors:us-east-1:123456789012:bucket/bucket/index/articles",
            "dataType": "float32", "dimension": dimensions, "distanceMetric": metric,
            "metadataConfiguration": { "nonFilterableMetadataKeys": non_filterable, "textSearchConfigurations": searches }
        } })
    }

    fn put(&mut self, vectors: &[Value]) -> Result<Value, &'static str> {
        let mut checked = Vec::new();
        for row in vectors {
            let components = row["data"]["float32"].as_array().unwrap();
            let vector: Vec<f32> = components.iter().map(as_f32).collect();
            let mut filterable = row["metadata"].as_object().unwrap().clone();
            filterable.retain(|key, _| !self.settings.non_filterable.contains(&key.as_str()));
            let is_valid = vector.len() == self.settings.dimensions
                && vector.iter().any(|value| *value != 0.0)
                && Value::from(filterable).to_string().len() <= MAX_FILTERABLE_BYTES;
            if !is_valid {
                return Err("ValidationException");
            }
            let key = row["key"].as_str().unwrap().to_owned();
            checked.push((key, Stored { vector, metadata: row["metadata"].clone() }));
        }
        if checked.is_empty() || checked.len() > 500 {
            return Err("ValidationException");
        }
        self.vectors.extend(checked);
        Ok(json!({}))
    }

    fn delete(&mut self, keys: &[Value]) -> Result<Value, &'static str> {
        if keys.is_empty() || keys.len() > 500 {
            return Err("ValidationException");
        }
        for key in keys {
            self.vectors.remove(key.as_str().unwrap());
        }
        Ok(json!({}))
    }

    fn query(&self, request: &Value) -> Result<Value, &'static str> {
        let top = usize::try_from(request["topK"].as_u64().unwrap()).unwrap();
        let (vector, text) = (request["queryVector"]["float32"].as_array(), request["queryTexts"][0]["text"].as_str());
        if vector.is_some_and(|vector| vector.len() != self.settings.dimensions) || (vector.is_none() && text.is_none())
        {
            return Err("ValidationException");
        }
        if text.is_some() && self.settings.text_search != Some("ACTIVE") {
            return Err("ValidationException");
        }
        let vector: Option<Vec<f32>> = vector.map(|vector| vector.iter().map(as_f32).collect());
        let mut found = self.rank(vector.as_deref(), text, &request["filter"]);
        if self.reverses {
            found.reverse();
        }
        found.truncate(top);
        let from: usize =
            request["nextToken"].as_str().map_or(0, |token| token.strip_prefix("t/+=").unwrap().parse().unwrap());
        let end = (from + self.page_length).min(found.len());
        let row = |hit: &Hit<'_>| {
            let mut row = json!({ "key": hit.key, "metadata": hit.stored.metadata });
            if request["returnDistance"] == true && text.is_none() {
                row["distance"] = json!(hit.distance);
            }
            if request["returnScores"] == true && text.is_some() {
                row["scores"] = hit.scores();
            }
            row
        };
        let rows: Vec<Value> = found[from..end].iter().map(row).collect();
        let mut response = json!({ "vectors": rows, "distanceMetric": self.settings.metric });
        if end < found.len() {
            response["nextToken"] = json!(format!("t/+={end}"));
        }
        Ok(response)
    }
}

impl Contents {
    /// Ranks by distance, by terms, or by both with reciprocal rank fusion.
    fn rank(&self, vector: Option<&[f32]>, text: Option<&str>, filter: &Value) -> Vec<Hit<'_>> {
        let visible =
            self.vectors.iter().filter(|(_, stored)| self.ignores_filters || matches(filter, &stored.metadata));
        let mut hits: Vec<Hit<'_>> = visible
            .map(|(key, stored)| Hit {
                key,
                stored,
                distance: vector.map(|vector| 1.0 - cosine(vector, &stored.vector)),
                terms: text.and_then(|text| overlap(text, &stored.metadata)),
                fused: 0.0,
            })
            .filter(|hit| hit.distance.is_some() || hit.terms.is_some())
            .collect();
        for value in [|hit: &Hit<'_>| hit.distance, |hit: &Hit<'_>| hit.terms.map(|terms| -terms)] {
            hits.sort_by(|one, other| value(one).unwrap_or(f32::MAX).total_cmp(&value(other).unwrap_or(f32::MAX)));
            for (rank, hit) in (61_u16..).zip(&mut hits).filter(|(_, hit)| value(hit).is_some()) {
                hit.fused += 1.0 / f32::from(rank);
            }
        }
        hits.sort_by(|one, other| other.fused.total_cmp(&one.fused));
        hits
    }
}

impl Hit<'_> {
    fn scores(&self) -> Value {
        let terms: Vec<Value> =
            self.terms.iter().map(|terms| json!({ "metadataKey": "text", "score": terms })).collect();
        let mut scores = json!({ "bm25Scores": terms });
        if let Some(distance) = self.distance {
            scores["vectorDistance"] = json!(distance);
            scores["fused"] = json!(self.fused);
        }
        scores
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the service stores 32-bit numbers")]
fn as_f32(value: &Value) -> f32 {
    value.as_f64().unwrap() as f32
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let sum = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    sum(one, other) / (sum(one, one) * sum(other, other)).sqrt()
}

/// How many terms of a query are in the text of a vector, if any is.
fn overlap(query: &str, metadata: &Value) -> Option<f32> {
    let text = metadata["text"].as_str()?.to_lowercase();
    let count = query.to_lowercase().split_whitespace().filter(|term| text.contains(*term)).count();
    u16::try_from(count).ok().filter(|count| *count > 0).map(f32::from)
}

/// The operators of filters that the product uses.
fn matches(filter: &Value, metadata: &Value) -> bool {
    filter.as_object().unwrap().iter().all(|(key, condition)| {
        if key == "$and" {
            return condition.as_array().unwrap().iter().all(|part| matches(part, metadata));
        }
        if key == "$or" {
            return condition.as_array().unwrap().iter().any(|part| matches(part, metadata));
        }
        condition.as_object().unwrap().iter().all(|(operator, value)| match operator.as_str() {
            "$eq" => metadata[key] == *value || metadata[key].as_array().is_some_and(|all| all.contains(value)),
            "$exists" => metadata.get(key).is_some() == (*value == true),
            "$nin" => !value.as_array().unwrap().contains(&metadata[key]),
            "$in" => value.as_array().unwrap().contains(&metadata[key]),
            _ => unreachable!("{operator}"),
        })
    })
}
