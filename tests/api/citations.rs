//! Citations: a number represents one page in its whole conversation. An invented note is not shown, and all other brackets
//! are.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use support::{Completion, FakeTavily, Reply, TestApp, Transcript};

use crate::openai::{complete, greeting};
use crate::resume::TwoInstances;
use crate::search_call;

/// A reply to a search with two pages of its own and a page of all searches.
fn pages_of_query(body: &Value) -> Reply {
    if body["urls"].is_array() {
        return FakeTavily::page_reply(body);
    }
    let query = body["query"].as_str().unwrap();
    let page = |path: &str| json!({"title": path, "url": format!("https://example.com/{path}"), "content": "内容", "score": 0.9});
    let results = json!([page(&format!("{query}/1")), page("shared"), page(&format!("{query}/2"))]);
    FakeTavily::search_reply_with(query, &results, &Value::Null)
}

async fn start() -> TestApp {
    let app = TestApp::start_on_disk().await;
    app.search.respond_with(pages_of_query);
    app
}

fn read_call(url: &str) -> String {
    format!("<tool_call>{{\"tool\": \"read_url\", \"url\": \"{url}\"}}</tool_call>")
}

/// The pages of a list of sources by their numbers.
fn pages(sources: &Value) -> BTreeMap<u64, String> {
    let page = |source: &Value| {
        let url = source["url"].as_str().unwrap().strip_prefix("https://example.com/").unwrap();
        (source["index"].as_u64().unwrap(), url.to_owned())
    };
    sources.as_array().unwrap().iter().map(page).collect()
}

/// The pages of all results of a turn, with the sources in the order of the events.
fn pages_of_events(turn: &Transcript) -> BTreeMap<u64, String> {
    turn.events_of("tool_result").into_iter().flat_map(|result| pages(&result["sources"])).collect()
}

fn expected(pages: &[(u64, &str)]) -> BTreeMap<u64, String> {
    pages.iter().map(|(number, page)| (*number, (*page).to_owned())).collect()
}

/// Runs two searches and reads a page; the answer cites the second search.
async fn run_searches(app: &TestApp) -> Transcript {
    app.model.queue_replies([
        Completion::of([format!("{}\n{}", search_call("alpha"), search_call("beta"))]),
        Completion::of([read_call("https://example.com/beta/1#part")]),
        Completion::of(["第一条", "是 [4", "]，没有 [9]。"]),
    ]);
    app.send_message("查 alpha 和 beta").await
}

#[tokio::test]
async fn every_number_leads_to_its_page() {
    let app = start().await;
    let turn = run_searches(&app).await;
    let known = pages_of_events(&turn);
    // Both searches run at once: either may be the first.
    let first = if known[&1] == "alpha/1" { ["alpha", "beta"] } else { ["beta", "alpha"] };
    let paths =
        [format!("{}/1", first[0]), format!("{}/2", first[0]), format!("{}/1", first[1]), format!("{}/2", first[1])];
    let all = expected(&[(1, &paths[0]), (2, "shared"), (3, &paths[1]), (4, &paths[2]), (5, &paths[3])]);
    assert_eq!(known, all);
    assert_eq!(turn.content(), "第一条是 [4]，没有。");
    let read = turn.events_of("tool_result")[2]["sources"].clone();
    assert_eq!(pages(&read).into_values().collect::<Vec<_>>(), ["beta/1"]);
    let prompt = app.model.requests()[2].dialogue().into_iter().map(|(_, text)| text).collect::<String>();
    for (number, page) in &all {
        assert!(prompt.contains(&format!("{number}. {page}\n来源：https://example.com/{page}\n")), "{number} {prompt}");
    }
    let stored = app.read_finished_conversation(&turn.conversation_id()).await["messages"][1].clone();
    assert_eq!((pages(&stored["sources"]), &stored["content"]), (all, &json!("第一条是 [4]，没有。")));
}

#[tokio::test]
async fn later_turn_after_restart_cites_earlier_pages() {
    let mut app = start().await;
    let turn = run_searches(&app).await;
    let (id, known) = (turn.conversation_id(), pages_of_events(&turn));
    app.restart().await;
    app.search.respond_with(pages_of_query);
    app.model.queue_replies([
        Completion::of([search_call("gamma")]),
        Completion::of(["旧 [2]，新 [6]，", "错 [7, 8]，多 [9]。"]),
    ]);
    let body = json!({"message": "再查 gamma", "conversationId": id, "stream": false});
    let document = app.chat_once(&body).await.ok();
    assert_eq!(document["content"], "旧 [2]，新 [6]，错 [7, 8]，多。");
    let own = [(2, "shared"), (6, "gamma/1"), (7, "gamma/2")];
    assert_eq!(pages(&document["sources"]), expected(&own), "the page of both searches keeps its number");
    app.model.queue_replies([Completion::of(["只有旧的【3】【9】。"])]);
    let last = app.follow_up(&id, "总结").await;
    assert_eq!((last.content().as_str(), last.events_of("tool_result").len()), ("只有旧的[3]。", 0));
    let messages = app.read_finished_conversation(&id).await["messages"].clone();
    assert_eq!(pages(&messages[3]["sources"]), expected(&own));
    assert_eq!(pages(&messages[5]["sources"]), expected(&[(3, &known[&3])]), "the page that the text cites");
}

#[tokio::test]
async fn numbers_survive_a_history_that_does_not_fit() {
    let app = TestApp::start_with(&[("HISTORY_TOKENS", "0")]).await;
    app.search.respond_with(pages_of_query);
    app.model.queue_replies([
        Completion::of([search_call("alpha")]),
        Completion::of(["一 [1]。"]),
        Completion::of([search_call("beta")]),
        Completion::of(["二 [1] [4] [6]。"]),
    ]);
    let id = app.send_message("查 alpha").await.conversation_id();
    let turn = app.follow_up(&id, "查 beta").await;
    assert_eq!(pages_of_events(&turn), expected(&[(2, "shared"), (4, "beta/1"), (5, "beta/2")]));
    assert_eq!(turn.content(), "二 [1] [4]。");
}

#[tokio::test]
async fn instances_share_the_numbers() {
    let two = TwoInstances::start().await;
    let app = &two.first;
    app.search.respond_with(pages_of_query);
    app.model.queue_replies([Completion::of([search_call("alpha")]), Completion::of(["一 [1]。"])]);
    two.second.model.queue_replies([Completion::of(["二 [3] [4]。"])]);
    let id = app.send_message("查 alpha").await.conversation_id();
    let turn = two.second.follow_up(&id, "再说").await;
    assert_eq!(turn.content(), "二 [3]。");
    let stored = app.read_finished_conversation(&id).await["messages"][3]["sources"].clone();
    assert_eq!(pages(&stored), expected(&[(3, "alpha/2")]));
}

#[tokio::test]
async fn conversation_without_sources_keeps_its_brackets() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["数组 [1", "]，文献 [2] 。"])]);
    let turn = app.send_message("说").await;
    let deltas: Vec<_> = turn.events_of("content").iter().map(|event| event["content"].clone()).collect();
    assert_eq!(deltas, ["数组 [1", "]，文献 [2] 。"]);
}

#[tokio::test]
async fn english_conversation_reads_english_results() {
    let app = start().await;
    app.model.queue_replies([
        Completion::of([search_call("alpha")]),
        Completion::of([read_call("https://example.com/alpha/2")]),
        Completion::of(["It is sunny [3], also windy [4]."]),
    ]);
    let turn = app.send_message("Search for alpha, please").await;
    assert_eq!(turn.content(), "It is sunny [3], also windy.");
    let prompt = app.model.requests()[2].dialogue().into_iter().map(|(_, text)| text).collect::<String>();
    let block = "<search_results>\nSearch results:\n\n1. alpha/1\nSource: https://example.com/alpha/1\nContent: ";
    assert!(prompt.contains(block), "{prompt}");
    assert!(prompt.contains("Number: 3\nTitle: 网页\nSource: https://example.com/alpha/2\nContent: "), "{prompt}");
}

#[tokio::test]
async fn stateless_requests_count_from_one() {
    let app = start().await;
    for _ in 0..2 {
        app.model.queue_replies([Completion::of([search_call("alpha")]), Completion::of(["晴 [3][9]，雨 [9]。"])]);
        let whole = complete(&app, &greeting(), &json!({})).await.ok();
        let message = &whole["choices"][0]["message"];
        assert_eq!(message["content"], "晴 [3]，雨。");
        let citation = &message["annotations"][0]["url_citation"];
        let span = (&citation["start_index"], &citation["end_index"], &citation["url"]);
        assert_eq!(span, (&json!(2), &json!(5), &json!("https://example.com/alpha/2")));
    }
}

/// An answer with values in brackets, and one that is data.
const VALUES: &str = "概率的取值范围是 [0, 1]，温度区间 [20, 30]，列表 [1, 2, 3]；choose option [2] or [9].";
const DATA: &str = r#"{"revenue": [281, 279], "scores": [0, 1, 15], "ids": [99, 100], "text": "very sunny [9]."}"#;

#[tokio::test]
async fn values_and_data_stay_whole_in_every_form() {
    let app = start().await;
    for answer in [VALUES, DATA] {
        let pieces: Vec<String> = answer.chars().map(String::from).collect();
        let reply = || Completion::of(&pieces);
        app.model.queue_replies([Completion::of([search_call("alpha")]), reply(), reply()]);
        let turn = app.send_message("查 alpha").await;
        let later = app.follow_up(&turn.conversation_id(), "再说").await;
        assert_eq!((turn.content().as_str(), later.content().as_str()), (answer, answer));
        let stored = app.read_finished_conversation(&turn.conversation_id()).await;
        assert_eq!(
            (&stored["messages"][1]["content"], &stored["messages"][3]["content"]),
            (&json!(answer), &json!(answer))
        );
        app.model.queue_replies([Completion::of([search_call("alpha")]), reply()]);
        let whole = complete(&app, &greeting(), &json!({})).await.ok();
        assert_eq!(whole["choices"][0]["message"]["content"], answer);
    }
}
