use domain::ToolSpec;
use serde_json::{Value, json};
use tool_calls::{CallScanner, MalformedReason, ReplyEnd, ReplyPart, ResultBlocks, Segment, ThinkingFilter};

/// The scan result, with adjacent text joined.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) thinking: String,
    pub(crate) segments: Vec<Segment>,
}

impl Outcome {
    fn add(&mut self, segments: Vec<Segment>) {
        for piece in segments {
            match (self.segments.last_mut(), piece) {
                (Some(Segment::Text(last)), Segment::Text(text)) => last.push_str(&text),
                (_, piece) => self.segments.push(piece),
            }
        }
    }

    /// The text that a user sees in the end, including malformed calls.
    pub(crate) fn content(&self) -> String {
        let shown = |piece: &Segment| match piece {
            Segment::Text(text) => text.clone(),
            Segment::Malformed(malformed) => malformed.raw.clone(),
            Segment::Call(_) | Segment::Invention => String::new(),
        };
        self.segments.iter().map(shown).collect()
    }

    /// The calls as `[name, arguments]`.
    pub(crate) fn calls(&self) -> Vec<Value> {
        let call = |piece: &Segment| match piece {
            Segment::Call(call) => Some(json!([call.name, call.arguments])),
            _ => None,
        };
        self.segments.iter().filter_map(call).collect()
    }

    /// Everything in order: text as it is, calls as `name(arguments)`, defects in brackets.
    pub(crate) fn transcript(&self) -> Vec<String> {
        let line = |piece: &Segment| match piece {
            Segment::Text(text) => text.clone(),
            Segment::Call(call) => format!("{}({})", call.name, call.arguments),
            Segment::Malformed(malformed) => match malformed.reason {
                MalformedReason::Truncated => format!("[cut] {}", malformed.raw),
                reason => format!("[{reason}] {}", malformed.raw),
            },
            Segment::Invention => "[invention]".to_owned(),
        };
        self.segments.iter().map(line).collect()
    }
}

/// Scans chunks as the agent loop does: the filter first.
pub(crate) fn scan<'a>(tools: &[ToolSpec], chunks: impl IntoIterator<Item = &'a str>, end: ReplyEnd) -> Outcome {
    scan_with(ResultBlocks::Shown, tools, chunks, end)
}

/// The same with a treatment of imitated results.
pub(crate) fn scan_with<'a>(
    result_blocks: ResultBlocks,
    tools: &[ToolSpec],
    chunks: impl IntoIterator<Item = &'a str>,
    end: ReplyEnd,
) -> Outcome {
    let mut outcome = Outcome::default();
    let mut scanner = CallScanner::new(tools).with_result_blocks(result_blocks);
    let mut filter = ThinkingFilter::default().with_calls_of(&scanner);
    let mut take = |parts: Vec<ReplyPart>, outcome: &mut Outcome| {
        for part in parts {
            match part {
                ReplyPart::Text(text) if scanner.try_passthrough(&text) => outcome.add(vec![Segment::Text(text)]),
                ReplyPart::Text(text) => outcome.add(scanner.push(&text)),
                ReplyPart::Thinking(text) => outcome.thinking.push_str(&text),
                ReplyPart::TextWasThinking => {
                    outcome.add(vec![Segment::Text(scanner.restart())]);
                    outcome.thinking.push_str(&outcome.content());
                    outcome.segments.clear();
                }
            }
        }
    };
    for chunk in chunks {
        let parts =
            if filter.try_passthrough(chunk) { vec![ReplyPart::Text(chunk.to_owned())] } else { filter.push(chunk) };
        take(parts, &mut outcome);
    }
    take(filter.finish(), &mut outcome);
    outcome.add(scanner.finish(end));
    outcome
}

/// Scans a whole, complete text with the default tools.
pub(crate) fn whole(text: &str) -> Outcome {
    scan(&tools(), [text], ReplyEnd::Complete)
}

/// The transcript of a whole, complete text.
pub(crate) fn transcript(text: &str) -> Vec<String> {
    whole(text).transcript()
}

/// The transcript of a whole text that the output limit cut.
pub(crate) fn truncated_transcript(text: &str) -> Vec<String> {
    scan(&tools(), [text], ReplyEnd::Truncated).transcript()
}

/// A tool with these parameters, the first `required` of which are required.
pub(crate) fn tool(name: &str, parameters: &[(&str, &str)], required: usize) -> ToolSpec {
    let properties: serde_json::Map<_, _> =
        parameters.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind}))).collect();
    let names: Vec<_> = parameters.iter().take(required).map(|(name, _)| *name).collect();
    spec(name, json!({"type": "object", "properties": properties, "required": names}))
}

/// A tool with this schema.
pub(crate) fn spec(name: &str, parameters: Value) -> ToolSpec {
    ToolSpec { name: name.to_owned(), description: String::new(), parameters, examples: Vec::new() }
}

/// The default tools.
pub(crate) fn tools() -> Vec<ToolSpec> {
    vec![
        tool("search_web", &[("query", "string"), ("count", "integer")], 1),
        tool("current_time", &[("zone", "string")], 0),
        tool("calculator", &[("expression", "string")], 1),
    ]
}
