//! Counts the processor instructions of whole turns, with callgrind.
//!
//! `cargo build --release -p server && cargo bench --profile dev -p benches --bench turns`, with valgrind; part of a case's
//! name may follow after `--`, and `SERVER` names another program. The product runs in its own process under valgrind, once with its embedded database
//! and once with a database in another process. Model, search and client run in this one and are not counted. Each case
//! runs once before it is counted, so that connections, caches and keys are as on a warm instance.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measurement that fails ends the program, and its result is printed"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use process::{Process, free_port};
use serde_json::{Value, json};
use support::{Client, Completion, FakeModel, FakeTavily, MODEL, MODEL_KEY, Reply, SEARCH_KEY};

/// Number of counted turns of each case.
const TURNS: u64 = 5;

const QUESTION: &str = "这个周末杭州的天气怎么样，适合去西湖边走走吗？";

/// A kind of turn.
struct Case {
    name: &'static str,
    path: &'static str,
    /// Whether the model searches before it answers.
    searches: bool,
    /// Number of deltas of the answer, of two characters each.
    deltas: usize,
    /// Number of earlier turns of the conversation.
    earlier_turns: usize,
}

const SHORT: Case = Case { name: "short answer", path: "/api/chat", searches: false, deltas: 30, earlier_turns: 0 };

const CASES: [Case; 4] = [
    SHORT,
    Case { name: "one search", searches: true, deltas: 200, ..SHORT },
    Case { name: "after 40 messages", earlier_turns: 20, ..SHORT },
    Case { name: "`/v1`", path: "/v1/chat/completions", ..SHORT },
];

#[tokio::main]
async fn main() {
    // Cargo adds its own option.
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    println!("| million instructions of a turn | embedded database | without |\n|---|---:|---:|");
    for case in CASES.iter().filter(|case| case.name.contains(&wanted)) {
        let embedded = count(case, &folder.path().join("embedded"), &[]).await;
        let port = free_port();
        let _database =
            Process::start(program().args(["--port", "0", "--dynamodb", &port, "--data"]).arg(folder.path()));
        let settings = [
            ("AWS_ENDPOINT_URL_DYNAMODB", format!("http://{port}")),
            ("AWS_REGION", "local".to_owned()),
            ("AWS_ACCESS_KEY_ID", "local".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "local".to_owned()),
        ];
        let separate = count(case, &folder.path().join("separate"), &settings).await;
        println!("| {} | {embedded:.1} | {separate:.1} |", case.name);
    }
}

/// Million instructions of one turn.
async fn count(case: &Case, folder: &Path, settings: &[(&'static str, String)]) -> f64 {
    let (model, search) = (FakeModel::start().await, FakeTavily::start().await);
    search.respond_with(results);
    fs::create_dir_all(folder).expect("a folder can be made");
    let (output, data) = (folder.join("callgrind"), folder.join("data"));
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--quiet"]).arg(format!("--callgrind-out-file={}", output.display()));
    command.args([server().as_os_str(), "--port".as_ref(), "0".as_ref(), "--data".as_ref(), data.as_os_str()]);
    command.env_clear().envs(settings.iter().cloned()).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.envs([("RUST_LOG", "off"), ("CHAT_RATE_LIMIT", "1000000/60s"), ("SEARCH_RATE_LIMIT", "1000000/60s")]);
    command.envs([
        ("OPENAI_BASE_URL", model.url()),
        ("OPENAI_MODEL", MODEL.into()),
        ("OPENAI_API_KEY", MODEL_KEY.into()),
        ("TITLE_MODEL", "none".into()),
    ]);
    command.envs([("TAVILY_BASE_URL", search.url()), ("TAVILY_API_KEY", SEARCH_KEY.into())]);
    let product = Process::start(&mut command);
    let client = Client::new(&product.address);
    let mut conversation = None;
    for _ in 0..case.earlier_turns {
        conversation = Some(run(&SHORT, &client, &model, conversation.as_ref(), 0).await);
    }
    for number in 0..=TURNS {
        if number == 1 {
            dump(&product, &output, 1);
        }
        run(case, &client, &model, conversation.as_ref(), number).await;
    }
    dump(&product, &output, 2) / TURNS as f64 / 1e6
}

/// Runs a turn to its end; returns its conversation.
async fn run(case: &Case, client: &Client, model: &FakeModel, conversation: Option<&Value>, number: u64) -> Value {
    let call = json!({ "tool": "search_web", "query": format!("杭州 周末 天气 预报 {number}") });
    let call = Completion::new().text(&format!("<tool_call>{call}</tool_call>")).end();
    let deltas = ["今天", "我们", "可以", "看到", "西湖", "边上"].into_iter().cycle().take(case.deltas);
    model.queue_replies(case.searches.then_some(call).into_iter().chain([Completion::of(deltas)]));
    let body = match case.path {
        "/api/chat" => json!({ "message": QUESTION, "conversationId": conversation }),
        _ => json!({ "model": "openai", "stream": true, "messages": [{ "role": "user", "content": QUESTION }] }),
    };
    let answer = client.send("POST", case.path, &[("content-type", "application/json")], body.to_string()).await;
    let text = answer.text();
    assert_eq!(answer.status, 200, "{text}");
    assert!(text.matches("边上").count() >= case.deltas / 6, "{text}");
    let start = text.lines().find_map(|line| line.strip_prefix("data: ")).expect("a turn has a first event");
    serde_json::from_str::<Value>(start).expect("events are JSON")["conversationId"].take()
}

fn results(body: &Value) -> Reply {
    let query = body["query"].as_str().unwrap_or_default();
    FakeTavily::search_reply_with(query, &process::search_results(query), &json!("多云，十七到二十三度。"))
}

/// Writes the instructions since the last call to a file of their own, and returns their number.
fn dump(product: &Process, output: &Path, number: u32) -> f64 {
    let dumped =
        Command::new("callgrind_control").env_remove("TMPDIR").args(["--dump", &product.id().to_string()]).output();
    assert!(dumped.expect("valgrind is installed").status.success());
    let file = PathBuf::from(format!("{}.{number}", output.display()));
    // The command returns before the server has written its file.
    let total = (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        let text = fs::read_to_string(&file).ok()?;
        text.lines().find_map(|line| line.strip_prefix("totals: "))?.trim().parse().ok()
    });
    total.expect("callgrind writes what it counted")
}

fn server() -> PathBuf {
    std::env::var_os("SERVER").map_or_else(|| process::release_program("lambda-chat"), PathBuf::from)
}

fn program() -> Command {
    let mut command = Command::new(server());
    command.env_clear().env("RUST_LOG", "off");
    command
}
