use serde_json::{Value, json};

use crate::server::FakeServer;
use crate::{Reply, Request};

/// The web search of Amazon Bedrock `AgentCore` on loopback: plays a script and records its requests. With an empty
/// queue it replies with [`FakeAwsSearch::search_reply`].
pub struct FakeAwsSearch(FakeServer);

impl FakeAwsSearch {
    /// Starts a server that finds something for every query.
    pub async fn start() -> Self {
        let server = FakeServer::start("fake AWS search", rules).await;
        server.respond_with(|request| Self::search_reply(&request.json()));
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

    /// The queries so far.
    pub fn queries(&self) -> Vec<String> {
        let query = |request: &Request| request.json()["searchQuery"].as_str().unwrap_or_default().to_owned();
        self.0.requests().iter().map(query).collect()
    }

    /// The reply to a search: two pages that name the query.
    pub fn search_reply(body: &Value) -> Reply {
        let query = body["searchQuery"].as_str().unwrap_or_default();
        let page = |n: u32| {
            json!({
                "title": format!("{query}：AWS 第{n}页"), "url": format!("https://aws.example.com/{n}"),
                "text": format!("关于“{query}”的摘录 {n}。"), "publishedAt": "2026-11-24T08:00:00Z",
            })
        };
        Reply::json(200, &json!({ "results": [page(1), page(2)] }))
    }

    /// An error in the service's own format.
    pub fn error_reply(status: u16, message: &str) -> Reply {
        Reply::json(status, &json!({ "message": message }))
    }
}

fn rules(request: &Request) -> Vec<(bool, &'static str)> {
    let (body, authorization) = (request.json(), request.header("authorization"));
    let query = body["searchQuery"].as_str().unwrap_or_default();
    vec![
        (request.method == "POST", "the method is the service's"),
        (request.path == "/web-search/web-search.v1/invoke", "the route is the service's"),
        (authorization.starts_with("AWS4-HMAC-SHA256 Credential="), "the request is signed"),
        (authorization.contains("/bedrock-agentcore/aws4_request, SignedHeaders="), "it is signed for the service"),
        ((1..=200).contains(&query.chars().count()), "the query has at most 200 characters"),
        (body["maxResults"].as_u64().is_some_and(|n| (1..=25).contains(&n)), "the number of results is within bounds"),
    ]
}
