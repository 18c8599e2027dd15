use serde_json::json;
use support::{
    Completion, FakeEndpoint, FakeModel, FakeTavily, MODEL, MODEL_KEY, ModelRequest, Reply, Request, SEARCH_KEY,
    native_models_setting,
};

use crate::program::{Run, run};

const CONTEXT: &str = r#"{"openai":{"contextTokens":8000}}"#;

/// A long limit, so that no test depends on the speed of the machine.
pub(crate) const SLOW: &str = "900";

/// Runs `check` on a model named `openai` and on a search.
pub(crate) async fn check(model: &FakeModel, search: &FakeTavily, more: &[(&str, &str)]) -> Run {
    let (model, search) = (model.url(), search.url());
    let settings = [
        ("OPENAI_BASE_URL", &*model),
        ("OPENAI_API_KEY", MODEL_KEY),
        ("OPENAI_MODEL", MODEL),
        ("MODEL_OPTIONS", CONTEXT),
        ("TAVILY_BASE_URL", &search),
        ("TAVILY_API_KEY", SEARCH_KEY),
    ];
    checked(&["check", "--slow", SLOW], &[&settings, more].concat()).await
}

/// Runs the program, whose output must contain no key.
pub(crate) async fn checked(arguments: &[&str], settings: &[(&str, &str)]) -> Run {
    let run = run(arguments, settings).await;
    assert!(![MODEL_KEY, SEARCH_KEY].iter().any(|key| format!("{run:?}").contains(key)), "{run:?}");
    run
}

fn error(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({ "error": { "message": message, "type": "invalid_request_error" } }))
}

fn time_call() -> Reply {
    Completion::of(["<tool_call>{\"tool\": \"current_time\", ", "\"zone\": \"Asia/Tokyo\"}</tool_call>"])
}

/// Counts, and calls the tool that it is given.
fn respond(request: &ModelRequest) -> Reply {
    if request.body.get("tools").is_some() {
        let call = Completion::new().call(0, "c1", "current_time", "{\"zone\":\"Asia/Tokyo\"}");
        call.finish("tool_calls").usage(10, 5).done().reply()
    } else if request.system_prompt().contains("current_time") {
        time_call()
    } else {
        Completion::of(["1, ", "2, ", "3"])
    }
}

/// A model that takes no native tools, and for which nothing else could be better.
pub(crate) async fn good_model() -> FakeModel {
    let model = FakeModel::start().await;
    model.respond_with(|request| match request.body.get("tools") {
        Some(_) => error(400, "scripted-1 does not support tools"),
        None => respond(request),
    });
    model
}

/// A model that takes tools natively and as text.
async fn native_model() -> FakeModel {
    let model = FakeModel::start().await;
    model.respond_with(respond);
    model
}

pub(crate) fn passed(output: &str) -> Run {
    Run { exit_code: Some(0), output: output.to_owned(), errors: String::new() }
}

pub(crate) fn failed(output: &str) -> Run {
    Run { exit_code: Some(1), output: output.to_owned(), errors: "lambda-chat: a check failed\n".to_owned() }
}

/// The output for a model, with what is not as in a good run; the search works.
pub(crate) fn report(model: &str, conclusion: &str) -> String {
    format!(
        "openai ({MODEL} at 127.0.0.1:N)\n{model}search (127.0.0.1:N)\n  ok      search     2 results\n{conclusion}"
    )
}

pub(crate) const ANSWER: &str = "  ok      answer     first token after N s\n";
pub(crate) const STREAMING: &str = "  ok      streaming  the answer arrived in 3 pieces\n";
pub(crate) const TOOLS: &str =
    "  ok      tools      prompted (native tools are not known for this model); the model called the tool\n";
pub(crate) const WINDOW: &str = "  ok      context    8000 tokens, from MODEL_OPTIONS\n";
pub(crate) const WORKS: &str = "Everything works.\n";
pub(crate) const NOTES: &str = "Everything works; the notes name what could be better.\n";

#[tokio::test]
async fn good_model_and_search_pass() {
    let (model, search) = (good_model().await, FakeTavily::start().await);
    let expected = report(&[ANSWER, STREAMING, TOOLS, WINDOW].concat(), WORKS);
    assert_eq!(check(&model, &search, &[]).await, passed(&expected));
    assert_eq!((model.requests().len(), search.requests().len()), (3, 1), "a check is small");
}

#[tokio::test]
async fn better_tool_mode_is_advised() {
    let (native, ignoring, search) = (native_model().await, FakeModel::start().await, FakeTavily::start().await);
    let tools = "  note    tools      prompted (native tools are not known for this model); the model called the tool; native \
                 tools work too, with fewer tokens and rounds: set \"tools\": \"native\" in a row of MODELS\n";
    let expected = report(&[ANSWER, STREAMING, tools, WINDOW].concat(), NOTES);
    assert_eq!(check(&native, &search, &[]).await, passed(&expected));

    ignoring.respond_with(|request| match request.body.get("tools") {
        Some(_) => Completion::of(["It is ", "three."]),
        None => respond(request),
    });
    let rows = native_models_setting(&ignoring, &format!("gpt-4o-{MODEL}")).replace("native\"}", "auto\"}");
    let settings =
        [("MODELS", &*rows), ("NATIVE_KEY", MODEL_KEY), ("MODEL_OPTIONS", r#"{"native":{"contextTokens":8000}}"#)];
    let run = checked(&["check", "--slow", SLOW], &settings).await;
    let advice =
        "the server seems to ignore native tools, calls as text work: set \"tools\": \"prompt\" in a row of MODELS";
    assert!(
        run.output.contains("native (known for this model); the model did not call") && run.output.contains(advice),
        "{run:?}"
    );
}

#[tokio::test]
async fn native_tools_are_offered_natively() {
    let model = native_model().await;
    let rows = native_models_setting(&model, MODEL);
    let run = checked(&["check", "--slow", SLOW], &[("MODELS", &rows), ("NATIVE_KEY", MODEL_KEY)]).await;
    let expected = [
        &*format!("native ({MODEL} at 127.0.0.1:N)\n"),
        ANSWER,
        STREAMING,
        "  ok      tools      native (set by \"tools\"); the model called the tool\n",
        "  note    context    unknown, 32768 tokens are assumed: set \"contextTokens\" in MODEL_OPTIONS\n",
        "search\n",
        "  note    search     not configured, demo pages are found: set TAVILY_API_KEY for the web\n",
        NOTES,
    ];
    assert_eq!(run, passed(&expected.concat()));
    assert!(model.requests()[1].body["tools"].is_array());
}

#[tokio::test]
async fn rejected_tools_are_written_as_text() {
    let model = good_model().await;
    model.queue_replies([Completion::of(["1, ", "2, ", "3"]), error(400, "scripted-1 does not support tools")]);
    let rows = native_models_setting(&model, MODEL);
    let settings =
        [("MODELS", &*rows), ("NATIVE_KEY", MODEL_KEY), ("MODEL_OPTIONS", r#"{"native":{"contextTokens":8000}}"#)];
    let run = checked(&["check", "--slow", SLOW], &settings).await;
    let expected = [
        &*format!("native ({MODEL} at 127.0.0.1:N)\n"),
        ANSWER,
        STREAMING,
        "  note    tools      prompted: the server rejects native tools (HTTP 400), so calls are written as text; the model \
         called the tool\n",
        WINDOW,
        "search\n",
        "  note    search     not configured, demo pages are found: set TAVILY_API_KEY for the web\n",
        NOTES,
    ];
    assert_eq!(run, passed(&expected.concat()));
}

/// Rejects chat completions, counts, and calls the tool that it is given.
fn respond_over_responses(request: &Request) -> Reply {
    if request.path.ends_with("/chat/completions") {
        return error(404, "This model is only supported in v1/responses and not in v1/chat/completions.");
    }
    let call = json!({ "type": "function_call", "call_id": "c1", "name": "current_time", "arguments": "{\"zone\":\"Asia/Tokyo\"}" });
    let items = match request.json().get("tools") {
        Some(_) => vec![json!({ "type": "response.output_item.done", "item": call })],
        None => ["1, ", "2, ", "3"].map(|text| json!({ "type": "response.output_text.delta", "delta": text })).to_vec(),
    };
    let end = json!({ "type": "response.completed", "response": { "status": "completed" } });
    FakeEndpoint::events(items.into_iter().chain([end]))
}

#[tokio::test]
async fn required_wire_is_a_note() {
    let endpoint = FakeEndpoint::start().await;
    endpoint.respond_with(respond_over_responses);
    for (wire, note, requests) in [
        (
            json!({}),
            "  note    wire       the endpoint requires the Responses API: \"wire\": \"responses\" in a row of MODELS saves a rejected request\n",
            3,
        ),
        (json!({ "wire": "responses" }), "", 2),
    ] {
        let mut row = json!({ "name": "x", "baseUrl": endpoint.url(), "model": MODEL, "tools": "native" });
        row.as_object_mut().unwrap().extend(wire.as_object().unwrap().clone());
        let settings =
            [("MODELS", json!([row]).to_string()), ("MODEL_OPTIONS", r#"{"x":{"contextTokens":8000}}"#.to_owned())];
        let settings = settings.each_ref().map(|(name, value)| (*name, &**value));
        let before = endpoint.requests().len();
        let run = checked(&["check", "--slow", SLOW], &settings).await;
        let expected = [
            &*format!("x ({MODEL} at 127.0.0.1:N)\n"),
            ANSWER,
            STREAMING,
            "  ok      tools      native (set by \"tools\"); the model called the tool\n",
            WINDOW,
            note,
            "search\n",
            "  note    search     not configured, demo pages are found: set TAVILY_API_KEY for the web\n",
            NOTES,
        ];
        assert_eq!((run, endpoint.requests().len() - before), (passed(&expected.concat()), requests));
    }
}

#[tokio::test]
async fn missing_tool_call_is_a_note() {
    let (model, search) = (FakeModel::start().await, FakeTavily::start().await);
    model.respond_with(|_| Completion::of(["1, ", "2, ", "3"]));
    let tools = "  note    tools      prompted (native tools are not known for this model); the model did not call the tool \
                 that it should call: `evaluate` measures how often it does\n";
    let expected = report(&[ANSWER, STREAMING, tools, WINDOW].concat(), NOTES);
    assert_eq!(check(&model, &search, &[]).await, passed(&expected));
}

#[tokio::test]
async fn wrong_key_and_unknown_model_fail() {
    let search = FakeTavily::start().await;
    for (reply, text) in [
        (error(401, "Incorrect API key provided: canary"), "the key was rejected (HTTP 401): set OPENAI_API_KEY"),
        (
            error(404, "The model does not exist"),
            "the server has no model `scripted-1` (HTTP 404): set OPENAI_MODEL, or OPENAI_BASE_URL if its path is wrong",
        ),
        (
            error(400, "Model Not Exist"),
            "the request was rejected (HTTP 400): set OPENAI_MODEL if there is no model `scripted-1`, or remove what the \
             model does not take from MODEL_OPTIONS",
        ),
        (
            error(402, "Insufficient Balance"),
            "the account has no balance or quota left (HTTP 402): top it up, or set OPENAI_API_KEY to another account's",
        ),
    ] {
        let model = FakeModel::start().await;
        model.queue_replies([reply]);
        let expected = report(&format!("  FAILED  answer     {text}\n"), "");
        assert_eq!(check(&model, &search, &[]).await, failed(&expected));
    }
}

#[tokio::test]
async fn unreachable_server_fails() {
    let search = FakeTavily::start().await;
    let (model, closed) = (FakeModel::start().await, std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let address = format!("http://{}/v1", closed.local_addr().unwrap());
    drop(closed);
    let text = "  FAILED  answer     127.0.0.1:N cannot be reached, the connection is refused: start the server, or set \
                OPENAI_BASE_URL\n";
    assert_eq!(check(&model, &search, &[("OPENAI_BASE_URL", &address)]).await, failed(&report(text, "")));
}

#[tokio::test]
async fn answers_without_streaming_are_noted() {
    let document =
        json!({"choices": [{"message": {"role": "assistant", "content": "1, 2, 3"}, "finish_reason": "stop"}]});
    for (reply, text) in [
        (
            Reply::json(200, &document),
            "the server sends one document instead of a stream: users wait for the whole answer",
        ),
        (
            Completion::of(["1, ", "2, ", "3"]).in_chunks_of(100_000),
            "the whole answer arrived in one piece: switch off buffering in the server or in a proxy before it",
        ),
    ] {
        let (model, search) = (good_model().await, FakeTavily::start().await);
        model.queue_replies([reply]);
        let streaming = format!("  note    streaming  {text}\n");
        let expected = report(&[ANSWER, &streaming, TOOLS, WINDOW].concat(), NOTES);
        assert_eq!(check(&model, &search, &[]).await, passed(&expected));
    }
}

#[tokio::test]
async fn slow_first_token_is_a_note() {
    let model = good_model().await;
    let url = model.url();
    let settings = [
        ("OPENAI_BASE_URL", &*url),
        ("OPENAI_API_KEY", MODEL_KEY),
        ("OPENAI_MODEL", MODEL),
        ("MODEL_OPTIONS", CONTEXT),
    ];
    let run = checked(&["check", "--slow", "0"], &settings).await;
    let line = "\n  note    answer     first token after N s, which is slow (0 s or more)\n";
    assert!(run.exit_code == Some(0) && run.output.contains(line), "{run:?}");
}

#[tokio::test]
async fn silent_server_fails_after_the_timeout() {
    let model = FakeModel::start().await;
    model.queue_replies([Reply::no_response()]);
    let url = model.url();
    let settings = [("OPENAI_BASE_URL", &*url), ("OPENAI_API_KEY", MODEL_KEY), ("OPENAI_MODEL", MODEL)];
    let run = checked(&["check", "--timeout", "1"], &settings).await;
    let line = "\n  FAILED  answer     no complete answer within 1 s: try again with a longer --timeout if the server is \
                still loading the model\n";
    assert!(run.exit_code == Some(1) && run.output.contains(line), "{run:?}");
}

#[tokio::test]
async fn check_without_a_model_names_settings() {
    let run = checked(&["check"], &[("ARK_API_KEY", MODEL_KEY)]).await;
    let errors = "lambda-chat: no model is configured. Set the variables of one line:
  BEDROCK_MODEL                      Amazon Bedrock, with the AWS credentials of the environment instead of a key
  ARK_API_KEY, ARK_MODEL             Volcengine Ark
  OPENAI_API_KEY, OPENAI_MODEL       OpenAI; with OPENAI_BASE_URL any compatible server
  ANTHROPIC_API_KEY                  Anthropic's Claude; ANTHROPIC_MODEL names another model than the default
  GEMINI_API_KEY                     Google's Gemini; GEMINI_MODEL names another model than the default
  OLLAMA_API_URL, OLLAMA_MODEL       Ollama, such as http://localhost:11434
  MODELS                             any number of models, as docs/reference/settings.md describes
  ARK_API_KEY is set without ARK_MODEL: there is no model `volcano`
";
    assert_eq!(run, Run { exit_code: Some(1), output: String::new(), errors: errors.to_owned() });
}

#[tokio::test]
async fn invalid_setting_ends_check_with_2() {
    let run = checked(&["check"], &[("MODELS", "[canary")]).await;
    assert!(run.exit_code == Some(2) && run.errors.starts_with("lambda-chat: MODELS: expected "), "{run:?}");
}
