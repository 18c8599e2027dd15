use domain::{Message, ToolChoice};
use serde_json::json;

use super::request::encode;
use super::*;
use crate::params::ReasoningEcho;
use crate::wire::Quirks;
use crate::wire::tests::{body, conversation, decode, decode_in_all_cuts, quirks, quirks_with};
use crate::{Delta, NativeCall, Options, Prompt, TokenUsage, Wire};

const ONE: &str = r#"data: {"choices":[{"index":0,"delta":{"content":"one"}}]}"#;
const STOP: &str = r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

fn read(lines: &[&str]) -> Vec<Result<Delta, ModelError>> {
    let stream = lines.iter().map(|line| line.to_string() + "\n\n").collect::<Vec<_>>().concat();
    decode_in_all_cuts(Wire::Openai, false, stream.as_bytes(), &stream)
}

#[expect(clippy::unnecessary_wraps, reason = "one element of what a reply gives out")]
fn text(text: &str) -> Result<Delta, ModelError> {
    Ok(Delta::Text(text.to_owned()))
}

#[expect(clippy::unnecessary_wraps, reason = "one element of what a reply gives out")]
fn end(finish: Finish) -> Result<Delta, ModelError> {
    Ok(Delta::Finish(finish))
}

#[test]
fn f021_f022_only_a_finish_completes_a_stream() {
    assert_eq!(read(&[ONE]), [text("one"), Err(ModelError::Disconnected)]);
    assert_eq!(read(&[ONE, STOP]), [text("one"), end(Finish::Stop)]);
    assert_eq!(read(&[ONE, STOP, "data: [DONE]"]), [text("one"), end(Finish::Stop)]);
}

#[test]
fn f021_done_alone_completes_text_and_whole_calls() {
    let call = |arguments: &str| {
        format!(
            r#"data: {{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"a","function":{{"name":"now","arguments":"{arguments}"}}}}]}}}}]}}"#
        )
    };
    let thinking = r#"data: {"choices":[{"delta":{"reasoning":"hm"}}]}"#;
    let done = "data: [DONE]";
    assert_eq!(read(&[ONE, done]), [text("one"), end(Finish::Stop)]);
    let now = NativeCall::new("a", "now", "{}");
    assert_eq!(read(&[&call("{}"), done]), [Ok(Delta::Call(now)), end(Finish::ToolCalls)]);
    assert_eq!(read(&[&call("{"), done]), [Err(ModelError::Disconnected)]);
    assert_eq!(read(&[ONE, &call(""), done]), [text("one"), Err(ModelError::Disconnected)]);
    let thought = Ok(Delta::Thinking("hm".to_owned()));
    assert_eq!(read(&[thinking, done]), [thought, Err(ModelError::Disconnected)]);
    assert_eq!(read(&[done]), [Err(ModelError::Disconnected)]);
}

#[test]
fn f025_error_after_finish_of_calls_drops_them() {
    let call = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"now","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    let error = r#"data: {"error":{"code":502,"message":"Provider returned error"}}"#;
    assert_eq!(read(&[ONE, call, error]), [text("one"), Err(ModelError::Unavailable)]);
}

#[test]
fn f025_error_in_base_resp_is_recognised() {
    let failed = r#"data: {"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#;
    assert_eq!(read(&[failed]), [Err(ModelError::QuotaExhausted)]);
    let fine = r#"data: {"choices":[],"base_resp":{"status_code":0,"status_msg":""}}"#;
    assert_eq!(read(&[ONE, fine, STOP]), [text("one"), end(Finish::Stop)]);
}

#[test]
fn second_completion_in_a_stream_is_ignored() {
    let of = |id: &str, finish: &str, tokens: u32| {
        format!(
            r#"data: {{"id":"{id}","choices":[{{"delta":{{"content":"{id}"}},"finish_reason":"{finish}"}}],"usage":{{"prompt_tokens":1,"completion_tokens":{tokens}}}}}"#
        )
    };
    let usage = Ok(Delta::Usage(TokenUsage { input: 1, cached: 0, cache_writes: 0, output: 3 }));
    assert_eq!(read(&[&of("a", "stop", 2), &of("b", "length", 3)]), [text("a"), usage, end(Finish::Stop)]);
}

#[test]
fn reasoning_is_added_where_the_total_contains_it() {
    let usage = |total: u64| {
        let usage = format!(
            r#"data: {{"choices":[],"usage":{{"prompt_tokens":5,"completion_tokens":7,"total_tokens":{total},"completion_tokens_details":{{"reasoning_tokens":4}}}}}}"#
        );
        let found = read(&[ONE, STOP, &usage]);
        found.into_iter().find_map(|one| if let Ok(Delta::Usage(usage)) = one { Some(usage.output) } else { None })
    };
    assert_eq!((usage(16), usage(12), usage(0), usage(u64::MAX)), (Some(11), Some(7), Some(7), Some(7)));
}

#[test]
fn f031_native_limit_at_openrouter_cuts_calls() {
    let call = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"now","arguments":"{\"zone\":\"C"}}]}}]}"#;
    let last = |native: &str| {
        format!(
            r#"data: {{"choices":[{{"delta":{{}},"finish_reason":"tool_calls","native_finish_reason":"{native}"}}]}}"#
        )
    };
    assert_eq!(read(&[call, &last("max_output_tokens")]), [Ok(Delta::CutCall), end(Finish::Length)]);
    assert_eq!(read(&[call, &last("tool_calls")]).last(), Some(&end(Finish::ToolCalls)));
}

#[test]
fn f023_empty_finish_reason_is_ignored() {
    let empty = r#"data: {"choices":[{"index":0,"delta":{"content":"one"},"finish_reason":""}]}"#;
    assert_eq!(read(&[empty]), [text("one"), Err(ModelError::Disconnected)]);
    assert_eq!(read(&[empty, ONE, STOP]), [text("oneone"), end(Finish::Stop)]);
}

#[test]
fn f022_errors_after_the_finish_are_ignored() {
    for wrong in ["data: {broken", "event: error\ndata: {\"code\":500}", r#"data: {"error":{"message":"late"}}"#] {
        assert_eq!(read(&[ONE, STOP, wrong, "data: [DONE]"]), [text("one"), end(Finish::Stop)], "{wrong}");
    }
}

#[test]
fn f024_f047_only_exact_done_ends_a_stream() {
    let quoted = r#"data: {"choices":[{"index":0,"delta":{"content":"data: [DONE]\n\n[DONE]<|im_end|>"}}]}"#;
    let found = read(&[quoted, STOP, "data: [DONE]", ONE, "data: {broken", "event: error\ndata: {}"]);
    assert_eq!(found, [text("data: [DONE]\n\n[DONE]<|im_end|>"), end(Finish::Stop)]);
}

#[test]
fn f026_chunks_without_choice_or_data_are_skipped() {
    let found = read(&["data: {\"choices\":[]}", "data: {\"choices\":null}", "data: {}", "data:", ": x", ONE, STOP]);
    assert_eq!(found, [text("one"), end(Finish::Stop)]);
}

#[test]
fn f027_odd_deltas_are_tolerated() {
    let odd = [
        r#"data: {"choices":[{"index":0,"delta":null}]}"#,
        r#"data: {"choices":[{"index":null,"delta":{"role":"assistant","content":null,"tool_calls":null}}],"error":null}"#,
        r#"data: {"choices":[{"delta":{"role":"assistant","content":"","tool_calls":[],"new":{"x":[1]}}}],"usage":5}"#,
        r#"data: {"choices":[{"index":"0","delta":{"content":[{"type":"text","text":"one"}],"logprobs":{}}}],"error":""}"#,
        r#"data: {"choices":[{"index":0,"delta":{"reasoning":"hm","reasoning_content":"hm","content":""}}]}"#,
        r#"data: {"choices":[{"index":0,"message":{"content":" two"}}],"usage":{"prompt_tokens":-1}}"#,
    ];
    let found = read(&[&odd[..], &[STOP]].concat());
    let thinking = Ok(Delta::Thinking("hm".to_owned()));
    assert_eq!(found, [text("one"), thinking, text(" two"), end(Finish::Stop)]);
}

#[test]
fn f028_only_the_first_choice_is_decoded() {
    let both = r#"data: {"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"yes"}}]}"#;
    let other = r#"data: {"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"}]}"#;
    assert_eq!(read(&[both, other, STOP]), [text("yes"), end(Finish::Stop)]);
}

#[test]
fn f032_f033_each_finish_reason_is_mapped() {
    for (reason, finish) in [
        ("stop", Finish::Stop),
        ("eos", Finish::Stop),
        ("tool_calls", Finish::Stop),
        ("length", Finish::Length),
        ("model_length", Finish::Length),
        ("content_filter", Finish::ContentFilter),
        ("sensitive", Finish::ContentFilter),
    ] {
        let last = format!(r#"data: {{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#);
        assert_eq!(read(&[ONE, &last]), [text("one"), end(finish)], "{reason}");
    }
}

#[test]
fn f043_broken_json_fails_the_reply() {
    for broken in ["data: {\"choices\":", "data: nonsense", "data: [1]", "data: {\"choices\":7}", "data: {}}"] {
        assert_eq!(read(&[ONE, broken, STOP]), [text("one"), Err(ModelError::BadResponse)], "{broken}");
    }
}

#[test]
fn f044_deep_json_fails_and_huge_numbers_pass() {
    let deep = format!("data: {{\"choices\":[],\"x\":{}", "[".repeat(100_000));
    assert_eq!(decode(Wire::Openai, false, [deep.as_bytes(), b"\n\n"]), [Err(ModelError::BadResponse)]);
    let parts = format!(r#"data: {{"choices":[{{"delta":{{"content":{}{}}}}}]}}"#, "[".repeat(500), "]".repeat(500));
    assert_eq!(decode(Wire::Openai, false, [parts.as_bytes(), b"\n\n"]), [Err(ModelError::BadResponse)]);
    let huge = r#"data: {"choices":[],"created":1e999999,"usage":{"prompt_tokens":99999999999999999999999}}"#;
    assert_eq!(read(&[huge, ONE, STOP]), [text("one"), end(Finish::Stop)]);
}

#[test]
fn f046_missing_or_empty_usage_is_not_emitted() {
    for usage in ["null", "{}", r#"{"prompt_tokens":0,"completion_tokens":0}"#, r#""much""#, r#"{"prompt_tokens":1.5}"#]
    {
        let usage = format!(r#"data: {{"choices":[],"usage":{usage}}}"#);
        assert_eq!(read(&[ONE, STOP, &usage]), [text("one"), end(Finish::Stop)], "{usage}");
    }
}

#[test]
fn unusable_usage_keeps_the_one_before() {
    let counted = r#"data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#;
    let usage = Ok(Delta::Usage(TokenUsage { input: 9, cached: 0, cache_writes: 0, output: 2 }));
    for more in [r#""usage":"""#, r#""usage":false"#, r#""x_groq":{"usage":null}"#] {
        let more = format!(r#"data: {{"choices":[],{more}}}"#);
        assert_eq!(read(&[ONE, STOP, counted, &more]), [text("one"), usage.clone(), end(Finish::Stop)], "{more}");
    }
}

#[test]
fn cached_tokens_are_read_from_any_field() {
    for (more, cached) in [
        (r#""prompt_tokens_details":{"cached_tokens":4}"#, 4),
        (r#""prompt_cache_hit_tokens":5,"prompt_cache_miss_tokens":4"#, 5),
        (r#""cached_tokens":6"#, 6),
        (r#""prompt_tokens_details":null,"cached_tokens":6"#, 6),
        (r#""prompt_tokens_details":{"cached_tokens":null},"prompt_cache_hit_tokens":5"#, 5),
        (r#""prompt_tokens_details":{"cached_tokens":99}"#, 9),
        (r#""prompt_tokens_details":"none""#, 0),
        (r#""prompt_tokens_details":{"cached_tokens":-1}"#, 0),
    ] {
        let usage = format!(r#"data: {{"choices":[],"usage":{{"prompt_tokens":9,"completion_tokens":2,{more}}}}}"#);
        let counted = Ok(Delta::Usage(TokenUsage { input: 9, cached, cache_writes: 0, output: 2 }));
        assert_eq!(read(&[ONE, STOP, &usage]), [text("one"), counted, end(Finish::Stop)], "{more}");
    }
}

#[test]
fn conversation_is_encoded_for_the_wire() {
    let function = json!({"name": "now", "description": "Tells the time.", "parameters": {"type": "object"}});
    let expected = json!({
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "hello"},
            {"role": "user", "content": "time?"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "now", "arguments": "{\"zone\":\"CET\"}"}},
                {"id": "b", "type": "function", "function": {"name": "now", "arguments": "\"broken\""}},
            ]},
            {"role": "tool", "tool_call_id": "a", "content": "noon"},
            {"role": "tool", "tool_call_id": "b", "content": "{\"error\":\"no such zone\"}"},
        ],
        "stream": true,
        "stream_options": {"include_usage": true},
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "required",
    });
    let sent = body(encode, &conversation(ToolChoice::Required), quirks());
    assert_eq!(sent, ("/chat/completions".to_owned(), expected));
    let (_, plain) = body(encode, &Prompt::default(), Quirks { usage_option: false, ..quirks() });
    assert_eq!(plain, json!({"model": "m", "messages": [], "stream": true}));
}

#[test]
fn claude_at_openrouter_gets_marks_for_the_cache() {
    let url = "https://openrouter.ai/api/v1";
    let sent = |model| {
        body(encode, &conversation(ToolChoice::Auto), quirks_with(model, Wire::Openai, url, Options::default())).1
    };
    let text = |text: &str| json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]);
    let cached = sent("anthropic/claude-sonnet-4.5");
    let messages = cached["messages"].as_array().unwrap();
    assert_eq!(messages[0]["content"], text("Be brief."));
    assert_eq!(messages.last().unwrap()["content"], text(r#"{"error":"no such zone"}"#));
    assert_eq!(cached.to_string().matches("cache_control").count(), 2);
    assert!(!sent("openai/gpt-5").to_string().contains("cache_control"));
}

#[test]
fn reasoning_is_echoed_once_tools_are_used() {
    let echoing = Quirks { echo_reasoning: ReasoningEcho::Always, ..quirks() };
    let sent = |prompt: &Prompt, quirks| {
        let (_, body) = body(encode, prompt, quirks);
        let messages = body["messages"].as_array().unwrap().clone();
        let assistant_messages = messages.iter().filter(|message| message["role"] == "assistant");
        assistant_messages.map(|message| message.get("reasoning_content").cloned()).collect::<Vec<_>>()
    };
    let mut prompt = conversation(ToolChoice::Auto);
    let all = [Some(json!("greet")), Some(json!("look"))];
    assert_eq!(sent(&prompt, echoing), all);
    assert_eq!(sent(&prompt, quirks()), [None, None]);
    let called = Prompt { tools: [].into(), ..prompt.clone() };
    assert_eq!(sent(&called, echoing), all);
    prompt.messages.truncate(4);
    assert_eq!(sent(&prompt, echoing), [Some(json!("greet"))]);
    assert_eq!(sent(&Prompt { tools: [].into(), ..prompt.clone() }, echoing), [None]);
    if let Message::Assistant { thinking, .. } = &mut prompt.messages[1] {
        thinking.clear();
    }
    assert_eq!(sent(&prompt, echoing), [Some(json!(""))]);
}

#[test]
fn tool_choice_is_sent_only_with_tools() {
    let sent = |with_tools, choice, quirks| {
        let prompt = conversation(choice);
        let tools = if with_tools { prompt.tools } else { [].into() };
        let (_, body) = body(encode, &Prompt { tools, ..prompt }, quirks);
        assert_eq!(body.get("tools").is_some(), with_tools);
        body.get("tool_choice").cloned()
    };
    let named = || ToolChoice::Tool("now".to_owned());
    for (choice, expected) in [
        (ToolChoice::Auto, None),
        (ToolChoice::None, Some(json!("none"))),
        (ToolChoice::Required, Some(json!("required"))),
        (named(), Some(json!({"type": "function", "function": {"name": "now"}}))),
    ] {
        assert_eq!(sent(true, choice.clone(), quirks()), expected);
        assert_eq!(sent(false, choice, quirks()), None);
    }
    assert_eq!(sent(true, named(), Quirks { forced_choice: false, ..quirks() }), None);
}

#[test]
fn calls_beyond_the_limit_are_dropped() {
    let orders: [fn(usize) -> usize; 3] = [|at| at, |at| 100_000 - at, |_| 0];
    for order in orders {
        let call = |at: usize| {
            let index = order(at);
            format!(
                "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"id\":\"c{at}\",\"function\":{{\"name\":\"now\",\"arguments\":\"{{}}\"}}}}]}}}}]}}\n\n"
            )
        };
        let stream = (0..100_000).map(call).collect::<String>() + STOP + "\n\n";
        let deltas = decode(Wire::Openai, false, [stream.as_bytes()]);
        let ids: Vec<&str> = deltas
            .iter()
            .filter_map(|delta| if let Ok(Delta::Call(call)) = delta { Some(&*call.id) } else { None })
            .collect();
        let first: Vec<String> = (0..128).map(|at| format!("c{at}")).collect();
        assert_eq!(ids, first);
    }
}
