//! The search cache: equal searches call the provider once.

use serde_json::{Value, json};
use support::{Completion, EventStream, FakeTavily, Gate, TestApp, Transcript};

use crate::search_call;

/// Makes the model search for the user's message and then answer.
fn make_model_search(app: &TestApp) {
    app.model.respond_with(|request| {
        if request.has_tool_results() {
            Completion::of(["好。"])
        } else {
            Completion::of([search_call(&request.last_message())])
        }
    });
}

/// Whether the turn's first search succeeded, and whether the cache served it.
fn outcome(turn: &Transcript) -> (Value, Value) {
    let result = turn.events_of("tool_result")[0];
    (result["ok"].clone(), result["cached"].clone())
}

#[tokio::test]
async fn f070_simultaneous_equal_searches_make_one_upstream_call() {
    let (app, model_gate, search_gate) = (TestApp::start().await, Gate::new(), Gate::new());
    let (model_hold, search_hold) = (model_gate.clone(), search_gate.clone());
    app.model.respond_with(move |request| {
        if request.has_tool_results() {
            Completion::of(["好。"])
        } else {
            Completion::of([search_call("天气")]).wait_before_head(&model_hold)
        }
    });
    app.search.respond_with(move |body| FakeTavily::search_reply(body).wait_before_head(&search_hold));
    let mut turns: Vec<EventStream> = Vec::new();
    for n in 0..20 {
        turns.push(app.open(&json!({ "message": "天气", "userId": format!("user-{n}") })).await);
        model_gate.wait_until_reached().await;
    }
    model_gate.open_permanently();
    for turn in &mut turns {
        turn.read_until("tool_call").await;
    }
    search_gate.wait_until_reached().await;
    search_gate.open_permanently();
    for turn in turns {
        let turn = turn.read_to_end().await;
        let result = turn.events_of("tool_result")[0];
        assert_eq!((&result["ok"], result["sources"].as_array().unwrap().len()), (&json!(true), 2), "{result}");
        assert_eq!(turn.finish_reason(), "stop");
    }
    assert_eq!(app.search.queries(), ["天气"]);
}

#[tokio::test]
async fn repeated_search_is_served_from_the_cache() {
    let app = TestApp::start().await;
    make_model_search(&app);
    let first = app.send_message("天气").await;
    let second = app.as_user("alice").send_message("天气").await;
    let own = app.send_message("天气").await;
    // A caller must not see that another caller's search filled the cache.
    let (fetched, cached) = ((json!(true), json!(false)), (json!(true), json!(true)));
    assert_eq!([outcome(&first), outcome(&second), outcome(&own)], [fetched.clone(), fetched, cached]);
    assert_eq!(second.events_of("tool_result")[0]["sources"], first.events_of("tool_result")[0]["sources"]);
    let credits = [&first, &second, &own].map(|turn| turn.events_of("usage")[0]["searchCredits"].clone());
    assert_eq!(credits, [json!(2), json!(2), json!(0)]);
    let repeated = app.as_user("alice").send_message("天气").await;
    assert_eq!(outcome(&repeated), (json!(true), json!(true)), "a repeat of her own is known as one");
    assert_eq!(repeated.events_of("usage")[0]["searchCredits"], 0);
    assert_eq!(outcome(&app.as_user("bob").send_message("天气").await), (json!(true), json!(false)));
    assert_eq!(app.search.queries().len(), 1);
    let requests = app.model.requests();
    let results_text = |n: usize| requests[n].last_message().split("</search_results>").next().unwrap().to_owned();
    assert_eq!(results_text(1), results_text(3), "the model reads the same either way");
}

#[tokio::test]
async fn f073_equivalent_spellings_share_a_cache_entry() {
    let app = TestApp::start().await;
    make_model_search(&app);
    assert_eq!(outcome(&app.send_message("caf\u{e9} 天气").await).1, false);
    assert_eq!(outcome(&app.send_message("cafe\u{301} 天气").await).1, true);
    app.model.queue_replies([Completion::of([search_call("  café 天气 ")])]);
    assert_eq!(outcome(&app.send_message("问").await).1, true);
    assert_eq!(outcome(&app.send_message("cafe 天气").await).1, false);
    assert_eq!(app.search.queries().len(), 2);
}

#[tokio::test]
async fn f069_failures_are_never_cached() {
    let app = TestApp::start().await;
    make_model_search(&app);
    app.search.respond_with(|_| FakeTavily::error_reply(500, "down"));
    assert_eq!(outcome(&app.send_message("天气").await).0, false);
    app.search.respond_with(FakeTavily::search_reply);
    assert_eq!(outcome(&app.send_message("天气").await), (json!(true), json!(false)));
}

#[tokio::test]
async fn f065_stale_result_replaces_a_failed_search() {
    let app = TestApp::start_with(&[("SEARCH_CACHE_TTL_SECONDS", "1")]).await;
    make_model_search(&app);
    let first = app.send_message("天气").await;
    app.search.respond_with(|_| FakeTavily::error_reply(500, "down"));
    let later = run_until_stale(&app).await;
    assert_eq!(later.events_of("tool_result")[0]["sources"], first.events_of("tool_result")[0]["sources"]);
    assert_eq!(later.finish_reason(), "stop");
}

/// Runs turns until the search is called again, that is, until the result is older than its TTL of 1 s.
async fn run_until_stale(app: &TestApp) -> Transcript {
    let polling = async {
        loop {
            let turn = app.send_message("天气").await;
            if app.search.queries().len() > 1 {
                return turn;
            }
        }
    };
    support::with_timeout("a result to become stale", polling).await
}
