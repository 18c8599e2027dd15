//! Replies of two and three parts: how a reply begins decides how the scanner reads what follows.

use serde_json::json;

use crate::catalog::{answer, pattern, pieces};
use crate::patterns::repeat_to_size;
use crate::probe::{Kind, Pattern};
use crate::requests::turn;

const KIB: usize = 1024;

/// Beginnings, each of which leaves the scanner in another state.
const BEGINNINGS: [&str; 40] = [
    "",
    "a ",
    "<think>",
    "<tool_call>",
    "<tool_call>{",
    "<tool_call>{\"name\": \"search_web\", \"a\": ",
    "<tool_call>{\"name\": \"search_web\", \"a\": \"",
    "<tool_call>{\"name\": \"search_web\", \"a\": x}",
    "<tool_call>{\"name\": \"search_web\", \"arguments\": {\"query\": \"x\"}}",
    "<tool_call>[search_web(query='",
    "<tool_call>search_web",
    "<tool_call>search_web\n<query>",
    "<tool_call>search_web\n<arg_key>",
    "<tool_call>search_web\n<arg_key>query</arg_key>\n<arg_value>",
    "<tool_call>\nzzz",
    "<search_web>",
    "<search_web>\nzzz: 1\n",
    "<search_web>\nquery: 1\n",
    "<search_web><query>",
    "<search_web><query><![CDATA[",
    "<search_web><query>a</query><b>",
    "search_web\n<query>",
    "search_web(\"",
    "<function=search_web><parameter=query>",
    "<function=search_web><parameter=query><![CDATA[",
    "<function=search_web>{\"query\": ",
    "<invoke name=\"search_web\"><parameter name=\"query\">",
    "<|tool_call>call:search_web{query:",
    "<|tool_call>call:search_web{query:<|\"|>",
    "Action: search_web\nAction Input: ",
    ">>>search_web\n{",
    "[TOOL_CALLS]search_web[ARGS]{",
    "<|im_end|>",
    "```json\n{\"name\": \"search_web\", \"arguments\": {\"query\": \"x\"}}\n",
    "`<tool_call>",
    "{\"name\": \"search_web\", \"arguments\": {\"query\": \"x\"}},",
    "[search_web(query='x')",
    "{\"action\": \"search_web\", \"action_input\": ",
    "a <tool_result",
    "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"search_web\">",
];

/// Units that follow: runs of one and two characters, and markers, whole and halved.
const UNITS: [&str; 60] = [
    "a",
    "0",
    " ",
    "\n",
    "\"",
    "'",
    "`",
    "{",
    "}",
    "[",
    "]",
    "(",
    "<",
    ">",
    ",",
    ":",
    ";",
    "-",
    "/",
    "\\",
    "|",
    "{ ",
    "} ",
    "[{",
    "}]",
    "{\"",
    "\",",
    "\":",
    "``",
    "a:",
    "a ",
    "\n ",
    "\n{",
    "\n>",
    "a: 1\n",
    "</",
    "<|",
    "<b>",
    "<b></b>",
    "<query>",
    "</query>",
    "<search_web>",
    "<search_web>\nzzz: 1\n",
    "<search_web><b>",
    "<search_web><query>a</query><b>",
    "<tool_call>",
    "<tool_call>{\"",
    "<tool_call>{\"name\": \"current_time\"}",
    "</tool_call>",
    "<parameter=query>",
    "</parameter>",
    "<arg_key>",
    "<|tool_call>",
    "<|im_end|>",
    "function call<|role_sep|>",
    "[TOOL_CALLS]",
    "<tool_result",
    "\nAction: search_web\nAction Input: x",
    "\n>>>search_web\n{",
    "\n{\"name\": \"search_web\", ",
];

/// Numbers that are the same in every run.
struct Sequence(u64);

impl Sequence {
    /// The next number below `count`.
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % count
    }
}

/// A reply in one delta, or in small ones.
#[derive(Clone, Copy)]
enum Deltas {
    One,
    Small,
}

/// The parts of one reply: a beginning, a run, what follows it once, and another run.
type Parts = [&'static str; 4];

fn reply(parts: Parts, deltas: Deltas) -> Pattern {
    let name = parts.iter().filter(|part| !part.is_empty()).map(|part| part.escape_debug().to_string());
    pattern(name.collect::<Vec<_>>().join(" + "), move |size| {
        let [begin, first, middle, second] = parts;
        let run = if second.is_empty() { size } else { size / 2 };
        let second = if second.is_empty() { String::new() } else { repeat_to_size(second, run) };
        let text = [begin, &repeat_to_size(first, run), middle, &second].concat();
        let deltas = match deltas {
            Deltas::One => vec![json!({ "content": text })],
            Deltas::Small => pieces(&text),
        };
        turn(answer(deltas))
    })
}

/// `count` of the replies of a beginning, a run, perhaps a beginning again, and another run.
fn drawn(count: usize, seed: u64, deltas: Deltas) -> Vec<Pattern> {
    let mut next = Sequence(seed);
    let mut part = |from: &[&'static str]| from[next.below(from.len())];
    (0..count)
        .map(|number| {
            let middle = if number % 2 == 0 { "" } else { part(&BEGINNINGS) };
            reply([part(&BEGINNINGS), part(&UNITS), middle, part(&UNITS)], deltas)
        })
        .collect()
}

/// The start of a call with an endless list of attributes.
fn attributes() -> Kind {
    let of = |name: &'static str, unit: &'static str| {
        pattern(name, move |size| turn(answer(pieces(&format!("<function{}", repeat_to_size(unit, size))))))
    };
    let patterns = vec![of("equal", " name=\"f\""), of("short", " a=b"), of("open", " a=\"")];
    Kind { name: "answer, attributes", largest: 64 * 1024, patterns }
}

/// Calls that a model emits.
fn calls() -> Kind {
    let native = |count: usize, order: fn(usize, usize) -> usize| {
        let call = move |at: usize| json!({ "index": order(at, count), "id": format!("c{at}"), "type": "function", "function": { "name": "current_time", "arguments": "{}" } });
        turn(answer((0..count).map(|at| json!({ "tool_calls": [call(at)] }))))
    };
    let pieces = |count: usize| {
        let piece = |at: usize| json!({ "tool_calls": [{ "index": 0, "id": if at == 0 { "c" } else { "" }, "function": { "name": if at == 0 { "current_time" } else { "" }, "arguments": "   " } }] });
        turn(answer((0..count).map(piece)))
    };
    let written = |count: usize| {
        let calls = "<tool_call>{\"tool\": \"current_time\"}</tool_call>\n".repeat(count);
        turn(answer([json!({ "content": calls })]))
    };
    let unknown = |count: usize| {
        let calls =
            (0..count).map(|at| format!("<tool_call>{{\"tool\": \"tool_{at}\"}}</tool_call>\n")).collect::<Vec<_>>();
        turn(answer([json!({ "content": calls.concat() })]))
    };
    let patterns = vec![
        pattern("native", move |count| native(count, |at, _| at)),
        pattern("native, falling", move |count| native(count, |at, count| count - at)),
        pattern("native, in pieces", pieces),
        pattern("written", written),
        pattern("unknown", unknown),
    ];
    Kind { name: "calls of a reply", largest: 32_000, patterns }
}

/// Calls in replies; each beginning with each unit; those of three parts that a fixed seed draws, because all of them would take
/// hours.
pub(crate) fn kinds() -> Vec<Kind> {
    let pairs =
        BEGINNINGS.iter().flat_map(|begin| UNITS.iter().map(move |unit| reply([*begin, *unit, "", ""], Deltas::One)));
    vec![
        attributes(),
        calls(),
        Kind { name: "reply, two parts", largest: 64 * KIB, patterns: pairs.collect() },
        Kind { name: "reply, three parts", largest: 64 * KIB, patterns: drawn(400, 1, Deltas::One) },
        Kind { name: "reply, small deltas", largest: 64 * KIB, patterns: drawn(100, 2, Deltas::Small) },
        Kind { name: "reply, large", largest: 1000 * KIB, patterns: drawn(40, 3, Deltas::One) },
    ]
}
