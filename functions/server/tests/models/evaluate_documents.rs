use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{FakeModel, FakeTavily, ModelRequest, Reply};
use tempfile::TempDir;

use crate::evaluate::{answer, evaluate, squeeze};

const SEARCH: &str = r#"<tool_call>{"tool": "list_directory"}</tool_call>"#;

/// The built-in questions about documents.
fn questions() -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/evaluation/questions/documents.jsonl");
    fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Lists the documents, and then answers as `answer_to` does.
fn explore(request: &ModelRequest, questions: &[Value], answer_to: impl Fn(&Value) -> String) -> Reply {
    let messages = request.messages();
    let is_sent = |question: &&Value| messages.iter().any(|(_, text)| question["question"] == text.as_str());
    let question = questions.iter().find(is_sent).unwrap();
    if request.has_tool_results() { answer(&answer_to(question)) } else { answer(SEARCH) }
}

/// An answer with all facts, each in its last form, and the file.
fn right_answer(question: &Value) -> String {
    let facts = question["contains"].as_array().unwrap().iter();
    let facts: Vec<&str> = facts.map(|fact| fact.as_str().unwrap().rsplit('|').next().unwrap()).collect();
    format!("{} (`{}:3`)", facts.join(", "), question["cites"].as_str().unwrap())
}

#[tokio::test]
async fn right_answers_from_documents_are_right() {
    let (model, search, questions) = (FakeModel::start().await, FakeTavily::start().await, questions());
    model.respond_with(move |request| explore(request, &questions, right_answer));
    let run = evaluate(&model, &search, &["--documents"], &[]).await;
    let output = squeeze(&run.output);
    assert!(output.starts_with("10 questions for openai;"), "{run:?}");
    assert!(output.contains("openai prompted 10/10 (100 %) 0 2.0"), "{run:?}");
    assert!(output.ends_with("openai, prompted: documents 10/10\n"), "{run:?}");
    assert_eq!((run.exit_code, search.requests().len()), (Some(0), 0));
    assert!(model.requests().iter().any(|request| request.body.to_string().contains("office-lease-2019.md")));
}

#[tokio::test]
async fn wrong_answers_from_documents_are_named() {
    let (model, search, questions) = (FakeModel::start().await, FakeTavily::start().await, questions());
    let wrong = |question: &Value| match question["cites"].as_str().unwrap() {
        "contracts/office-lease.md" => "Three months (`contracts/old/office-lease-2019.md:5`).".to_owned(),
        "contracts/hosting.md" => "50 percent, as far as I know.".to_owned(),
        _ => right_answer(question),
    };
    model.respond_with(move |request| explore(request, &questions, wrong));
    let run = evaluate(&model, &search, &["--documents"], &[]).await;
    assert!(run.output.contains("documents 7/10"), "{run:?}");
    let faults =
        ["the answer lacks \"six months|6 months|six-month|6-month\"", "the answer does not cite contracts/hosting.md"];
    assert!(faults.iter().all(|fault| run.output.contains(fault)), "{run:?}");
}

#[tokio::test]
async fn own_questions_use_own_documents() {
    let (model, search, folder) = (FakeModel::start().await, FakeTavily::start().await, TempDir::new().unwrap());
    let file = folder.path().join("own.jsonl");
    let question = r#"{"question": "Who?", "expect": "documents", "contains": ["Ada"], "cites": "own.jsonl"}"#;
    fs::write(&file, question).unwrap();
    model.respond_with(
        |request| {
            if request.has_tool_results() { answer("Ada (`own.jsonl:1`)") } else { answer(SEARCH) }
        },
    );
    let arguments = ["--questions", file.to_str().unwrap()];
    let documents = ("DOCUMENTS_DIR", folder.path().to_str().unwrap());
    let run = evaluate(&model, &search, &arguments, &[documents]).await;
    assert!(run.output.contains("documents 1/1"), "{run:?}");
    let run = evaluate(&model, &search, &arguments, &[]).await;
    let errors = "lambda-chat: --questions: a question expects documents; set DOCUMENTS_DIR\n";
    assert_eq!((run.exit_code, &*run.errors), (Some(2), errors));
}
