//! Mutated model output: the same result for every chunking, nothing added, bounded growth.
#![expect(clippy::expect_used, reason = "samples are there")]

use domain::ToolSpec;
use fuzz::{Outcome, ensure, run_text, split_text};
use serde_json::{Value, json};
use tool_calls::{CallScanner, ReplyEnd, ReplyPart, ResultBlocks, Segment, ThinkingFilter, escape, repair};

/// The texts of the fixtures of every form.
fn samples() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let files = std::fs::read_dir(folder).expect("the fixtures are there").filter_map(Result::ok);
    let mut files: Vec<_> = files.map(|file| file.path()).collect();
    files.sort();
    let lines = files.into_iter().filter_map(|file| std::fs::read_to_string(file).ok());
    let lines: Vec<String> = lines.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let texts = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let line_breaks = format!("<tool_call>f{}", "\n".repeat(4_000));
    texts.filter_map(|case| Some(case["text"].as_str()?.to_owned())).chain([line_breaks]).collect()
}

const SNIPPETS: [&str; 84] = [
    "\nf\n<q>",
    "<call=f>",
    "<name>f</name>",
    "<![CDATA[",
    "\nq: ",
    "\n  - ",
    "</ f>",
    "<f/>",
    "<f>",
    "<f ",
    "</f>",
    "<search_web>",
    "<q>",
    "<q a=\"b\"/>",
    "</q>",
    "<parameter>q</parameter>",
    "<tool_call>",
    "<TOOL_CALL >",
    "<tool_result name=\"f\">",
    "</tool_result>",
    "<search_results>",
    "f(q='x')",
    "。\n",
    "</tool_call>",
    "<tool name=\"f\">",
    "<function=f>",
    "</function>",
    "<parameter=q>",
    "</parameter>",
    "<invoke name=\"f\">",
    "</invoke>",
    "<arg_key>",
    "</arg_value>",
    "<|FunctionCallBegin|>",
    "<|FunctionCallEnd|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁sep｜>",
    "<｜DSML｜invoke name=\"f\">",
    "<|tool_call_begin|>functions.f:0",
    "[TOOL_CALLS]",
    "[TOOL_REQUEST]",
    "[ARGS]",
    "functools[",
    "<|channel|>commentary to=functions.f ",
    "<|message|>",
    "[f(q='x')]",
    "{\"tool\": \"f\", \"q\": \"x\"}",
    "{\"name\": \"f\", \"arguments\": {}}",
    "```json\n",
    "\n```\n",
    "`",
    "<think>",
    "</think>",
    "<|tool_call>call:f{q:",
    "<|\"|>",
    "<tool_call|>",
    "]<]minimax[>[",
    "]<]minimax[>[<invoke name=\"f\">",
    "]<]minimax[>[</invoke>",
    "<|open|>call tool=\"f\"<|sep|>",
    "<|open|>argument key=\"q\"<|sep|>",
    "<|close|>argument<|sep|>",
    "<tool_call:6a>",
    "<tool_sep>",
    "<param name=\"q\">",
    "<|content_invoke_tool_json|>",
    "function call<|role_sep|>\n",
    "<|message_sep|>",
    ">>>f\n{",
    "<|channel|>analysis<|message|>",
    "<|channel|>final<|message|>",
    "<|start|>assistant to=f",
    " to=self<|message|>",
    "<|end|>",
    "<|im_end|>",
    "<|open|>think<|sep|>",
    "<|open|>response<|sep|>",
    "<|message_model|>",
    "<|content_thinking|>",
    "[THINK]",
    "[/THINK]",
    "Action: f\n",
    "Action Input: {}",
    "：",
];

fn tools() -> Vec<ToolSpec> {
    let parameters = json!({"type": "object", "properties": {"q": {"type": "string"}}});
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters: parameters.clone(),
        examples: Vec::new(),
    };
    ["f", "search_web"].map(tool).into()
}

fn joined(pieces: impl IntoIterator<Item = Segment>) -> Vec<Segment> {
    let mut all: Vec<Segment> = Vec::new();
    for piece in pieces {
        match (all.last_mut(), piece) {
            (Some(Segment::Text(last)), Segment::Text(text)) => last.push_str(&text),
            (_, piece) => all.push(piece),
        }
    }
    all
}

fn scanned(blocks: ResultBlocks, chunks: &[&str], end: ReplyEnd) -> Vec<Segment> {
    let mut scanner = CallScanner::new(&tools()).with_actions().with_result_blocks(blocks);
    let mut segments: Vec<Segment> = chunks.iter().flat_map(|chunk| scanner.push(chunk)).collect();
    segments.extend(scanner.finish(end));
    joined(segments)
}

fn shown(pieces: &[Segment]) -> String {
    pieces.iter().map(|piece| if let Segment::Text(text) = piece { text.as_str() } else { "" }).collect()
}

fn run_fuzz(target: &str, check: impl Fn(&str) -> Outcome) {
    let samples = samples();
    let samples: Vec<&str> = samples.iter().map(String::as_str).collect();
    assert!(samples.len() > 50, "the fixtures are read");
    run_text(target, &samples, &SNIPPETS, check);
}

#[test]
fn fuzz_calls_are_independent_of_chunking() {
    run_fuzz("calls", |text| {
        for (blocks, end) in [
            (ResultBlocks::Shown, ReplyEnd::Complete),
            (ResultBlocks::Shown, ReplyEnd::Truncated),
            (ResultBlocks::Hidden, ReplyEnd::Complete),
            (ResultBlocks::EndReply, ReplyEnd::Complete),
        ] {
            let (whole, cut) = (scanned(blocks, &[text], end), scanned(blocks, &split_text(text), end));
            ensure(whole == cut, || format!("whole {whole:?}\ncut {cut:?}"))?;
            let mut rest = text.chars();
            ensure(shown(&whole).chars().all(|c| rest.any(|other| other == c)), || format!("shown {whole:?}"))?;
        }
        Ok(())
    });
}

#[test]
fn fuzz_thinking_is_independent_of_chunking() {
    let filtered = |chunks: &[&str]| {
        let mut filter = ThinkingFilter::default().with_calls_of(&CallScanner::new(&tools()));
        let mut parts: Vec<ReplyPart> = chunks.iter().flat_map(|chunk| filter.push(chunk)).collect();
        parts.extend(filter.finish());
        let text = |part: &ReplyPart| if let ReplyPart::Text(text) = part { text.clone() } else { String::new() };
        let thinking =
            |part: &ReplyPart| if let ReplyPart::Thinking(text) = part { text.clone() } else { String::new() };
        [parts.iter().map(text).collect::<String>(), parts.iter().map(thinking).collect()]
    };
    run_fuzz("thinking", |text| {
        let (whole, cut) = (filtered(&[text]), filtered(&split_text(text)));
        ensure(whole == cut, || format!("whole {whole:?}\ncut {cut:?}"))?;
        // Before a recipient the header's beginning is added, which was in the prompt.
        let added = if text.trim_start().starts_with("to=") { "<|start|>assistant ".len() } else { 0 };
        ensure(whole[0].len() + whole[1].len() <= text.len() + added, || format!("more than there was: {whole:?}"))
    });
}

#[test]
fn fuzz_repaired_json_is_stable_and_bounded() {
    run_fuzz("repair", |text| {
        let Some(value) = repair(text) else { return Ok(()) };
        let written = value.to_string();
        ensure(written.len() <= 8 * text.len() + 64, || format!("{} bytes of {}", written.len(), text.len()))?;
        ensure(repair(&written).as_ref() == Some(&value), || format!("{written} is read as another value"))
    });
}

#[test]
fn fuzz_escaped_text_contains_no_call() {
    run_fuzz("escape", |text| {
        let escaped = escape(text);
        let bound = 8 * text.len() + 64;
        ensure(escaped.len() <= bound, || format!("{} bytes of {}", escaped.len(), text.len()))?;
        let mut scanner = CallScanner::new(&[]);
        let mut segments = scanner.push(&escaped);
        segments.extend(scanner.finish(ReplyEnd::Complete));
        let is_call = |piece: &Segment| matches!(piece, Segment::Call(_));
        ensure(!segments.iter().any(is_call), || format!("{segments:?} in {escaped:?}"))
    });
}
