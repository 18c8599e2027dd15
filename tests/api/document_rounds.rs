//! Models that explore documents: the loop ends in an answer, whatever they call.

use serde_json::json;
use support::Completion;

use crate::documents::{DocumentApp, call};

#[tokio::test]
async fn model_explores_a_tree_in_ten_rounds() {
    let app = DocumentApp::start().await;
    let calls = [
        ("list_directory", json!({})),
        ("glob_search", json!({"pattern": "**/*.md"})),
        ("grep_search", json!({"pattern": "违约金"})),
        ("list_directory", json!({"path": "contracts"})),
        ("grep_search", json!({"pattern": "押金", "include": "*.md"})),
        ("read_file", json!({"file_path": "contracts/lease.md"})),
        ("glob_search", json!({"pattern": "*2019*"})),
        ("read_file", json!({"file_path": "contracts/old/lease-2019.md"})),
        ("calculator", json!({"expression": "2-1"})),
    ];
    let turn = app.explore(&calls).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好。", "stop"));
    assert_eq!(turn.events_of("tool_result").len(), 9);
    assert!(turn.events_of("tool_result").iter().all(|result| result["ok"] == true));
    assert_eq!(app.model.requests().len(), 10);
}

#[tokio::test]
async fn model_that_loses_its_way_still_answers() {
    let app = DocumentApp::start().await;
    let astray = [
        ("read_file", json!({"file_path": "lease.md"})),
        ("read_file", json!({"file_path": "contract/lease.md"})),
        ("list_directory", json!({"path": "contracts/lease.md"})),
        ("grep_search", json!({"pattern": "("})),
        ("grep_search", json!({"pattern": ""})),
        ("glob_search", json!({"pattern": "../**"})),
        ("read_file", json!({"path": "notes.md"})),
        ("search_web", json!({"query": "lease"})),
        ("read_file", json!({"file_path": "contracts"})),
    ];
    let turn = app.explore(&astray).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好。", "stop"));
    assert!(turn.events_of("tool_result").iter().all(|result| result["ok"] == false));
}

#[tokio::test]
async fn model_that_never_stops_calling_still_answers() {
    let app = DocumentApp::start().await;
    app.model.respond_with(|request| {
        if request.body["tool_choice"] == "none" {
            return Completion::of(["够了。"]);
        }
        call("glob_search", &json!({"pattern": format!("*{}*", request.messages().len())}))
    });
    let turn = app.chat(&json!({"message": "问", "agentId": "documents"})).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("够了。", "tool_limit"));
    assert_eq!((turn.events_of("tool_result").len(), app.model.requests().len()), (10, 11));
}

#[tokio::test]
async fn model_that_repeats_a_call_still_answers() {
    let app = DocumentApp::start().await;
    app.model.respond_with(|request| {
        if request.body["tool_choice"] == "none" {
            Completion::of(["够了。"])
        } else {
            call("list_directory", &json!({}))
        }
    });
    let turn = app.chat(&json!({"message": "问", "agentId": "documents"})).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("够了。", "tool_limit"));
    assert!(app.model.requests().len() < 11, "the same call is not repeated to the end");
}

#[tokio::test]
async fn every_refused_path_is_followed_by_an_answer() {
    let app = DocumentApp::start().await;
    for path in ["/etc/passwd", "../../etc/passwd", "link.md"] {
        app.model.queue_replies([call("read_file", &json!({"file_path": path})), Completion::of(["没有。"])]);
        let turn = app.chat(&json!({"message": "问", "agentId": "documents"})).await;
        assert_eq!((turn.content().as_str(), turn.finish_reason()), ("没有。", "stop"), "{path}");
    }
}
