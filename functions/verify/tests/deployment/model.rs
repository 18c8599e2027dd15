//! Tests of the model: authentication, and that the product's own client reads its answers.

use crate::world::{Product, ScriptedModel};
use serde_json::{Value, json};

fn request() -> String {
    json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Count."}]}).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn model_requires_the_key() {
    let model = ScriptedModel::start("canary-key").await;
    let http = platform::transport::build_client().unwrap();
    let post = async |path: &str, authorization: &str, body: &str| {
        let request = http.post(format!("{}{path}", model.address)).header("authorization", authorization);
        request.body(body.to_owned()).send().await.unwrap().status().as_u16()
    };
    assert_eq!(post("/chat/completions", "Bearer canary-key", &request()).await, 200);
    for wrong in ["Bearer canary-kex", "Bearer ", "canary-key", "Bearer canary-key1", ""] {
        assert_eq!(post("/chat/completions", wrong, &request()).await, 401, "{wrong:?}");
    }
    assert_eq!(post("/models", "Bearer canary-key", &request()).await, 404);
    assert_eq!(post("/chat/completions", "Bearer canary-key", "no JSON").await, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn product_client_reads_text_and_tool_call() {
    let product = Product::start().await;
    let send = async |message: &str| {
        let body = json!({"message": message, "modelType": "deployment-check", "stream": false}).to_string();
        let headers = [("x-api-key", product.key.as_str()), ("content-type", "application/json")];
        product.app.send("POST", "/api/chat", &headers, body).await.ok()
    };
    let counted = send(smoke::prompts::COUNT).await;
    let expected: Vec<String> = (1..=30).map(|number: u32| number.to_string()).collect();
    assert_eq!(counted["content"], expected.join(", "));
    let called: Value = send(smoke::prompts::SUM).await;
    assert_eq!(
        (&called["content"], &called["toolCalls"][0]["name"]),
        (&json!("37 * 43 is 1591."), &json!("calculator"))
    );
}
