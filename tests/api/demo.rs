//! Without a configured model and search the product runs demos of both.

use futures_util::future::join_all;
use serde_json::{Value, json};
use support::{TestApp, Transcript};

const NOTHING_CONFIGURED: [(&str, &str); 3] = [("OPENAI_MODEL", ""), ("TAVILY_API_KEY", ""), ("TAVILY_BASE_URL", "")];

#[tokio::test]
async fn demo_answers_a_question_from_search_results() {
    for question in ["今天北京的天气怎么样？", "What is the latest news about Mars?"] {
        let app = TestApp::start_with(&NOTHING_CONFIGURED).await;
        let turn = app.send_message(question).await;
        let order: Vec<&str> = turn.0.iter().filter_map(|event| event["type"].as_str()).collect();
        let at = |kind: &str| order.iter().position(|known| *known == kind).unwrap();
        assert!(at("start") < at("tool_call") && at("tool_call") < at("tool_result"), "{order:?}");
        let result = turn.events_of("tool_result")[0];
        assert_eq!((&result["ok"], turn.finish_reason()), (&true.into(), "stop"), "{question}");
        let after = turn.0.iter().skip(at("tool_result")).filter(|event| event["type"] == "content").count();
        let titles: Vec<_> = result["sources"].as_array().unwrap().iter().map(|source| &source["title"]).collect();
        assert!(
            after > 0 && [["配置真实的联网搜索"], ["Configure real web search"]].iter().any(|one| titles == *one),
            "{titles:?}"
        );
        assert_eq!((app.model.requests().len(), app.search.requests().len()), (0, 0));
    }
}

const PREPARED: [(&str, &str); 2] =
    [("Lambda Chat 是什么，用起来要花多少钱？", "zh"), ("What does Lambda Chat do and cost?", "en")];

/// The sources of a turn by the mark that cites them.
fn sources_by_mark(turn: &Transcript) -> Vec<(String, Value)> {
    let results = turn.events_of("tool_result");
    let sources = results.iter().filter_map(|result| result["sources"].as_array()).flatten();
    sources.map(|source| (format!("[{}]", source["index"]), source.clone())).collect()
}

#[tokio::test]
async fn prepared_turn_searches_twice_reads_and_cites() {
    let app = TestApp::start_with(&NOTHING_CONFIGURED).await;
    let turns = join_all(PREPARED.map(|(question, _)| app.send_message(question))).await;
    for (turn, (question, language)) in turns.iter().zip(PREPARED) {
        let names: Vec<&Value> = turn.events_of("tool_call").iter().map(|call| &call["name"]).collect();
        assert_eq!(names, ["search_web", "search_web", "read_url"], "{question}");
        let results = turn.events_of("tool_result");
        assert!(results.iter().all(|result| result["ok"] == true && result["cached"] == false), "{results:?}");
        let order: Vec<&str> = turn.0.iter().filter_map(|event| event["type"].as_str()).collect();
        let last_call = order.iter().rposition(|kind| *kind == "tool_call").unwrap();
        assert!(order[..last_call].contains(&"thinking") && order[last_call..].contains(&"content"), "{order:?}");
        let text = turn.content();
        let expected = format!("{}/demo/{language}/", app.base());
        let cited: Vec<_> = sources_by_mark(turn).into_iter().filter(|(mark, _)| text.contains(mark)).collect();
        assert!(cited.len() >= 3 && !text.contains('@') && text.contains("$$"), "{text}");
        assert!(cited.iter().all(|(_, source)| source["url"].as_str().unwrap().starts_with(&expected)), "{cited:?}");
    }
    let again = app.send_message("What is Lambda Chat?").await;
    assert_eq!(again.events_of("tool_result")[0]["cached"], true, "the query is the same");
}

#[tokio::test]
async fn cited_pages_open_at_the_server() {
    let app = TestApp::start_with(&[&NOTHING_CONFIGURED[..], &[("AUTH", "api_key")]].concat()).await;
    for path in ["en/cost", "zh/cost", "en/overview", "zh/limits", "en/resume"] {
        let page = app.get(&format!("/demo/{path}")).await;
        let (language, _) = path.split_once('/').unwrap();
        assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"), "no key is needed");
        assert!(page.header("content-security-policy").starts_with("default-src 'none'; style-src 'self';"));
        assert!(page.text().contains(&format!("<html lang=\"{language}")) && !page.text().contains("<script"));
    }
    assert_eq!(app.get("/demo/page.css").await.header("content-type"), "text/css");
    for path in ["/demo/en/secret", "/demo/de/cost", "/demo/en/..%2Fcost"] {
        assert_eq!(app.get(path).await.error(), (404, "not_found".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn demo_page_has_the_text_of_read_url() {
    let app = TestApp::start_with(&NOTHING_CONFIGURED).await;
    let turn = app.send_message("Please read https://lambda-chat.example/en/cost").await;
    let own = app.send_message(&format!("Please read {}/demo/en/cost", app.base())).await;
    assert_eq!(own.content(), turn.content());
    let models = app.get("/api/models").await;
    assert_eq!(models.header("content-length"), models.body.len().to_string(), "the length of documents is stated");
    let page = app.get("/demo/en/cost").await.text();
    let row = "With one search: AWS 0.13, Tavily 16.00, model 3.05.";
    assert!(turn.content().contains(row) && page.contains(row), "{}", turn.content());
}

#[tokio::test]
async fn prepared_turn_needs_the_demo_search() {
    let app = TestApp::start_with(&[("OPENAI_MODEL", "")]).await;
    let turn = app.send_message(PREPARED[1].0).await;
    assert_eq!((turn.events_of("tool_call").len(), turn.finish_reason()), (2, "stop"));
    assert!(!turn.content().contains("16.00"), "{}", turn.content());
}

#[tokio::test]
async fn demo_has_documents_until_a_model_is_configured() {
    let app = TestApp::start_with(&NOTHING_CONFIGURED).await;
    for (question, cited) in [
        ("文档里说对话保存在哪里？", "**对话和消息保存在 DynamoDB 里** `zh/conversations.md:3`，"),
        (
            "Where are conversations kept?",
            "**Conversations and messages are kept in DynamoDB** `en/conversations.md:3`.",
        ),
    ] {
        let turn = app.chat(&json!({"message": question, "agentId": "documents"})).await;
        assert!(turn.content().starts_with(cited), "{}", turn.content());
        let pattern = turn.events_of("tool_call")[0]["arguments"]["pattern"].as_str().unwrap();
        assert!(pattern.contains(r"DynamoDB|\.data|"), "{pattern}");
    }
    let line = app.get("/api/documents/en/conversations.md?lines=3-3").await;
    assert_eq!(line.text(), "Conversations and messages are kept in DynamoDB.\n");
    let configured = TestApp::start().await;
    let agents = configured.get("/api/agents").await.ok();
    assert!(!agents.to_string().contains("documents"), "{agents}");
}

#[tokio::test]
async fn demo_suggests_questions_after_prepared_turns() {
    let app = TestApp::start_with(&NOTHING_CONFIGURED).await;
    for (question, expected) in
        [(PREPARED[1].0, "What happens if my connection drops?\n"), ("Hi", "What is Lambda Chat?\n")]
    {
        let content = format!("### Task:\nWrite.\n<chat_history>\nUSER: {question}\nASSISTANT: 1\n</chat_history>");
        let body = json!({"model": "demo", "tool_choice": "none", "messages": [{"role": "user", "content": content}]});
        let reply = app.post("/v1/chat/completions", &body).await.ok();
        let text = reply["choices"][0]["message"]["content"].as_str().unwrap();
        assert!(text.starts_with(expected), "{text}");
    }
}

#[tokio::test]
async fn free_question_gets_cited_answer_and_one_note() {
    let app = TestApp::start_with(&NOTHING_CONFIGURED).await;
    let first = app.send_message("what is lambda chat").await;
    let [text, expected] = [first.content(), "**Lambda Chat is a self-hosted AI chat**".to_owned()];
    assert!(text.starts_with(&expected) && text.ends_with("*This is a scripted demo. Set a key, such as `ANTHROPIC_API_KEY`, and restart the server for a real model.*"), "{text}");
    let next = app.chat(&json!({"message": "how do i deploy this", "conversationId": first.conversation_id()})).await;
    assert!(
        next.content().contains("`sam build && sam deploy`") && !next.content().contains("scripted demo"),
        "{}",
        next.content()
    );
    let marks = sources_by_mark(&next);
    assert!(
        marks.iter().any(|(mark, source)| next.content().contains(mark)
            && source["title"] == "Run it on a laptop, or deploy it to AWS")
    );
    let path = format!("/api/conversations/{}/export?format=markdown", first.conversation_id());
    let markdown = app.get(&path).await.text();
    let uncited: Vec<&String> =
        marks.iter().map(|(mark, _)| mark).filter(|mark| !next.content().contains(*mark)).collect();
    assert!(!uncited.is_empty() && markdown.contains("\n[^1]: What Lambda Chat is <"), "{markdown}");
    assert!(uncited.iter().all(|mark| !markdown.contains(&mark.replace('[', "[^"))), "{uncited:?} {markdown}");
}

#[tokio::test]
async fn cited_addresses_open_where_the_client_is() {
    let app = TestApp::start_with(&NOTHING_CONFIGURED).await;
    let turn = app.send_message("What is Lambda Chat?").await;
    let streamed = turn.events_of("tool_result")[0]["sources"][0]["url"].clone();
    let id = turn.conversation_id();
    let stored = app.get(&format!("/api/conversations/{id}")).await.ok();
    let exported = app.get(&format!("/api/conversations/{id}/export?format=json")).await.ok();
    let markdown = app.get(&format!("/api/conversations/{id}/export?format=markdown")).await.text();
    assert_eq!(streamed, format!("{}/demo/en/overview", app.base()));
    assert_eq!(stored["messages"][1]["sources"][0]["url"], streamed);
    assert_eq!(exported["messages"][1]["sources"][0]["url"], streamed);
    assert!(markdown.contains(&format!("[^1]: What Lambda Chat is <{}>", streamed.as_str().unwrap())), "{markdown}");
    assert!(
        ![stored.to_string(), exported.to_string(), markdown].iter().any(|text| text.contains("lambda-chat.example"))
    );
    let proxied = app.send("GET", &format!("/api/conversations/{id}"), &[("x-forwarded-proto", "https")], "").await;
    let secure = streamed.as_str().unwrap().replace("http://", "https://");
    assert_eq!(proxied.ok()["messages"][1]["sources"][0]["url"], secure);
    let page = app.get("/demo/en/overview").await;
    assert!(page.text().contains("<h1>What Lambda Chat is</h1>"));
}

#[tokio::test]
async fn demo_answers_small_talk_without_a_search() {
    for message in ["你好", "谢谢！", "Hello!", "Thank you"] {
        let app = TestApp::start_with(&NOTHING_CONFIGURED).await;
        let turn = app.send_message(message).await;
        assert_eq!((turn.events_of("tool_call").len(), turn.finish_reason()), (0, "stop"), "{message}");
        assert!(!turn.content().trim().is_empty(), "{message}");
    }
}

#[tokio::test]
async fn demo_model_is_marked_as_demo() {
    let app = TestApp::start_with(&NOTHING_CONFIGURED).await;
    let models = app.get("/api/models").await.ok();
    let row = &models["models"][0];
    assert_eq!((&row["name"], &row["default"], &row["demo"]), (&"demo".into(), &true.into(), &true.into()));
    assert_eq!(models["models"].as_array().unwrap().len(), 1);
    assert_eq!(app.send_message("你好").await.0[0]["model"], "demo");
}
