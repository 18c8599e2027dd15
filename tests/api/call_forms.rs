//! Every form in which a model may write a call, cut at every place.

use futures_util::StreamExt;
use serde_json::{Value, json};
use support::{Completion, ModelRequest, Reply, TestApp};

/// How many turns run at the same time.
const AT_ONCE: usize = 8;

/// Replies that show `好的。` and ask for a search for `天气`.
const FORMS: [&str; 8] = [
    "好的。<tool_call>{\"tool\": \"search_web\", \"query\": \"天气\"}</tool_call>",
    "好的。<tool_call>\n{\"name\": \"search_web\", \"arguments\": {\"query\": \"天气\"}}\n</tool_call>",
    "好的。<tool_call>{\"tool\": \"search_web\", \"query\": \"天气\"}",
    "好的。<tool_call name=\"search_web\">{\"query\": \"天气\"}</tool_call>",
    "好的。<tool name=\"search_web\">{\"query\": \"天气\"}</tool>",
    "好的。\n{\"tool\": \"search_web\", \"query\": \"天气\"}",
    "好的。\n```json\n{\"tool\": \"search_web\", \"query\": \"天气\"}\n```",
    "{\"tool\": \"search_web\", \"query\": \"天气\"}",
];

/// The user's words name a form and a place to cut it, so that turns may run in any order.
fn scripted(request: &ModelRequest) -> Reply {
    if request.brings_results() {
        return Completion::of(["晴。"]);
    }
    let question = request.last();
    let (form, cut) = question.split_once('/').unwrap();
    let form = FORMS[form.parse::<usize>().unwrap()];
    match cut {
        "each" => Completion::of(form.chars().map(String::from)),
        at => {
            let (before, after) = form.split_at(at.parse().unwrap());
            Completion::of([before, after])
        }
    }
}

fn questions() -> Vec<(usize, String)> {
    let cuts = |form: &'static str| form.char_indices().map(|(at, _)| at.to_string()).chain(["each".to_owned()]);
    let forms = FORMS.iter().enumerate();
    forms.flat_map(|(n, form)| cuts(form).map(move |cut| (n, format!("{n}/{cut}")))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f030_every_form_of_a_call_runs_unseen_wherever_it_is_cut() {
    let app = TestApp::start().await;
    app.model.answer(scripted);
    let turns = futures_util::stream::iter(questions()).map(|(form, question)| {
        let client = app.client();
        async move {
            let turn = client.ask(&question).await;
            check(form, &question, &turn);
        }
    });
    turns.buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
    assert_eq!(app.search.queries(), ["天气"]);
}

fn check(form: usize, question: &str, turn: &support::Transcript) {
    let calls: Vec<(&Value, &Value)> =
        turn.of("tool_call").iter().map(|call| (&call["name"], &call["arguments"])).collect();
    assert_eq!(calls, [(&json!("search_web"), &json!({ "query": "天气" }))], "{question}");
    assert_eq!(turn.of("tool_result")[0]["ok"], true, "{question}");
    let shown = turn.content().replace('\n', "");
    let expected = if FORMS[form].starts_with('好') { "好的。晴。" } else { "晴。" };
    assert_eq!((shown.as_str(), turn.finish_reason()), (expected, "stop"), "{question}");
}

#[tokio::test]
async fn a_close_tag_inside_an_argument_does_not_end_the_call() {
    let app = TestApp::start().await;
    let query = "什么是 </tool_call> 和 </tool>？";
    app.model.replies([Completion::of([crate::call(query)]), Completion::of(["标签。"])]);
    let turn = app.ask("问").await;
    assert_eq!(turn.of("tool_call")[0]["arguments"], json!({ "query": query }));
    assert_eq!((turn.content(), app.search.queries()), ("标签。".to_owned(), vec![query.to_owned()]));
}

#[tokio::test]
async fn a_broken_call_that_can_be_mended_runs() {
    for broken in [
        "<tool_call>{\"tool\": \"search_web\", \"query\": \"天气\",}</tool_call>",
        "<tool_call>{'tool': 'search_web', 'query': '天气'}</tool_call>",
        "<tool_call>{tool: \"search_web\", query: \"天气\"}</tool_call>",
        "<tool_call>{\"tool\"：\"search_web\"，\"query\"：\"天气\"}</tool_call>",
    ] {
        let app = TestApp::start().await;
        app.model.replies([Completion::of([broken]), Completion::of(["晴。"])]);
        let turn = app.ask("天气").await;
        assert_eq!(turn.of("tool_call")[0]["arguments"], json!({ "query": "天气" }), "{broken}");
        assert_eq!(turn.content(), "晴。", "{broken}");
    }
}

#[tokio::test]
async fn f051_a_call_beyond_mending_is_given_back_to_the_model_once_and_never_runs() {
    let app = TestApp::start().await;
    let broken = "好的。<tool_call>{\"tool\": \"search_web\", \"query\": }}} ]]</tool_call>";
    app.model.replies([Completion::of([broken]), Completion::of(["晴。"])]);
    let turn = app.ask("天气").await;
    assert_eq!(turn.content(), "好的。晴。");
    assert_eq!(turn.of("tool_call"), Vec::<&Value>::new());
    assert_eq!(app.search.queries(), Vec::<String>::new());
    let told = app.model.asked(2).await;
    assert!(told.last().contains("tool_call"), "the model is told what was wrong: {}", told.last());
}

#[tokio::test]
async fn f031_a_call_cut_by_the_output_limit_never_runs() {
    let app = TestApp::start().await;
    let cut = Completion::new().text("好的。<tool_call>{\"tool\": \"search_web\", \"query\": \"天").finish("length");
    app.model.replies([cut.usage(10, 5).done().reply(), Completion::of(["晴。"])]);
    let turn = app.ask("天气").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好的。晴。", "stop"));
    assert_eq!(app.search.queries(), Vec::<String>::new());
}
