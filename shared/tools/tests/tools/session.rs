//! Runs, rejected calls and their results.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use domain::{Language, Source, ToolCall, ToolFailure, ToolMessage, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};
use tools::{ResultBudget, Tool, ToolBinding, ToolContext, ToolError, ToolOutput, ToolRegistry, ToolRun};

use crate::support::{Plain, Probe, call, context, named, refused, session, spec};

#[tokio::test]
async fn call_returns_user_report_and_model_result() {
    let ran = session(&Arc::default(), 60).run(&call("call_1", "answer")).await.unwrap();
    let report = ToolOutcome {
        id: "call_1".to_owned(),
        name: "probe".to_owned(),
        ok: true,
        cached: false,
        duration_ms: ran.report.duration_ms,
        summary: "1 result".to_owned(),
        sources: vec![Source {
            index: 1,
            title: "T".to_owned(),
            url: "https://example.com/".to_owned(),
            excerpt: String::new(),
        }],
        error: None,
    };
    let result = ToolMessage {
        call_id: "call_1".to_owned(),
        name: "probe".to_owned(),
        ok: true,
        content: "run 1 for ada".to_owned(),
    };
    assert_eq!(ran, ToolRun { report, result, answer: None, credits: 2, prefetched: false });
}

#[tokio::test]
async fn call_future_is_send() {
    let session = session(&Arc::default(), 60);
    let ran = tokio::spawn(async move { session.run(&call("1", "answer")).await }).await.unwrap().unwrap();
    assert!(ran.report.ok);
}

#[tokio::test]
async fn f050_unknown_tool_error_lists_existing_names() {
    let (code, content) = refused(named("search_the_web", "1", json!({"behaviour": "answer"}))).await;
    assert_eq!(code, "unknown_tool");
    assert_eq!(content, "没有名为 search_the_web 的工具。可以使用的工具：probe, plain。请只调用列出的工具。");
}

#[tokio::test]
async fn f050_unknown_tool_error_without_any_tools() {
    let ran = ToolRegistry::default().session(context(Language::Zh)).run(&call("1", "answer")).await.unwrap();
    assert_eq!(ran.result.content, "没有名为 probe 的工具。可以使用的工具：无。请只调用列出的工具。");
}

#[tokio::test]
async fn f051_invalid_arguments_error_names_the_field() {
    let (code, content) = refused(named("probe", "1", json!({"behaviour": ["answer"]}))).await;
    assert_eq!(code, "invalid_arguments");
    assert_eq!(content, "参数不符合要求：`behaviour` 必须是字符串。请改正参数后重新调用。");
    let (code, content) = refused(named("probe", "1", json!({"count": 1}))).await;
    assert_eq!(code, "invalid_arguments");
    assert_eq!(content, "参数不符合要求：缺少 `behaviour`。请改正参数后重新调用。");
    let (code, _) = refused(named("probe", "1", json!("answer"))).await;
    assert_eq!(code, "invalid_arguments");
}

/// The texts that the model reads after these calls of one English turn.
async fn english_results<const N: usize>(calls: [ToolCall; N]) -> Vec<String> {
    let registry = ToolRegistry::new(vec![Arc::new(Probe::default())]);
    let session = registry.session(context(Language::En));
    let mut texts = Vec::new();
    for call in calls {
        texts.push(session.run(&call).await.unwrap().result.content);
    }
    texts.push(session.reject_excess(&call("9", "answer"), 8).result.content);
    texts
}

#[tokio::test(start_paused = true)]
async fn english_turn_has_english_notes_and_failures() {
    let long = call("4", "long");
    let calls = [
        named("search", "1", json!({})),
        named("probe", "2", json!({"behaviour": 1.5, "count": "x"})),
        call("3", "wait"),
        call("5", "answer"),
        call("6", "answer"),
        long,
    ];
    let mut texts = english_results(calls).await;
    let long = texts.remove(5);
    assert!(long.ends_with("汉\n(Too long, truncated.)"));
    let expected = [
        "Tool 'search' not found. Available tools: probe",
        "The arguments are invalid: `count` must be an integer. Correct them and call the tool again.",
        "[it timed out without a result]",
        "run 2 for ada",
        "run 2 for ada\n(You already made this call in this turn; the result above is the same. Use it, and do not \
            repeat the call.)",
        "Too many tool calls in one reply: only the first 8 ran, this one and those after it did not.",
    ];
    assert_eq!(texts, expected);
}

#[tokio::test]
async fn f052_arguments_over_64_kib_are_rejected() {
    let long = "a".repeat(64 * 1024);
    let (code, content) = refused(named("probe", "1", json!({"behaviour": long}))).await;
    assert_eq!(code, "invalid_arguments");
    assert!(content.contains("64 KiB") && content.len() < 300, "{content}");
}

#[tokio::test]
async fn f052_deeply_nested_arguments_are_rejected() {
    let nested = (0..40).fold(json!(1), |inner, _| json!([inner]));
    let (code, content) = refused(named("probe", "1", json!({"behaviour": nested}))).await;
    assert_eq!(code, "invalid_arguments");
    assert!(content.contains("16"), "{content}");
}

#[tokio::test(start_paused = true)]
async fn f053_hanging_tool_is_stopped_after_its_timeout() {
    let probe = Arc::new(Probe::default());
    let ran = session(&probe, 60).run(&call("1", "wait")).await.unwrap();
    assert_eq!(ran.report.duration_ms, 4000);
    assert_eq!(ran.report.summary, "timeout");
    assert_eq!(ran.report.error.unwrap().code, "timeout");
    assert_eq!(ran.result.content, "[超时，没有得到结果]");
    assert_eq!(probe.ended.load(Ordering::SeqCst), 1, "its work is gone");
}

#[tokio::test(start_paused = true)]
async fn f053_default_timeout_is_ten_seconds() {
    let ran = session(&Arc::default(), 60).run(&named("plain", "1", json!({"behaviour": ""}))).await.unwrap();
    assert_eq!(ran.report.duration_ms, 10_000);
    assert_eq!(ran.result.content, "工具调用失败：超时，没有得到结果");
}

#[tokio::test(start_paused = true)]
async fn f060_tool_stops_at_the_turn_deadline() {
    let ran = session(&Arc::default(), 3).run(&call("1", "wait")).await.unwrap();
    assert_eq!((ran.report.duration_ms, ran.report.error.unwrap().code.as_str()), (3000, "timeout"));
}

#[tokio::test]
async fn f060_tool_does_not_start_after_the_deadline() {
    let probe = Arc::new(Probe::default());
    let ran = session(&probe, 0).run(&call("1", "answer")).await.unwrap();
    assert_eq!(ran.report.error.unwrap().code, "timeout");
    assert_eq!(probe.runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn f054_panic_fails_only_its_own_call() {
    let session = session(&Arc::default(), 60);
    let ran = session.run(&call("1", "panic")).await.unwrap();
    assert_eq!(ran.report.error.unwrap(), ToolFailure { code: "failed".into(), message: "The tool failed.".into() });
    assert_eq!(ran.result.content, "[工具执行失败]");
    assert!(session.run(&call("2", "answer")).await.unwrap().report.ok);
}

#[tokio::test]
async fn f055_failed_call_does_not_affect_its_round() {
    let session = session(&Arc::default(), 60);
    let (fails, answers) = (call("1", "fail"), call("2", "answer"));
    let (failed, answered) = tokio::join!(session.run(&fails), session.run(&answers));
    let (failed, answered) = (failed.unwrap(), answered.unwrap());
    assert_eq!((failed.report.summary.as_str(), failed.result.content.as_str()), ("rate limited", "慢一点"));
    assert!(answered.report.ok);
}

#[tokio::test]
async fn result_budget_limits_text_for_the_model_only() {
    let budget = ResultBudget { max_bytes: 1_000, ..ResultBudget::default() };
    let (answer, content) = direct_within("long", budget).await;
    assert!(content.len() <= 1_000 && content.ends_with("汉\n（内容过长，已截断）"), "{}", content.len());
    assert!(answer.is_some_and(|text| text.len() > 200_000));
    let tiny = ResultBudget { max_bytes: 1, ..ResultBudget::default() };
    assert_eq!(direct_within("long", tiny).await.1, "\n（内容过长，已截断）");
}

#[tokio::test]
async fn f056_long_result_is_truncated_at_a_character() {
    let ran = session(&Arc::default(), 60).run(&call("1", "long")).await.unwrap();
    let content = ran.result.content;
    assert!(content.len() <= 256 * 1024 && content.len() > 256 * 1024 - 8, "{}", content.len());
    assert!(content.ends_with("汉\n（内容过长，已截断）"));
}

#[tokio::test]
async fn fatal_error_ends_the_turn() {
    let error = session(&Arc::default(), 60).run(&call("1", "die")).await.unwrap_err();
    assert_eq!(error.to_string(), "the end");
}

#[tokio::test]
async fn dropping_a_call_stops_its_work() {
    let probe = Arc::new(Probe::default());
    let session = session(&probe, 60);
    let wait = call("1", "wait");
    {
        let mut running = Box::pin(session.run(&wait));
        assert!(futures_util::poll!(running.as_mut()).is_pending());
        assert_eq!(probe.ended.load(Ordering::SeqCst), 0);
    }
    assert_eq!(probe.ended.load(Ordering::SeqCst), 1);
}

/// Calls the probe as a direct tool; returns the texts for the user and for the model.
async fn direct(behaviour: &str) -> (Option<String>, String) {
    direct_within(behaviour, ResultBudget::default()).await
}

async fn direct_within(behaviour: &str, result_budget: ResultBudget) -> (Option<String>, String) {
    let registry = ToolRegistry::new(vec![Arc::new(Probe::default())]);
    let binding = ToolBinding { name: "probe".into(), fixed: Map::new(), direct: true };
    let context = ToolContext { result_budget, ..context(Language::Zh) };
    let ran = registry.restricted_to(&[binding]).session(context).run(&call("1", behaviour)).await.unwrap();
    (ran.answer, ran.result.content)
}

#[tokio::test]
async fn direct_tool_result_is_the_user_text() {
    assert_eq!(direct("answer").await, (Some("run 1 for ada".into()), "run 1 for ada".into()));
    assert_eq!(direct("show").await, (Some("**for you**".into()), "for the model".into()));
    assert_eq!(direct("fail").await, (None, "慢一点".into()));
    let (long, _) = direct("long").await;
    assert!(long.is_some_and(|text| text.len() <= 256 * 1024 && text.ends_with("汉\n（内容过长，已截断）")));
}

#[tokio::test]
async fn fixed_arguments_are_hidden_and_win() {
    let registry = ToolRegistry::new(vec![Arc::new(Probe::default())]);
    let bind = |behaviour: &str| {
        let fixed = Map::from_iter([("behaviour".to_owned(), json!(behaviour))]);
        ToolBinding { name: "probe".into(), fixed, direct: false }
    };
    let agent = registry.restricted_to(&[bind("answer")]);
    let schema = |registry: &ToolRegistry| registry.specs(Language::Zh)[0].parameters.clone();
    let names =
        |schema: serde_json::Value| schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!((names(schema(&agent)), &schema(&agent)["required"]), (vec!["count".to_owned()], &json!([])));
    assert_eq!(names(schema(&registry)), ["behaviour", "count"]);
    for agent in [&agent, &agent.restricted_to(&[bind("fail")])] {
        let ran = agent.session(context(Language::Zh)).run(&call("1", "panic")).await.unwrap();
        assert!(ran.report.ok && ran.result.content.ends_with("for ada"), "{ran:?}");
    }
}

#[test]
fn later_tool_replaces_earlier_one_of_same_name() {
    struct Other;
    #[async_trait]
    impl Tool for Other {
        fn spec(&self, _language: Language) -> ToolSpec {
            spec("probe", "The other one.")
        }
        async fn call(&self, _: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
            Ok(ToolOutput::default())
        }
    }
    let registry = ToolRegistry::new(vec![Arc::new(Probe::default()), Arc::new(Plain), Arc::new(Other)]);
    let specs: Vec<_> = registry.specs(Language::Zh).iter().map(|spec| (&*spec.name, &*spec.description)).collect();
    assert_eq!(specs, [("probe", "The other one."), ("plain", "Never ends.")]);
}

#[tokio::test(start_paused = true)]
async fn progress_is_forwarded_before_the_call_ends() {
    let probe = Arc::new(Probe::default());
    let (session, forwarded) = (session(&probe, 60), std::sync::Mutex::new(Vec::new()));
    let on_progress = |text| {
        forwarded.lock().unwrap().push(text);
        probe.gate.notify_one();
    };
    let ran = session.run_with_progress(&call("1", "tell"), &on_progress).await.unwrap();
    assert_eq!(ran.result.content, "run 1 for ada");
    assert_eq!(*forwarded.lock().unwrap(), ["上半场结束", "。"]);
}
