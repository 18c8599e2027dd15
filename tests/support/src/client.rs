use serde_json::{Value, json};

use crate::description::check_request;
use crate::{ApiResponse, EventStream, Transcript, with_timeout};

/// An HTTP client of the product, as one caller.
#[derive(Clone)]
pub struct Client {
    http: platform::transport::Client,
    base: String,
    /// The header that names the caller.
    caller: Option<(&'static str, String)>,
}

impl Client {
    /// A client of the product at this URL, as the caller `local`.
    pub fn new(base: &str) -> Self {
        let http = platform::transport::build_client().expect("the HTTP client builds");
        Self { http, base: base.trim_end_matches('/').to_owned(), caller: None }
    }

    /// A client of the same product, as another caller.
    #[must_use]
    pub fn as_user(&self, name: &str) -> Self {
        Self { caller: Some(("x-user-id", name.to_owned())), ..self.clone() }
    }

    /// A client of the same product, as the holder of a key.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        Self { caller: Some(("x-api-key", key.to_owned())), ..self.clone() }
    }

    /// The product's base URL, without a trailing slash.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Runs a turn to its end.
    pub async fn chat(&self, body: &Value) -> Transcript {
        self.open(body).await.read_to_end().await
    }

    /// Runs a turn with this message in a new conversation to its end.
    pub async fn send_message(&self, message: &str) -> Transcript {
        self.chat(&json!({ "message": message })).await
    }

    /// Runs a turn with this message in an existing conversation to its end.
    pub async fn follow_up(&self, conversation: &str, message: &str) -> Transcript {
        self.chat(&json!({ "message": message, "conversationId": conversation })).await
    }

    /// Starts a turn and returns its live event stream.
    pub async fn open(&self, body: &Value) -> EventStream {
        EventStream::new(self.start_turn("/api/chat", body).await, false)
    }

    /// Starts a turn and returns its live event stream with accumulated content.
    pub async fn open_accumulated(&self, body: &Value) -> EventStream {
        EventStream::new(self.start_turn("/api/chat?sse=accumulated", body).await, true)
    }

    /// Regenerates the last answer of a conversation and returns the live event stream.
    pub async fn regenerate(&self, conversation: &str, body: &Value) -> EventStream {
        EventStream::new(self.start_turn(&format!("/api/conversations/{conversation}/regenerate"), body).await, false)
    }

    /// Continues an answer of a conversation and returns the live event stream.
    pub async fn continue_answer(&self, conversation: &str, body: &Value) -> EventStream {
        EventStream::new(self.start_turn(&format!("/api/conversations/{conversation}/continue"), body).await, false)
    }

    /// Resumes a conversation's turn after the frame with id `last`, or from its start; `None` on status 204.
    pub async fn resume(&self, conversation: &str, last: Option<&str>) -> Option<EventStream> {
        let request = self.request("GET", &format!("/api/conversations/{conversation}/stream"));
        let request = last.into_iter().fold(request, |request, last| request.header("last-event-id", last));
        let response = with_timeout("a turn to be resumed", request.send()).await.expect("the product answers");
        if response.status() == 204 {
            return None;
        }
        assert!(response.status() == 200, "the turn was refused: {:?}", read_response(response, "GET").await.text());
        Some(match last {
            None => EventStream::new(response, false),
            Some(last) => EventStream::resumed_after(response, last),
        })
    }

    async fn start_turn(&self, path: &str, body: &Value) -> reqwest::Response {
        let request = self.request("POST", path).json(body);
        let response = with_timeout("a turn to start", request.send()).await.expect("the product answers");
        assert!(response.status() == 200, "the turn was refused: {:?}", read_response(response, "POST").await.text());
        check_request("POST", path, body.to_string().as_bytes());
        response
    }

    /// Runs a turn whose response is one JSON document.
    pub async fn chat_once(&self, body: &Value) -> ApiResponse {
        let mut body = body.clone();
        body["stream"] = false.into();
        self.post("/api/chat", &body).await
    }

    /// `GET`.
    pub async fn get(&self, path: &str) -> ApiResponse {
        execute(self.request("GET", path)).await
    }

    /// `DELETE`.
    pub async fn delete(&self, path: &str) -> ApiResponse {
        execute(self.request("DELETE", path)).await
    }

    /// `POST` with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> ApiResponse {
        execute(self.request("POST", path).json(body)).await
    }

    /// `PUT` with a JSON body.
    pub async fn put(&self, path: &str, body: &Value) -> ApiResponse {
        execute(self.request("PUT", path).json(body)).await
    }

    /// `PATCH` with a JSON body.
    pub async fn patch(&self, path: &str, body: &Value) -> ApiResponse {
        execute(self.request("PATCH", path).json(body)).await
    }

    /// Sends a request with any method, headers and body.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> ApiResponse {
        let request =
            headers.iter().fold(self.request(method, path), |request, (name, value)| request.header(*name, *value));
        execute(request.body(body.into())).await
    }

    /// Sends a chat request with this body, unchanged.
    pub async fn chat_bytes(&self, body: impl Into<Vec<u8>>) -> ApiResponse {
        self.send("POST", "/api/chat", &[("content-type", "application/json")], body).await
    }

    /// Reads a conversation with its messages.
    pub async fn conversation(&self, id: &str) -> Value {
        self.get(&format!("/api/conversations/{id}")).await.ok()
    }

    /// Reads a conversation repeatedly until its last message is no longer `running`.
    pub async fn read_finished_conversation(&self, id: &str) -> Value {
        let polling = async {
            loop {
                let conversation = self.conversation(id).await;
                let last = conversation["messages"].as_array().and_then(|list| list.last().cloned());
                if last.is_some_and(|message| message["status"] != "running") {
                    return conversation;
                }
            }
        };
        with_timeout("a turn to be stored", polling).await
    }

    fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let method = method.parse().expect("a method");
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.caller {
            Some((header, value)) => request.header(*header, value),
            None => request,
        }
    }
}

async fn execute(request: reqwest::RequestBuilder) -> ApiResponse {
    let (http, request) = request.build_split();
    let request = request.expect("the request is well formed");
    let (method, path) = (request.method().clone(), request.url().path().to_owned());
    let body = request.body().and_then(reqwest::Body::as_bytes).unwrap_or_default().to_vec();
    let response = with_timeout("an answer", http.execute(request)).await.expect("the product answers");
    let response = read_response(response, method.as_str()).await;
    if response.status < 300 {
        check_request(method.as_str(), &path, &body);
    }
    response
}

async fn read_response(response: reqwest::Response, method: &str) -> ApiResponse {
    let (status, target) = (response.status().as_u16(), response.url().path().to_owned());
    let mut headers = std::collections::BTreeMap::<String, String>::new();
    for (name, value) in response.headers() {
        let value = value.to_str().expect("header values are ASCII");
        let joined = headers.get(name.as_str()).map_or(value.to_owned(), |before| format!("{before}, {value}"));
        headers.insert(name.as_str().to_owned(), joined);
    }
    let body = with_timeout("a body", response.bytes()).await.expect("the body ends cleanly");
    ApiResponse { status, headers, body: body.to_vec() }.validate(method, &target)
}
