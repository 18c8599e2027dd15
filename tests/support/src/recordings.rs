//! The recordings in `tests/recordings`, and the scenarios that make them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::{
    Completion, FakeModel, FakeTavily, Gate, MODEL, MODEL_KEY, ModelRequest, NativeApp, Reply, TestApp, search_call,
    searches_reply,
};

/// The folder of the project's recordings.
pub const RECORDINGS_FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/recordings");

/// The names of the scenarios and of their recordings.
pub const RECORDING_SCENARIOS: [&str; 15] = [
    "plain_answer",
    "demo_search",
    "search_on_the_text_path",
    "native_call_in_deltas",
    "parallel_calls",
    "retry_after_429",
    "disconnect_mid_answer",
    "thinking_in_tags",
    "split_character",
    "second_turn",
    "stalled_model",
    "turn_deadline",
    "failover_before_first_token",
    "failover_mid_answer",
    "failing_model_skipped",
];

/// Runs the turns of a scenario and returns the recording of the last one.
pub async fn record_scenario(scenario: &str, folder: &Path) -> PathBuf {
    let app = Recorder { folder: folder.to_str().expect("the path is Unicode").to_owned() };
    match scenario {
        "plain_answer" => app.record_text([Completion::of(["你好", "！"])], "你好").await,
        "demo_search" => app.record_demo("What is Lambda Chat?").await,
        "search_on_the_text_path" => {
            let call = search_call("北京天气");
            let (start, rest) = call.split_at(20);
            app.record_text([Completion::of(["好的，马上查询。", start, rest]), Completion::of(["晴[1]。"])], "天气")
                .await;
        }
        "native_call_in_deltas" => app.record_native([split_call(), Completion::of(["晴。"])]).await,
        "parallel_calls" => app.record_parallel_calls().await,
        "retry_after_429" => {
            let refused = Reply::json(429, &json!({ "error": { "message": "slow down" } }));
            app.record_text([refused.header("retry-after-ms", "40"), Completion::of(["好。"])], "你好").await;
        }
        "disconnect_mid_answer" => {
            app.record_text([Completion::new().text("晴，").text("23").reply().disconnect()], "天气").await;
        }
        "thinking_in_tags" => {
            app.record_text([Completion::of(["<thi", "nk>先想", "想。</th", "ink>\n\n晴。"])], "天气").await;
        }
        "split_character" => app.record_text([Completion::of(["你好，世界"]).in_chunks_of(7)], "你好").await,
        "second_turn" => app.record_second_turn().await,
        "stalled_model" => {
            let settings = [("MODEL_IDLE_SECONDS", "1")];
            app.record_with(&settings, [Completion::new().text("晴，").reply().stall()], "天气").await;
        }
        "turn_deadline" => {
            let settings = [("TURN_SECONDS", "2")];
            app.record_with(&settings, [Completion::new().text("晴，").reply().stall()], "天气").await;
        }
        "failover_before_first_token" => {
            let down = Reply::json(503, &json!({ "error": { "message": "overloaded" } }));
            app.record_chain(move |_| down.clone(), 1).await;
        }
        "failover_mid_answer" => {
            app.record_chain(|_| Completion::new().text("今天晴，").reply().disconnect(), 1).await;
        }
        "failing_model_skipped" => {
            let refusal = Reply::json(401, &json!({ "error": { "message": "no such key" } }));
            app.record_chain(move |_| refusal.clone(), 2).await;
        }
        other => unreachable!("there is no scenario {other}"),
    }
    list_recordings(folder).pop().expect("the turn is recorded")
}

/// The recordings in a folder, in order of their names.
pub fn list_recordings(folder: &Path) -> Vec<PathBuf> {
    let files =
        fs::read_dir(folder).expect("the folder can be read").map(|file| file.expect("the folder can be read").path());
    let mut files: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|kind| kind == "jsonl")).collect();
    files.sort();
    files
}

/// Starts products that record into a folder.
struct Recorder {
    folder: String,
}

impl Recorder {
    async fn start(&self, settings: &[(&str, &str)]) -> TestApp {
        TestApp::start_with(&[settings, &[("RECORD_TURNS", &self.folder)]].concat()).await
    }

    async fn record_text(&self, replies: impl IntoIterator<Item = Reply>, question: &str) {
        self.record_with(&[], replies, question).await;
    }

    async fn record_with(&self, settings: &[(&str, &str)], replies: impl IntoIterator<Item = Reply>, question: &str) {
        let app = self.start(settings).await;
        app.model.queue_replies(replies);
        app.send_message(question).await;
    }

    async fn record_demo(&self, question: &str) {
        let app = self.start(&[("OPENAI_MODEL", ""), ("TAVILY_API_KEY", ""), ("TAVILY_BASE_URL", "")]).await;
        app.send_message(question).await;
    }

    async fn record_native(&self, replies: impl IntoIterator<Item = Reply>) {
        let app = self.start_native().await;
        app.model.queue_replies(replies);
        app.send_message("天气").await;
    }

    async fn start_native(&self) -> NativeApp {
        NativeApp::start_with(&[("RECORD_TURNS", &self.folder)]).await
    }

    /// Runs turns with a model that has a fallback model.
    async fn record_chain(&self, answer: impl Fn(&ModelRequest) -> Reply + Send + 'static, turns: usize) {
        let backup = FakeModel::start().await;
        let entry = json!({ "name": "backup", "baseUrl": backup.url(), "model": MODEL, "apiKeyVar": "BACKUP_KEY" });
        let models = json!([entry]).to_string();
        let options = json!({ "openai": { "fallback": "backup" } }).to_string();
        let settings = [("MODELS", models.as_str()), ("BACKUP_KEY", MODEL_KEY), ("MODEL_OPTIONS", &options)];
        let app = self.start(&settings).await;
        app.model.respond_with(answer);
        backup.respond_with(|_| Completion::of(["气温", "二十三度。"]));
        for _ in 0..turns {
            app.send_message("天气").await;
        }
    }

    async fn record_parallel_calls(&self) {
        let app = self.start_native().await;
        let gate = Gate::new();
        let held = gate.clone();
        app.search.respond_with(move |body| match body["query"].as_str() {
            Some("甲") => FakeTavily::search_reply(body).wait_before_head(&held),
            _ => FakeTavily::search_reply(body),
        });
        app.model.queue_replies([searches_reply([("id-1", "甲"), ("id-2", "乙")]), Completion::of(["好。"])]);
        let mut turn = app.open(&json!({ "message": "问" })).await;
        assert_eq!(turn.read_until("tool_result").await["id"], "id-2");
        gate.open();
        turn.read_to_end().await;
    }

    async fn record_second_turn(&self) {
        let app = self.start(&[]).await;
        app.model.queue_replies([
            Completion::of([search_call("北京天气")]),
            Completion::of(["晴[1]。"]),
            Completion::of(["多云。"]),
        ]);
        let id = app.send_message("天气").await.conversation_id();
        app.follow_up(&id, "明天呢？").await;
    }
}

/// A native call in three deltas.
fn split_call() -> Reply {
    let delta = |part: serde_json::Value| json!({ "tool_calls": [part] });
    let function = json!({ "name": "search_web", "arguments": "" });
    let pieces = Completion::new()
        .text("好的。")
        .delta(&delta(json!({ "index": 0, "id": "a", "type": "function", "function": function })))
        .delta(&delta(json!({ "index": 0, "function": { "arguments": "{\"query\":" } })))
        .delta(&delta(json!({ "index": 0, "function": { "arguments": " \"天气\"}" } })));
    pieces.finish("tool_calls").usage(10, 5).done().reply()
}
