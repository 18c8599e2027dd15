use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{
    Completion, FakeModel, FakeTavily, MODEL, MODEL_KEY, ModelRequest, Reply, SEARCH_KEY, native_models_setting,
    search_call,
};
use tempfile::TempDir;

use crate::program::{self, Run, run};

const OWN_QUESTIONS: &str = "{\"question\": \"今天北京天气怎么样？\", \"expect\": \"search\"}

{\"question\": \"Hello!\", \"expect\": \"none\"}
";

/// Runs `evaluate` on a model named `openai` and on a search.
pub(crate) async fn evaluate(model: &FakeModel, search: &FakeTavily, arguments: &[&str], more: &[(&str, &str)]) -> Run {
    let (model, search) = (model.url(), search.url());
    let settings = [
        ("OPENAI_BASE_URL", &*model),
        ("OPENAI_API_KEY", MODEL_KEY),
        ("OPENAI_MODEL", MODEL),
        ("TAVILY_BASE_URL", &search),
        ("TAVILY_API_KEY", SEARCH_KEY),
    ];
    let run = run(&[&["evaluate"], arguments].concat(), &[&settings, more].concat()).await;
    assert!(![MODEL_KEY, SEARCH_KEY].iter().any(|key| format!("{run:?}").contains(key)), "{run:?}");
    run
}

/// The same with the questions of a file.
async fn evaluate_file(model: &FakeModel, content: &str, more: &[(&str, &str)]) -> Run {
    let (folder, search) = (TempDir::new().unwrap(), FakeTavily::start().await);
    let file = folder.path().join("own.jsonl");
    fs::write(&file, content).unwrap();
    evaluate(model, &search, &["--questions", file.to_str().unwrap()], more).await
}

/// The built-in questions and what is expected for each.
fn builtin_questions() -> HashMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/evaluation/questions");
    let files = ["zh.jsonl", "en.jsonl"].map(|name| fs::read_to_string(folder.join(name)).unwrap());
    let rows = files.iter().flat_map(|text| text.lines()).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    rows.map(|row| (text(&row["question"]), text(&row["expect"]))).collect()
}

fn call(tool: &str, argument: &str, value: &str) -> String {
    format!("<tool_call>{{\"tool\": \"{tool}\", \"{argument}\": \"{value}\"}}</tool_call>")
}

/// Makes the right calls for a built-in question, and answers once it has their results.
fn respond_rightly(questions: &HashMap<String, String>, request: &ModelRequest) -> Reply {
    let message = request.last_message();
    let calls = match questions.get(&message).map_or("results", String::as_str) {
        "search" => search_call("today"),
        "several" => [search_call("today"), call("current_time", "zone", "Asia/Tokyo")].join("\n"),
        "calculation" => call("calculator", "expression", "2 * 3"),
        "date" => call("current_time", "zone", "Asia/Tokyo"),
        "page" => {
            let address = message.split_whitespace().find(|part| part.starts_with("https://")).unwrap();
            call("read_url", "url", address)
        }
        _ => "That is it.".to_owned(),
    };
    answer(&calls)
}

/// A reply with enough input tokens for any prompt, so that none is taken for a miscount.
pub(crate) fn answer(text: &str) -> Reply {
    Completion::new().text(text).finish("stop").usage(1_000, 5).done().reply()
}

#[tokio::test]
async fn right_model_gets_all_builtin_questions_right() {
    let (model, search) = (FakeModel::start().await, FakeTavily::start().await);
    let questions = builtin_questions();
    model.respond_with(move |request| respond_rightly(&questions, request));
    let prices = r#"{"openai":{"price":{"input":2.0,"output":8.0}}}"#;
    let run = evaluate(&model, &search, &[], &[("MODEL_OPTIONS", prices), ("AUTH", "api_key")]).await;
    let expected = "30 questions for openai; the search is the configured one.

model   format            right  leaked  rounds  first token  tokens in/out      cost
openai  prompted  30/30 (100 %)       0     1.7        N s  52000/260  0.106080

openai, prompted: none 8/8, search 8/8, several 4/4, calculation 4/4, date 4/4, page 2/2
";
    assert_eq!((run.exit_code, &*squeeze(&run.output)), (Some(0), &*squeeze(expected)));
    let lines: Vec<&str> = run.errors.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[29]), (30, "openai 1/30: right", "openai 30/30: right"));
}

/// Removes the spaces that align columns.
pub(crate) fn squeeze(text: &str) -> String {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[tokio::test]
async fn leaked_call_is_counted_and_reported() {
    let model = FakeModel::start().await;
    model.respond_with(|request| match request.last_message().as_str() {
        "Hello!" => answer("Hi!"),
        _ => answer("I will search: search_web(query=\"tea\")"),
    });
    let run = evaluate_file(&model, OWN_QUESTIONS, &[]).await;
    let output = "2 questions for openai; the search is the configured one.

model format right leaked rounds first token tokens in/out cost
openai prompted 1/2 (50 %) 23 1.0 N s 2000/10 -

openai, prompted: none 1/1, search 0/1

Faults of openai, prompted:
own.jsonl:1 \"今天北京天气怎么样？\": no call of search_web, 23 characters of calls were shown
";
    let errors = "openai 1/2: no call of search_web, 23 characters of calls were shown\nopenai 2/2: right\n";
    assert_eq!((run.exit_code, &*squeeze(&run.output), &*run.errors), (Some(0), output, errors));
}

#[tokio::test]
async fn model_that_never_calls_is_right_without_tools() {
    let model = FakeModel::start().await;
    model.respond_with(|_| Completion::of(["I ", "know that."]));
    let rows = native_models_setting(&model, MODEL);
    let settings = [("MODELS", &*rows), ("NATIVE_KEY", MODEL_KEY)];
    let (folder, search) = (TempDir::new().unwrap(), FakeTavily::start().await);
    let file = folder.path().join("own.jsonl");
    fs::write(&file, OWN_QUESTIONS).unwrap();
    let arguments = ["--model", "native", "--questions", file.to_str().unwrap()];
    let run = evaluate(&model, &search, &arguments, &settings).await;
    let output = "2 questions for native; the search is the configured one.

model format right leaked rounds first token tokens in/out cost
native native 1/2 (50 %) 0 1.0 N s 20/10 -

native, native: none 1/1, search 0/1

Faults of native, native:
own.jsonl:1 \"今天北京天气怎么样？\": no call of search_web
";
    let errors = "native 1/2: no call of search_web\nnative 2/2: right\n";
    assert_eq!((run.exit_code, &*squeeze(&run.output), &*run.errors), (Some(0), output, errors));
    assert_eq!(search.requests().len(), 0);
}

#[tokio::test]
async fn model_without_any_answer_is_exit_code_1() {
    let model = FakeModel::start().await;
    model.respond_with(|_| Reply::status(401));
    let run = evaluate_file(&model, &OWN_QUESTIONS.repeat(3), &[]).await;
    let output = "6 questions for openai; the search is the configured one.

model format right leaked rounds first token tokens in/out cost
openai prompted 0/3 (0 %) 0 1.0 - 0/0 -

openai, prompted: none 0/1, search 0/2

Faults of openai, prompted:
own.jsonl:1 \"今天北京天气怎么样？\": no answer (upstream_auth), no call of search_web
own.jsonl:3 \"Hello!\": no answer (upstream_auth)
own.jsonl:4 \"今天北京天气怎么样？\": no answer (upstream_auth), no call of search_web
";
    assert_eq!((run.exit_code, &*squeeze(&run.output)), (Some(1), output));
    let last_lines: Vec<&str> = run.errors.lines().skip(3).collect();
    let expected = [
        "openai: no answers, so the other questions are left out; see `check`",
        "lambda-chat: a model answered no question",
    ];
    assert_eq!(last_lines, expected);
}

#[tokio::test]
async fn demo_pages_are_found_without_search_settings() {
    let model = FakeModel::start().await;
    model.respond_with(|request| {
        if request.has_tool_results() { Completion::of(["Sunny."]) } else { Completion::of([search_call("tea")]) }
    });
    let question = "{\"question\": \"Which tea is in season?\", \"expect\": \"search\"}";
    let run = evaluate_file(&model, question, &[("TAVILY_BASE_URL", ""), ("TAVILY_API_KEY", "")]).await;
    let introduction = "1 question for openai; the search finds demo pages (set TAVILY_API_KEY for the web).\n\nmodel";
    assert!(run.output.starts_with(introduction) && run.output.contains("1/1 (100 %)"), "{run:?}");
}

/// Ctrl-C, while the second question waits for the model.
#[tokio::test]
async fn stopped_evaluation_reports_finished_questions() {
    let (model, gate, folder) = (FakeModel::start().await, support::Gate::new(), TempDir::new().unwrap());
    model.queue_replies([Completion::of(["Sunny."]), Completion::new().wait(&gate).end()]);
    let (file, url) = (folder.path().join("own.jsonl"), model.url());
    fs::write(&file, OWN_QUESTIONS).unwrap();
    let settings = [("OPENAI_BASE_URL", &*url), ("OPENAI_API_KEY", MODEL_KEY), ("OPENAI_MODEL", MODEL)];
    let process = program::start(&["evaluate", "--questions", file.to_str().unwrap()], &settings);
    gate.wait_until_reached().await;
    let id = rustix::process::Pid::from_child(&process);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let run = program::finish(process).await;
    let faults = "\nFaults of openai, prompted:\n  own.jsonl:1 \"今天北京天气怎么样？\": no call of search_web\n";
    assert!(run.output.contains(" 0/1 (0 %) ") && run.output.ends_with(faults), "{run:?}");
    let errors = "openai 1/2: no call of search_web\nlambda-chat: stopped\n";
    assert_eq!((run.exit_code, &*run.errors), (Some(1), errors));
}

#[tokio::test]
async fn wrong_use_of_evaluate_is_exit_code_2() {
    let model = FakeModel::start().await;
    let wrong = |errors: &str| Run { exit_code: Some(2), output: String::new(), errors: errors.to_owned() };
    let accepted = "expected one object in each line, such as {\"question\":\"What time is it in Tokyo?\",\"expect\":\"date\"}, \
                    with \"expect\" one of none, search, several, calculation, date, page and documents";
    let expected = format!("lambda-chat: own.jsonl, line 3: missing field `expect` at column 22; {accepted}\n");
    let content = OWN_QUESTIONS.replace(", \"expect\": \"none\"", "");
    assert_eq!(evaluate_file(&model, &content, &[]).await, wrong(&expected));
    let search = FakeTavily::start().await;
    let unknown = evaluate(&model, &search, &["--model", "gpt"], &[]).await;
    let errors = "lambda-chat: --model: there is no model of this name; accepted are: openai\n";
    assert_eq!(unknown, wrong(errors));
    let missing = evaluate(&model, &search, &["--questions", "/no/such.jsonl"], &[]).await;
    let errors = "lambda-chat: --questions /no/such.jsonl: No such file or directory (os error 2)\n";
    assert_eq!(missing, wrong(errors));
}

#[tokio::test]
async fn evaluation_without_a_model_names_settings() {
    for arguments in [&["evaluate"] as &[&str], &["evaluate", "--model", "openai"]] {
        let run = run(arguments, &[]).await;
        let first_line = "lambda-chat: no model is configured. Set the variables of one line:\n";
        assert!(run.exit_code == Some(1) && run.errors.starts_with(first_line), "{run:?}");
    }
}
