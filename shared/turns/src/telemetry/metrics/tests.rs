use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use agent::{EventLog, TurnState};
use domain::{
    AnswerDelta, CreditLimit, CreditObserver, Event, Owner, RequestOrigin, ToolCall, ToolEvent, ToolFailure,
    ToolOutcome, Usage,
};
use llm::AttemptRecord;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;

/// A writer that keeps what is written.
#[derive(Clone, Default)]
struct LineBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for LineBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl LineBuffer {
    /// The lines without their declarations, each after the names that it declares to be metrics.
    fn lines(&self) -> Vec<(Vec<String>, Value)> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let line = |line: &str| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            let declaration = line.as_object_mut().unwrap().remove("_aws").unwrap();
            let metrics = declaration["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap().clone();
            (metrics.iter().map(|metric| metric["Name"].as_str().unwrap().to_owned()).collect(), line)
        };
        text.lines().map(line).collect()
    }
}

fn call(id: &str, name: &str) -> Event {
    Event::Tool(ToolEvent::Call(Box::new(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: json!({"query": "canary-words"}),
    })))
}

fn result(id: &str, name: &str, error: Option<&str>, cached: bool) -> Event {
    let failure = |code: &str| ToolFailure { code: code.into(), message: "canary-words".into() };
    let (ok, error) = (error.is_none(), error.map(failure));
    let (id, name, summary) = (id.into(), name.into(), "canary-words".into());
    Event::Tool(ToolEvent::Result(Box::new(ToolOutcome {
        id,
        name,
        ok,
        cached,
        duration_ms: 40,
        summary,
        sources: Vec::new(),
        error,
    })))
}

fn state_of(events: impl IntoIterator<Item = Event>) -> TurnState {
    let all = EventLog::default();
    events.into_iter().for_each(|event| all.send(event));
    all.turn_state().clone()
}

fn lines_of(
    state: &TurnState,
    attempts: Vec<AttemptRecord>,
    outcome: Result<FinishReason, ErrorCode>,
) -> Vec<(Vec<String>, Value)> {
    let (buffer, at) = (LineBuffer::default(), Instant::now());
    let request = RequestOrigin {
        request_id: "r1".into(),
        received_at: at.into_std(),
        deadline: None,
        trace_parent: None,
        admitted_after: Arc::default(),
    };
    let usage = Usage {
        input_tokens: 7,
        cached_tokens: 0,
        output_tokens: 2,
        search_credits: 1,
        estimated: false,
        cost_micros: Some(1_500_000),
    };
    let report = TurnReport {
        request: &request,
        owner: &Owner::new("local"),
        agent: "default",
        conversation_id: "c1",
        turn_id: "t1",
        model: "m",
        models: &[],
        tools: vec!["search_web".into()],
        state,
        attempts,
        usage,
        started_at: at + Duration::from_millis(30),
        ended_at: at + Duration::from_millis(900),
        outcome,
        content: None,
    };
    Metrics::to("chat", "7", buffer.clone()).turn(&report, UNIX_EPOCH);
    buffer.lines()
}

fn attempt(failed: Option<&'static str>) -> AttemptRecord {
    let began = Instant::now();
    AttemptRecord {
        model: "m".into(),
        number: 1,
        started_at: began,
        ended_at: Some(began),
        error_kind: failed,
        status: None,
        help: None,
    }
}

#[tokio::test]
async fn turn_is_one_line_of_numbers_with_ids() {
    let state = state_of([Event::Delta(AnswerDelta::Text("canary-words".into()))]);
    let lines = lines_of(&state, vec![attempt(None)], Ok(FinishReason::Deadline));
    let expected = json!({
        "FunctionName": "chat",
        "Turns": 1, "FailedTurns": 0, "StoppedTurns": 0, "DeadlineAnswers": 1,
        "FirstByte": 30, "FirstToken": 0, "TurnTime": 900,
        "Rounds": 0, "ModelCalls": 1, "CacheHits": 0, "SearchCredits": 1,
        "InputTokens": 7, "OutputTokens": 2, "EstimatedCost": 1.5,
        "requestId": "r1", "conversationId": "c1", "turnId": "t1", "end": "answered", "model": "m",
    });
    assert_eq!(lines[0].1, expected);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].0.len(), 14);
}

#[tokio::test]
async fn calls_are_counted_by_tool_and_outcome() {
    let events = [
        call("1", "search_web"),
        result("1", "search_web", None, true),
        call("2", "search_web"),
        result("2", "search_web", None, false),
        call("3", "canary-words"),
        result("3", "canary-words", Some("unknown_tool"), false),
        call("4", "search_web"),
    ];
    let lines = lines_of(&state_of(events), Vec::new(), Err(ErrorCode::Interrupted));
    let row = |(_, line): &(_, Value)| {
        (line["Tool"].clone(), line["Outcome"].clone(), line["ToolCalls"].clone(), line["ToolTime"].clone())
    };
    let expected = [
        (json!("search_web"), json!("ok"), json!(2), json!([40, 40])),
        (json!("search_web"), json!("unfinished"), json!(1), Value::Null),
        (json!("unknown"), json!("unknown_tool"), json!(1), json!([40])),
    ];
    assert_eq!(lines[1..].iter().map(row).collect::<Vec<_>>(), expected);
    let turn = &lines[0].1;
    assert_eq!((&turn["CacheHits"], &turn["FailedTurns"], &turn["end"]), (&json!(1), &json!(1), &json!("interrupted")));
    assert!(lines.iter().all(|(_, line)| !line.to_string().contains("canary")));
}

#[tokio::test]
async fn failed_attempts_are_counted_by_model_and_kind() {
    let attempts = [Some("unavailable"), Some("rate_limited"), Some("unavailable"), None].map(attempt);
    let lines = lines_of(&TurnState::default(), attempts.into(), Ok(FinishReason::Stop));
    let rows: Vec<_> =
        lines[1..].iter().map(|(_, line)| (&line["Model"], &line["Kind"], &line["ModelErrors"])).collect();
    let (m, limited, unavailable) = (json!("m"), json!("rate_limited"), json!("unavailable"));
    assert_eq!(rows, [(&m, &limited, &json!(1)), (&m, &unavailable, &json!(2))]);
    assert_eq!(lines[0].1["ModelCalls"], 4);
}

#[test]
fn rejections_that_any_client_causes_are_not_counted() {
    let buffer = LineBuffer::default();
    let metrics = Metrics::to("chat", "7", buffer.clone());
    for code in [ErrorCode::NotFound, ErrorCode::RateLimited, ErrorCode::Unauthorized, ErrorCode::QuotaExhausted] {
        metrics.request_rejected(code, "r1", UNIX_EPOCH);
    }
    metrics.resumed("t1", UNIX_EPOCH);
    let line = |code: &str| json!({"FunctionName": "chat", "Code": code, "RefusedRequests": 1, "requestId": "r1"});
    let resumed = json!({"FunctionName": "chat", "ResumedReaders": 1, "turnId": "t1"});
    let lines: Vec<_> = buffer.lines().into_iter().map(|(_, line)| line).collect();
    assert_eq!(lines, [line("rate_limited"), line("quota_exhausted"), resumed]);
}

#[tokio::test]
async fn own_faults_are_counted_by_version() {
    let fault = json!({"FunctionName": "chat", "Version": "7", "InternalErrors": 1, "requestId": "r1"});
    let turn_fault = |lines: Vec<(Vec<String>, Value)>| lines.into_iter().map(|(_, line)| line).nth(1);
    for code in [ErrorCode::UpstreamUnavailable, ErrorCode::StorageBusy, ErrorCode::Deadline] {
        assert_eq!(turn_fault(lines_of(&TurnState::default(), Vec::new(), Err(code))), None, "{code:?}");
    }
    let of_turn = turn_fault(lines_of(&TurnState::default(), Vec::new(), Err(ErrorCode::Internal))).unwrap();
    assert_eq!((&of_turn["Version"], &of_turn["InternalErrors"]), (&json!("7"), &json!(1)));
    let buffer = LineBuffer::default();
    let metrics = Metrics::to("chat", "7", buffer.clone());
    for code in [ErrorCode::UpstreamAuth, ErrorCode::Internal] {
        metrics.request_rejected(code, "r1", UNIX_EPOCH);
    }
    let lines: Vec<_> = buffer.lines().into_iter().map(|(_, line)| line).collect();
    assert_eq!((lines.len(), &lines[2]), (3, &fault));
}

#[test]
fn slow_work_is_counted_by_kind() {
    let buffer = LineBuffer::default();
    let Metrics(Some(out)) = Metrics::to("chat", "7", buffer.clone()) else { unreachable!() };
    out.write([out.slow_work_line("/api/chat", 3)], UNIX_EPOCH);
    let expected = json!({"FunctionName": "chat", "Work": "/api/chat", "SlowWork": 3});
    assert_eq!(buffer.lines()[0], (vec!["SlowWork".to_owned()], expected));
}

#[test]
fn credit_share_and_rejected_searches_are_counted() {
    let buffer = LineBuffer::default();
    let metrics = Metrics::to("chat", "7", buffer.clone());
    metrics.on_spent(80, UNIX_EPOCH);
    CreditObserver::on_refused(&metrics, CreditLimit::Plan, UNIX_EPOCH);
    CreditObserver::on_refused(&metrics, CreditLimit::Budget, UNIX_EPOCH);
    let refused = |by: &str| json!({"FunctionName": "chat", "By": by, "SearchesRefused": 1});
    let lines: Vec<_> = buffer.lines().into_iter().map(|(_, line)| line).collect();
    let spent = json!({"FunctionName": "chat", "SearchCreditsSpent": 80});
    assert_eq!(lines, [spent, refused("plan"), refused("budget")]);
}

fn file(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

#[test]
fn every_metric_is_explained() {
    let text = file("docs/operations.md");
    let missing: Vec<_> = ALL.iter().filter(|metric| !text.contains(&format!("| `{}` |", metric.0))).collect();
    assert_eq!(missing, Vec::<&Metric>::new());
    let explained = text.lines().filter(|line| line.starts_with("| `") && line.contains("` | ")).count();
    assert!(explained >= ALL.len());
}

#[test]
fn template_uses_written_metrics_and_alarms_are_explained() {
    let (template, operations) = (file("template.yaml"), file("docs/operations.md"));
    let after = |mark: &'static str, end: &'static str| {
        template.split(mark).skip(1).filter_map(move |rest| rest.split(end).next()).collect::<BTreeSet<_>>()
    };
    let names: BTreeSet<_> = ALL.iter().map(|metric| metric.0).collect();
    let of_alarms = after("Namespace: LambdaChat\n      MetricName: ", "\n");
    assert!(of_alarms.len() >= 5 && of_alarms.is_subset(&names), "{of_alarms:?}");
    let shown: BTreeSet<_> = &after(r#"["LambdaChat",""#, "\"") | &after(r#"MetricName=\""#, "\\");
    assert_eq!(shown, names);
    let mut alarms: Vec<_> =
        template.split(":\n    Type: AWS::CloudWatch::Alarm").filter_map(|text| text.lines().last()).collect();
    alarms.pop();
    let unexplained: Vec<_> =
        alarms.iter().filter(|name| !operations.contains(&format!("`{}`", name.trim()))).collect();
    assert_eq!(unexplained, Vec::<&&str>::new());
}
