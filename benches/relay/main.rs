//! Measures the product's cost per token of an answer, compared with a minimal relay.
//!
//! `cargo build --release -p server && cargo bench -p benches --bench relay`; the number of rounds and a part of a case's name
//! may follow after `--`.
//! The model, the relays, the product and its database run in their own processes, the load in this one. Processor time
//! and memory are those of a relay's or the product's process only. The servers get the same load alternately, so that
//! other work of the machine affects all of them. The product has all features on: tools are offered, the question and
//! the answer are stored, and the thinking filter and the call scanner process every token. It runs twice: with a database
//! in another process, as a deployed function has, and with the embedded database, as `cargo run` starts it. One relay has
//! a thread per core, the other a single thread, as the product has, which shows the cost of passing tokens between
//! threads.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a measurement that fails ends the program, its result is printed, and its figures are small"
)]

mod answer_spec;
mod load;
mod measured;
mod model;
mod relay;
mod report;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use answer_spec::AnswerSpec;
use load::{ACCUMULATED, COMPLETIONS, Measurements, NATIVE, RequestFormat};
use measured::ServerMeasurements;
use platform::transport::Client;
use process::{Process, free_port};
use serde_json::{Value, json};
use support::{FakeTavily, SEARCH_KEY};
use tokio::runtime::{Builder, Runtime};

const ROUNDS: u64 = 2;

/// A load with the request format for the product.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    way: RequestFormat,
    /// Name of the model in the product.
    model: &'static str,
    streams: u64,
    spec: AnswerSpec,
}

const fn build_case(
    name: &'static str,
    way: RequestFormat,
    model: &'static str,
    (streams, tokens): (u64, u64),
    a_second: Option<u64>,
) -> Case {
    let pause = match a_second {
        Some(tokens) => Duration::from_micros(1_000_000 / tokens),
        None => Duration::ZERO,
    };
    Case { name, way, model, streams, spec: AnswerSpec { tokens, pause, searches: false } }
}

/// The same case with a search before each answer of the product; the relay's model has no tools.
const fn searching(case: Case) -> Case {
    Case { spec: AnswerSpec { searches: true, ..case.spec }, ..case }
}

/// The product's models: one with native tools, the other with tools in the prompt.
const NATIVE_TOOLS: &str = "native";
const PROMPTED_TOOLS: &str = "prompt";

/// Two cases, dominated by the start and end of answers, and by tokens.
const SHORT_CASE: &str = "100 answers of one word";
const LONG_CASE: &str = "10 streams, 200 words/s, 1,000 words each";

const CASES: [Case; 10] = [
    build_case("4 streams, no pauses", NATIVE, NATIVE_TOOLS, (4, 10_000), None),
    build_case("4 streams, no pauses, tools in the prompt", NATIVE, PROMPTED_TOOLS, (4, 10_000), None),
    build_case("10 streams, 200 words/s, accumulated", ACCUMULATED, NATIVE_TOOLS, (10, 400), Some(200)),
    build_case("100 streams, 50 words/s", NATIVE, NATIVE_TOOLS, (100, 200), Some(50)),
    build_case("100 streams, 50 words/s, OpenAI's wire", COMPLETIONS, NATIVE_TOOLS, (100, 200), Some(50)),
    build_case("128 streams, 20 words/s", NATIVE, NATIVE_TOOLS, (128, 100), Some(20)),
    searching(build_case("16 streams, no pauses, a search", NATIVE, PROMPTED_TOOLS, (16, 200), None)),
    searching(build_case("16 streams, 50 words/s, a search", NATIVE, PROMPTED_TOOLS, (16, 200), Some(50))),
    build_case(LONG_CASE, NATIVE, NATIVE_TOOLS, (10, 1_000), Some(200)),
    build_case(SHORT_CASE, NATIVE, NATIVE_TOOLS, (100, 1), None),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let address = arguments.get(1).cloned();
    match arguments.first().map(String::as_str) {
        Some("model") => threads().block_on(model::serve()),
        Some("relay") => threads().block_on(relay::serve(address)),
        Some("relay-of-one-thread") => one_thread().block_on(relay::serve(address)),
        _ => threads().block_on(measure(&arguments)),
    }
}

fn threads() -> Runtime {
    Runtime::new().expect("threads can be made")
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime can be made")
}

async fn measure(arguments: &[String]) {
    let rounds = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(ROUNDS);
    // Cargo adds its own option.
    let named = arguments.iter().find(|argument| argument.parse::<u64>().is_err() && !argument.starts_with('-'));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let servers = Servers::start(folder.path()).await;
    let client = platform::transport::build_client().expect("a client can be made");
    warm_up(&client, &servers).await;
    report::header();
    let (mut short, mut long) = (None, None);
    for case in CASES.iter().filter(|case| named.is_none_or(|name| case.name.contains(name.as_str()))) {
        let measured = |server| ServerMeasurements::new(server, case.streams);
        let mut relay = measured(&servers.relay);
        let mut alone = measured(&servers.relay_of_one_thread);
        let mut product = measured(&servers.product);
        let mut whole = measured(&servers.whole);
        let direct = case.run(&client, &servers.model, COMPLETIONS).await;
        for _ in 0..rounds {
            relay.round(&client, COMPLETIONS, case).await;
            alone.round(&client, COMPLETIONS, case).await;
            product.round(&client, case.way, case).await;
            whole.round(&client, case.way, case).await;
        }
        let all = [relay, alone, product, whole];
        report::case(case.name, &direct, &all);
        match case.name {
            SHORT_CASE => short = Some(all),
            LONG_CASE => long = Some(all),
            _ => {}
        }
    }
    if let (Some(short), Some(long)) = (&short, &long) {
        report::cost_parts(short, long);
    }
}

impl Case {
    async fn run(&self, client: &Client, server: &Process, way: RequestFormat) -> Measurements {
        load::run(client, &server.address, way, self.model, self.spec, self.streams).await
    }
}

/// Warms up one-time work, such as opening connections.
async fn warm_up(client: &Client, servers: &Servers) {
    let warm_up_case = build_case("", NATIVE, PROMPTED_TOOLS, (8, 100), None);
    warm_up_case.run(client, &servers.relay, COMPLETIONS).await;
    warm_up_case.run(client, &servers.relay_of_one_thread, COMPLETIONS).await;
    warm_up_case.run(client, &servers.product, NATIVE).await;
    warm_up_case.run(client, &servers.whole, NATIVE).await;
}

struct Servers {
    model: Process,
    relay: Process,
    relay_of_one_thread: Process,
    product: Process,
    /// The product with its database inside.
    whole: Process,
    _database: Process,
    _search: FakeTavily,
}

impl Servers {
    async fn start(folder: &Path) -> Self {
        let own = std::env::current_exe().expect("a program knows where it is");
        let model = Process::start(Command::new(&own).arg("model"));
        let relay = |kind| Process::start(Command::new(&own).args([kind, model.address.as_str()]));
        let (relay, relay_of_one_thread) = (relay("relay"), relay("relay-of-one-thread"));
        let port = free_port();
        let database = Process::product(&folder.join("data"), [], &["--dynamodb", &port]);
        let base = format!("{}/v1", model.address);
        let row = |name, tools| json!({ "name": name, "model": "m", "baseUrl": base, "tools": tools });
        let models = json!([row(NATIVE_TOOLS, "native"), row(PROMPTED_TOOLS, "prompt")]).to_string();
        let search = FakeTavily::start().await;
        search.respond_with(|body| {
            let query = body["query"].as_str().unwrap_or_default();
            FakeTavily::search_reply_with(query, &process::search_results(query), &Value::Null)
        });
        let settings = [
            ("MODELS", models),
            ("TAVILY_BASE_URL", search.url()),
            ("TAVILY_API_KEY", SEARCH_KEY.to_owned()),
            ("SEARCH_RATE_LIMIT", "1000000/60s".to_owned()),
        ];
        let whole = Process::product(&folder.join("whole"), settings.clone(), &[]);
        let database_settings = [
            ("AWS_ENDPOINT_URL_DYNAMODB", format!("http://{port}")),
            ("AWS_REGION", "local".to_owned()),
            ("AWS_ACCESS_KEY_ID", "local".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "local".to_owned()),
        ];
        let product = Process::product(&folder.join("none"), settings.into_iter().chain(database_settings), &[]);
        Self { model, relay, relay_of_one_thread, product, whole, _database: database, _search: search }
    }
}
