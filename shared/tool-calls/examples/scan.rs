//! Reads JSON lines `{"id","text","tools":[{"name","parameters"}],"chunk":7}` and writes, for each, the visible text
//! and the calls: `{"id","content","thinking","calls":[{"name","arguments"}],"malformed":["…"]}`.
//!
//! The arguments are those that the tool would receive: fitted to its schema where that is possible.
//! `chunk` is the number of characters per push; without it the text is pushed whole. A malformed call is no part of the
//! content: users never see one.

use std::io::{self, BufRead, Write};

use domain::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_calls::{CallScanner, ParsedCall, ReplyEnd, ReplyPart, Segment, ThinkingFilter, coerce_arguments};

#[derive(Deserialize)]
struct Case {
    id: Value,
    text: String,
    #[serde(default)]
    tools: Vec<Tool>,
    chunk: Option<usize>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    #[serde(default)]
    parameters: Value,
}

#[derive(Serialize)]
struct Outcome {
    id: Value,
    content: String,
    thinking: String,
    calls: Vec<Call>,
    malformed: Vec<String>,
}

#[derive(Serialize)]
struct Call {
    name: String,
    arguments: Value,
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let case: Case = serde_json::from_str(&line)?;
        serde_json::to_writer(&mut out, &scan(case))?;
        writeln!(out)?;
    }
    Ok(())
}

fn scan(case: Case) -> Outcome {
    let tools: Vec<_> = case.tools.into_iter().map(spec).collect();
    let mut outcome = Outcome {
        id: case.id,
        content: String::new(),
        thinking: String::new(),
        calls: Vec::new(),
        malformed: Vec::new(),
    };
    let mut scanner = CallScanner::new(&tools);
    let mut filter = ThinkingFilter::default().with_calls_of(&scanner);
    for chunk in chunks(&case.text, case.chunk) {
        outcome.take(&mut scanner, filter.push(&chunk));
    }
    outcome.take(&mut scanner, filter.finish());
    outcome.show(scanner.finish(ReplyEnd::Complete));
    outcome.fit(&tools);
    outcome
}

fn spec(tool: Tool) -> ToolSpec {
    ToolSpec { name: tool.name, description: String::new(), parameters: tool.parameters, examples: Vec::new() }
}

fn chunks(text: &str, size: Option<usize>) -> Vec<String> {
    let Some(size) = size.filter(|size| *size > 0) else { return vec![text.to_owned()] };
    let chars: Vec<_> = text.chars().collect();
    chars.chunks(size).map(|chunk| chunk.iter().collect()).collect()
}

impl Outcome {
    /// Fits the arguments to the schemas of their tools.
    fn fit(&mut self, tools: &[ToolSpec]) {
        for call in &mut self.calls {
            let tool = tools.iter().find(|tool| tool.name == call.name);
            if let Some(Ok(fitted)) = tool.map(|tool| coerce_arguments(&tool.parameters, call.arguments.clone())) {
                call.arguments = fitted;
            }
        }
    }

    fn take(&mut self, scanner: &mut CallScanner, parts: Vec<ReplyPart>) {
        for part in parts {
            match part {
                ReplyPart::Text(text) => self.show(scanner.push(&text)),
                ReplyPart::Thinking(text) => self.thinking.push_str(&text),
                ReplyPart::TextWasThinking => {
                    self.content.push_str(&scanner.restart());
                    self.thinking.push_str(&std::mem::take(&mut self.content));
                }
            }
        }
    }

    fn show(&mut self, pieces: Vec<Segment>) {
        for piece in pieces {
            match piece {
                Segment::Text(text) => self.content.push_str(&text),
                Segment::Malformed(malformed) => self.malformed.push(malformed.raw),
                Segment::Invention => {}
                Segment::Call(ParsedCall { name, arguments }) => self.calls.push(Call { name, arguments }),
            }
        }
    }
}
