//! The search cache: equal searches call the provider once.

use serde_json::{Value, json};
use support::{Completion, EventStream, FakeTavily, Gate, TestApp, Transcript};

use crate::call;

/// Makes the model search for the user's message and then answer.
fn searching(app: &TestApp) {
    app.model.answer(|request| {
        if request.brings_results() { Completion::of(["好。"]) } else { Completion::of([call(&request.last())]) }
    });
}

/// Whether the turn's first search succeeded, and whether the cache served it.
fn outcome(turn: &Transcript) -> (Value, Value) {
    let result = turn.of("tool_result")[0];
    (result["ok"].clone(), result["cached"].clone())
}

#[tokio::test]
async fn f070_simultaneous_equal_searches_make_one_upstream_call() {
    let (app, asked, searched) = (TestApp::start().await, Gate::new(), Gate::new());
    let (asking, searching) = (asked.clone(), searched.clone());
    app.model.answer(move |request| {
        if request.brings_results() {
            Completion::of(["好。"])
        } else {
            Completion::of([call("天气")]).held(&asking)
        }
    });
    app.search.answer(move |body| FakeTavily::found(body).held(&searching));
    let mut turns: Vec<EventStream> = Vec::new();
    for n in 0..20 {
        turns.push(app.open(&json!({ "message": "天气", "userId": format!("user-{n}") })).await);
        asked.reached().await;
    }
    asked.open_for_good();
    for turn in &mut turns {
        turn.until("tool_call").await;
    }
    searched.reached().await;
    searched.open_for_good();
    for turn in turns {
        let turn = turn.rest().await;
        let result = turn.of("tool_result")[0];
        assert_eq!((&result["ok"], result["sources"].as_array().unwrap().len()), (&json!(true), 2), "{result}");
        assert_eq!(turn.finish_reason(), "stop");
    }
    assert_eq!(app.search.queries(), ["天气"]);
}

#[tokio::test]
async fn repeated_search_is_served_from_the_cache() {
    let app = TestApp::start().await;
    searching(&app);
    let first = app.ask("天气").await;
    let second = app.user("alice").ask("天气").await;
    let own = app.ask("天气").await;
    // A caller must not see that another caller's search filled the cache.
    let (fetched, cached) = ((json!(true), json!(false)), (json!(true), json!(true)));
    assert_eq!([outcome(&first), outcome(&second), outcome(&own)], [fetched.clone(), fetched, cached]);
    assert_eq!(second.of("tool_result")[0]["sources"], first.of("tool_result")[0]["sources"]);
    let credits = [&first, &second, &own].map(|turn| turn.of("usage")[0]["searchCredits"].clone());
    assert_eq!(credits, [json!(2), json!(2), json!(0)]);
    assert_eq!(app.search.queries().len(), 1);
    let requests = app.model.requests();
    let told = |n: usize| requests[n].last().split("</search_results>").next().unwrap().to_owned();
    assert_eq!(told(1), told(3), "the model reads the same either way");
}

#[tokio::test]
async fn f073_equivalent_spellings_share_a_cache_entry() {
    let app = TestApp::start().await;
    searching(&app);
    assert_eq!(outcome(&app.ask("caf\u{e9} 天气").await).1, false);
    assert_eq!(outcome(&app.ask("cafe\u{301} 天气").await).1, true);
    app.model.replies([Completion::of([call("  café 天气 ")])]);
    assert_eq!(outcome(&app.ask("问").await).1, true);
    assert_eq!(outcome(&app.ask("cafe 天气").await).1, false);
    assert_eq!(app.search.queries().len(), 2);
}

#[tokio::test]
async fn f069_failures_are_never_cached() {
    let app = TestApp::start().await;
    searching(&app);
    app.search.answer(|_| FakeTavily::failure(500, "down"));
    assert_eq!(outcome(&app.ask("天气").await).0, false);
    app.search.answer(FakeTavily::found);
    assert_eq!(outcome(&app.ask("天气").await), (json!(true), json!(false)));
}

#[tokio::test]
async fn f065_stale_result_replaces_a_failed_search() {
    let app = TestApp::with(&[("SEARCH_CACHE_TTL_SECONDS", "1")]).await;
    searching(&app);
    let first = app.ask("天气").await;
    app.search.answer(|_| FakeTavily::failure(500, "down"));
    let later = within_ttl(&app).await;
    assert_eq!(later.of("tool_result")[0]["sources"], first.of("tool_result")[0]["sources"]);
    assert_eq!(later.finish_reason(), "stop");
}

/// Runs turns until the search is called again, that is, until the result is older than its TTL of 1 s.
async fn within_ttl(app: &TestApp) -> Transcript {
    let asking = async {
        loop {
            let turn = app.ask("天气").await;
            if app.search.queries().len() > 1 {
                return turn;
            }
        }
    };
    support::within("a result to become stale", asking).await
}
