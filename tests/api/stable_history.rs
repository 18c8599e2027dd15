//! What of a prompt is the same as in the request before, which is the part that providers cache: ten turns, three of them
//! with a search of ten pages.

use serde_json::{Value, json};
use support::{Completion, FakeModel, FakeTavily, ModelRequest, NativeApp, Reply, TestApp, search_reply};

/// The turns that search.
const SEARCHES: [usize; 3] = [1, 4, 7];

/// Minimum share of the input that is not sent for the first time and begins as the request before did.
const MIN_SHARED_PERCENT: usize = 85;

/// Bytes of input of a conversation.
#[derive(Debug, Default)]
struct Input {
    all: usize,
    /// As in the request before, from its beginning on.
    shared: usize,
    /// In a message that no request before had.
    new: usize,
}

impl Input {
    fn shared_percent(&self) -> usize {
        self.shared * 100 / self.all
    }

    fn shared_percent_of_known(&self) -> usize {
        self.shared * 100 / (self.all - self.new)
    }
}

/// The parts of a request in the order of a provider's cache: the tools, then each message.
fn parts(request: &ModelRequest) -> Vec<String> {
    let messages = request.body["messages"].as_array().unwrap();
    std::iter::once(&request.body["tools"]).chain(messages).map(Value::to_string).collect()
}

fn measure(requests: &[ModelRequest]) -> Input {
    let mut input = Input::default();
    for pair in requests.windows(2) {
        let [before, after] = [parts(&pair[0]), parts(&pair[1])];
        let [joined_before, joined_after] = [before.concat(), after.concat()];
        input.all += joined_after.len();
        input.shared += joined_before.bytes().zip(joined_after.bytes()).take_while(|(one, other)| one == other).count();
        input.new += after.iter().filter(|part| !before.contains(part)).map(String::len).sum::<usize>();
    }
    input
}

/// Bytes of input if results were never cut: what the cut of each one took away, in all requests that follow it.
fn uncut_bytes(requests: &[ModelRequest]) -> usize {
    let all: Vec<Vec<String>> = requests.iter().map(parts).collect();
    let sent: usize = all.iter().skip(1).map(|parts| parts.concat().len()).sum();
    let cuts = all.windows(2).enumerate().filter_map(|(at, pair)| {
        let result = pair[0].len() - 1;
        let saved = pair[0][result].len().saturating_sub(pair[1].get(result)?.len());
        Some(saved * (all.len() - at - 1))
    });
    sent + cuts.sum::<usize>()
}

fn ten_pages(request: &Value) -> Reply {
    let turn = request["query"].as_str().unwrap().trim_start_matches("查询 ");
    let page = |number: usize| {
        json!({
            "title": format!("第 {turn} 轮新闻 {number}"), "url": format!("https://example.com/{turn}/{number}"),
            "content": format!("第 {number} 条：{}", "公司公布了本季度的营收和利润。".repeat(30)), "score": 0.9,
        })
    };
    let results: Vec<Value> = (1..=10).map(page).collect();
    FakeTavily::search_reply_with(request["query"].as_str().unwrap(), &results.into(), &json!("摘要。".repeat(60)))
}

/// Answers the question of a turn, which is its number, after a search if it is one of [`SEARCHES`].
fn reply(request: &ModelRequest, search: fn(&str) -> Reply) -> Reply {
    let mut users = request.dialogue().into_iter().filter(|(role, text)| role == "user" && text.starts_with("问题 "));
    let question = users.next_back().unwrap().1;
    let number: usize = question.trim_start_matches("问题 ").parse().unwrap();
    let last = request.body["messages"].as_array().unwrap().last().unwrap().clone();
    let is_question = last["content"].as_str().unwrap().starts_with("问题 ");
    if is_question && SEARCHES.contains(&number) {
        return search(&format!("查询 {number}"));
    }
    let searches = SEARCHES.iter().filter(|turn| **turn < number).count();
    let cited = if is_question { String::new() } else { format!(" [{}][{}]", searches * 10 + 1, searches * 10 + 3) };
    Completion::of([format!("{}{cited}。", "这是一个关于营收和利润的回答，".repeat(26))])
}

fn text_search(query: &str) -> Reply {
    Completion::of([format!("<tool_call>{}</tool_call>", json!({ "tool": "search_web", "query": query }))])
}

fn native_search(query: &str) -> Reply {
    search_reply("id-1", query)
}

async fn hold_conversation(app: &TestApp, model: &FakeModel, tavily: &FakeTavily, search: fn(&str) -> Reply) {
    tavily.respond_with(ten_pages);
    model.respond_with(move |request| reply(request, search));
    let mut conversation = None;
    for turn in 1..=10 {
        let mut message = json!({ "message": format!("问题 {turn}") });
        if let Some(id) = &conversation {
            message["conversationId"] = Value::from(String::clone(id));
        }
        let transcript = app.chat(&message).await;
        assert_eq!(transcript.finish_reason(), "stop");
        conversation = Some(transcript.conversation_id());
    }
}

/// Asserts that each request begins with the one before in its turn, and each turn with the first request of the turn
/// before: what a turn added is only cut once, when it has ended.
fn assert_requests_begin_alike(requests: &[ModelRequest]) {
    let all: Vec<Vec<String>> = requests.iter().map(parts).collect();
    let is_first = |parts: &Vec<String>| parts.last().unwrap().contains("问题 ");
    let mut first_of_turn = all[0].clone();
    for pair in all.windows(2) {
        let before = if is_first(&pair[1]) { &first_of_turn } else { &pair[0] };
        assert_eq!(&pair[1][..before.len()], &before[..]);
        if is_first(&pair[1]) {
            first_of_turn.clone_from(&pair[1]);
        }
    }
}

#[tokio::test]
async fn conversations_keep_the_beginning_of_their_prompts() {
    let text = TestApp::start().await;
    hold_conversation(&text, &text.model, &text.search, text_search).await;
    let native = NativeApp::start().await;
    hold_conversation(&native, &native.model, &native.search, native_search).await;
    for (path, requests) in [("text", text.model.requests()), ("native", native.model.requests())] {
        assert_eq!(requests.len(), 13);
        let input = measure(&requests);
        eprintln!(
            "{path}: {input:?}, shared {} % of all input, {} % of what was sent before; {} bytes without the cut",
            input.shared_percent(),
            input.shared_percent_of_known(),
            uncut_bytes(&requests)
        );
        assert_requests_begin_alike(&requests);
        assert!(input.shared_percent_of_known() >= MIN_SHARED_PERCENT, "{path}: {input:?}");
        assert!(input.all * 10 < uncut_bytes(&requests) * 7, "the cut saves 30 %, {path}: {input:?}");
    }
}

#[tokio::test]
async fn last_round_begins_like_the_one_before() {
    let rounds = [("MAX_TOOL_ROUNDS", "2")];
    let reply = |request: &ModelRequest, search: fn(&str) -> Reply| {
        let is_last = request.last_message().ends_with("没有查到的内容请如实说明，不要编造。");
        if is_last { Completion::of(["好。"]) } else { search(&format!("查询 {}", request.messages().len())) }
    };
    let text = TestApp::start_with(&rounds).await;
    text.model.respond_with(move |request| reply(request, text_search));
    let native = NativeApp::start_with(&rounds).await;
    native.model.respond_with(move |request| reply(request, native_search));
    for (app, model) in [(&text, &text.model), (&native.app, &native.model)] {
        assert_eq!(app.send_message("问题 1").await.finish_reason(), "tool_limit");
        let requests = model.requests();
        assert_eq!(requests.len(), 3);
        assert_requests_begin_alike(&requests);
    }
}
