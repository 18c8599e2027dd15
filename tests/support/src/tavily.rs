use serde_json::{Value, json};

use crate::server::FakeServer;
use crate::{Reply, Request};

/// The key that the product is configured to send to the fake search.
pub const SEARCH_KEY: &str = "tvly-canary-search-91e2f6b4";

/// Tavily's `/search` and `/extract` on loopback: plays a script and records its requests. With an empty queue it
/// replies with [`FakeTavily::search_reply`] or [`FakeTavily::page_reply`].
pub struct FakeTavily(FakeServer);

impl FakeTavily {
    /// Starts a server that finds something for every query and reads every page.
    pub async fn start() -> Self {
        let server = FakeServer::start("fake search", rules).await;
        server.respond_with(|request| match request.json() {
            body if body.get("urls").is_some() => Self::page_reply(&body),
            body => Self::search_reply(&body),
        });
        Self(server)
    }

    /// The base URL for the settings.
    pub fn url(&self) -> String {
        format!("http://{}", self.0.address)
    }

    /// Queues replies for the next requests, one each.
    pub fn queue_replies(&self, replies: impl IntoIterator<Item = Reply>) {
        self.0.queue_replies(replies);
    }

    /// Sets the function that answers requests when the queue is empty.
    pub fn respond_with(&self, responder: impl Fn(&Value) -> Reply + Send + 'static) {
        self.0.respond_with(move |request| responder(&request.json()));
    }

    /// The bodies of the requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.0.requests().iter().map(Request::json).collect()
    }

    /// The queries so far.
    pub fn queries(&self) -> Vec<String> {
        self.requests().iter().map(|body| body["query"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Waits for `count` requests.
    pub async fn wait_for_requests(&self, count: usize) {
        self.0.wait_for_requests(count).await;
    }

    /// The reply to a search: a summary and two pages that name the query, for 2 credits.
    pub fn search_reply(body: &Value) -> Reply {
        let query = body["query"].as_str().unwrap_or_default();
        let page = |n: u32| {
            json!({
                "title": format!("{query}：第{n}页"), "url": format!("https://example.com/{n}"),
                "content": format!("关于“{query}”的内容 {n}。"), "score": 0.9, "raw_content": null,
            })
        };
        Self::search_reply_with(query, &json!([page(1), page(2)]), &json!(format!("“{query}”的摘要。")))
    }

    /// The reply to a page request: a heading and a line that name the URL, for 1 credit.
    pub fn page_reply(body: &Value) -> Reply {
        let url = &body["urls"][0];
        let text = format!("# 网页\n{} 的正文。", url.as_str().unwrap_or_default());
        let row = json!({ "url": url, "raw_content": text, "images": [] });
        let usage = json!({ "credits": 1 });
        Reply::json(200, &json!({ "results": [row], "failed_results": [], "response_time": 0.1, "usage": usage }))
    }

    /// The reply to a request for a page that the provider cannot read.
    pub fn unreadable_page_reply(body: &Value) -> Reply {
        let row = json!({ "url": body["urls"][0], "error": "upstream words" });
        Reply::json(200, &json!({ "results": [], "failed_results": [row], "usage": { "credits": 0 } }))
    }

    /// A search reply with these results and this summary, for 2 credits.
    pub fn search_reply_with(query: &str, results: &Value, answer: &Value) -> Reply {
        let body = json!({
            "query": query, "answer": answer, "images": [], "results": results,
            "response_time": 0.5, "usage": { "credits": 2 }, "request_id": "r-1",
        });
        Reply::json(200, &body)
    }

    /// An error in the provider's own format.
    pub fn error_reply(status: u16, message: &str) -> Reply {
        Reply::json(status, &json!({ "detail": { "error": message } }))
    }
}

fn rules(request: &Request) -> Vec<(bool, &'static str)> {
    let body = request.json();
    let mut rules = vec![
        (request.method == "POST", "the route is the provider's"),
        (request.header("authorization") == format!("Bearer {SEARCH_KEY}"), "the key is the configured one"),
        (body.get("api_key").is_none(), "the key is sent in the header alone"),
    ];
    rules.extend(match &*request.path {
        "/search" => [
            (body["query"].as_str().is_some_and(|query| !query.trim().is_empty()), "there is a query"),
            (body["max_results"].as_u64().is_some_and(|n| (1..=20).contains(&n)), "the number of results is said"),
        ],
        "/extract" => [
            (body["urls"].as_array().is_some_and(|urls| (1..=20).contains(&urls.len())), "there are pages to read"),
            (body["format"] == "markdown" || body["format"] == "text", "the format is one of the provider's"),
        ],
        _ => [(false, "the route is the provider's"); 2],
    });
    rules
}
