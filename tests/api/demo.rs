//! Without a configured model and search the product runs demos of both.

use support::TestApp;

const NOTHING_CONFIGURED: [(&str, &str); 3] = [("OPENAI_MODEL", ""), ("TAVILY_API_KEY", ""), ("TAVILY_BASE_URL", "")];

#[tokio::test]
async fn demo_answers_a_question_from_search_results() {
    for question in ["今天北京的天气怎么样？", "What is the latest news about Mars?"] {
        let app = TestApp::start_with(&NOTHING_CONFIGURED).await;
        let turn = app.send_message(question).await;
        let order: Vec<&str> = turn.0.iter().filter_map(|event| event["type"].as_str()).collect();
        let at = |kind: &str| order.iter().position(|known| *known == kind).unwrap();
        assert!(at("start") < at("tool_call") && at("tool_call") < at("tool_result"), "{order:?}");
        let result = turn.events_of("tool_result")[0];
        assert_eq!((&result["ok"], turn.finish_reason()), (&true.into(), "stop"), "{question}");
        let after = turn.0.iter().skip(at("tool_result")).filter(|event| event["type"] == "content").count();
        assert!(after > 0 && !result["sources"].as_array().unwrap().is_empty(), "{question}");
        assert_eq!((app.model.requests().len(), app.search.requests().len()), (0, 0));
    }
}

#[tokio::test]
async fn demo_answers_small_talk_without_a_search() {
    for message in ["你好", "谢谢！", "Hello!", "Thank you"] {
        let app = TestApp::start_with(&NOTHING_CONFIGURED).await;
        let turn = app.send_message(message).await;
        assert_eq!((turn.events_of("tool_call").len(), turn.finish_reason()), (0, "stop"), "{message}");
        assert!(!turn.content().trim().is_empty(), "{message}");
    }
}

#[tokio::test]
async fn demo_model_is_marked_as_demo() {
    let app = TestApp::start_with(&NOTHING_CONFIGURED).await;
    let models = app.get("/api/models").await.ok();
    let row = &models["models"][0];
    assert_eq!((&row["name"], &row["default"], &row["demo"]), (&"demo".into(), &true.into(), &true.into()));
    assert_eq!(models["models"].as_array().unwrap().len(), 1);
    assert_eq!(app.send_message("你好").await.0[0]["model"], "demo");
}
