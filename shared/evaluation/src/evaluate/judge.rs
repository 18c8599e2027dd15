use llm::ToolMode;
use serde_json::Value;
use tools::url_allowlist::{READ_URL, SEARCH_WEB};

use super::leaks::count_leaked_chars;
use super::product::{Observation, ObservedCall};
use super::question::{Expectation, Question};

const CALCULATOR: &str = "calculator";
const CURRENT_TIME: &str = "current_time";

/// The built-in tools, which are all that a new database has.
pub(super) const TOOLS: [&str; 8] =
    [SEARCH_WEB, READ_URL, CALCULATOR, CURRENT_TIME, "grep_search", "glob_search", "read_file", "list_directory"];

/// The tools over documents, and those that the agent has in addition.
const FOR_DOCUMENTS: [&str; 6] =
    ["grep_search", "glob_search", "read_file", "list_directory", CALCULATOR, CURRENT_TIME];

/// Codes of failures that the model caused by a wrong call.
const WRONG_CALLS: [&str; 3] = ["unknown_tool", "invalid_arguments", "too_many_calls"];

/// What is not right about the calls of a turn; empty if all of it is right.
pub(super) fn faults(question: &Question, observation: &Observation) -> Vec<String> {
    let calls = &observation.calls;
    let mut faults: Vec<String> = answer_fault(observation).into_iter().collect();
    faults.extend(observation.other_model.iter().map(|model| format!("{model} answered instead")));
    faults.extend(calls.iter().filter(|one| is_wrong(one)).map(|one| match one.failure.as_deref() {
        Some("unknown_tool") => "called a tool that does not exist".to_owned(),
        Some("too_many_calls") => "made too many calls at once".to_owned(),
        _ => format!("called {} with invalid arguments", one.call.name),
    }));
    faults.extend(expectation_fault(question, calls));
    if is_answered(observation) {
        faults.extend(missing_facts(question, &observation.text));
    }
    faults.extend(unneeded_tools(question.expectation, calls));
    faults.dedup();
    faults
}

/// Counts the calls that failed in the tool, such as a search without a valid key.
pub(super) fn count_tool_failures(observation: &Observation) -> usize {
    observation.calls.iter().filter(|one| one.failure.is_some() && !is_wrong(one)).count()
}

/// Whether the model made a call that cannot run.
fn is_wrong(one: &ObservedCall) -> bool {
    one.failure.as_deref().is_some_and(|code| WRONG_CALLS.contains(&code))
}

/// Whether the turn ended with text of the model.
pub(super) fn is_answered(observation: &Observation) -> bool {
    answer_fault(observation).is_none()
}

fn answer_fault(observation: &Observation) -> Option<String> {
    match &observation.failure {
        Some(code) => Some(format!("no answer ({code})")),
        None if !observation.is_done || observation.text.trim().is_empty() => Some("no answer".to_owned()),
        None => None,
    }
}

/// The necessary calls that were not made.
fn expectation_fault(question: &Question, calls: &[ObservedCall]) -> Option<String> {
    let lacks = |tool: &str| {
        let is_missing = !calls.iter().any(|one| one.call.name == tool);
        is_missing.then(|| format!("no call of {tool}"))
    };
    match question.expectation {
        Expectation::None => None,
        Expectation::Documents => {
            let searches =
                calls.iter().any(|one| one.failure.is_none() && FOR_DOCUMENTS[..4].contains(&&*one.call.name));
            (!searches).then(|| "no call that found documents".to_owned())
        }
        Expectation::Search => lacks(SEARCH_WEB),
        Expectation::Calculation => lacks(CALCULATOR),
        Expectation::Date => lacks(CURRENT_TIME),
        Expectation::Page => lacks(READ_URL).or_else(|| {
            let reads =
                |one: &ObservedCall| one.call.name == READ_URL && names_page(&one.call.arguments, &question.text);
            (!calls.iter().any(reads)).then(|| "read another page".to_owned())
        }),
        Expectation::Several => match distinct_calls(calls) {
            0 => Some("no calls instead of several".to_owned()),
            1 => Some("one call instead of several".to_owned()),
            _ => None,
        },
    }
}

/// What the answer lacks of the facts and the file that the question wants. Case, spaces and commas in numbers do not
/// matter.
fn missing_facts(question: &Question, answer: &str) -> Vec<String> {
    let plain = |text: &str| text.to_lowercase().replace([' ', ',', '\u{a0}'], "");
    let answer = plain(answer);
    let contains = |text: &str| answer.contains(&plain(text));
    let lacks = |fact: &&String| !fact.split('|').any(contains);
    let facts = question.contains.iter().filter(lacks).map(|fact| format!("the answer lacks \"{fact}\""));
    let file =
        question.cites.iter().filter(|file| !contains(file)).map(|file| format!("the answer does not cite {file}"));
    facts.chain(file).collect()
}

/// Whether the arguments hold an address of the question; a slash at its end makes no difference.
fn names_page(arguments: &Value, question: &str) -> bool {
    let texts = arguments.as_object().into_iter().flat_map(|fields| fields.values());
    texts
        .filter_map(Value::as_str)
        .any(|text| text.starts_with("http") && question.contains(text.trim_end_matches('/')))
}

fn distinct_calls(calls: &[ObservedCall]) -> usize {
    let key = |one: &ObservedCall| (one.call.name.clone(), one.call.arguments.to_string());
    let mut distinct: Vec<(String, String)> = calls.iter().map(key).collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct.len()
}

/// Calls of tools that a question with this expectation does not need.
fn unneeded_tools(expectation: Expectation, calls: &[ObservedCall]) -> Vec<String> {
    let allowed: &[&str] = match expectation {
        Expectation::None => &[],
        Expectation::Search => &[SEARCH_WEB, READ_URL, CURRENT_TIME],
        Expectation::Calculation => &[CALCULATOR],
        Expectation::Date => &[CURRENT_TIME, CALCULATOR],
        Expectation::Page => &[READ_URL, SEARCH_WEB],
        Expectation::Documents => &FOR_DOCUMENTS,
        Expectation::Several => return Vec::new(),
    };
    let is_known = |one: &&ObservedCall| one.failure.as_deref() != Some("unknown_tool");
    let mut names: Vec<&str> =
        calls.iter().filter(is_known).map(|one| &*one.call.name).filter(|name| !allowed.contains(name)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| format!("called {name}, which it does not need")).collect()
}

/// A question, what was observed, and what is right about it.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) question: Question,
    pub(super) observation: Observation,
    /// How the model was given tools.
    pub(super) tool_mode: ToolMode,
    /// What is not right; empty if all calls are.
    pub(super) faults: Vec<String>,
    /// Characters of calls in the shown text.
    pub(super) leaked_chars: usize,
}

impl Outcome {
    /// Judges what was observed; `default_mode` is that of a model that was not called.
    pub(super) fn new(question: &Question, observation: Observation, default_mode: ToolMode) -> Self {
        Self {
            tool_mode: observation.tool_mode.unwrap_or(default_mode),
            faults: faults(question, &observation),
            leaked_chars: count_leaked_chars(&observation.text, &TOOLS),
            question: question.clone(),
            observation,
        }
    }

    pub(super) fn is_answered(&self) -> bool {
        is_answered(&self.observation)
    }

    pub(super) fn is_right(&self) -> bool {
        self.faults.is_empty()
    }

    /// What happened, in one line: `right`, or the faults; then the leaked characters, if any.
    pub(super) fn summary(&self) -> String {
        let mut parts = self.faults.clone();
        if parts.is_empty() {
            parts.push("right".to_owned());
        }
        match self.leaked_chars {
            0 => {}
            1 => parts.push("1 character of a call was shown".to_owned()),
            count => parts.push(format!("{count} characters of calls were shown")),
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use domain::ToolCall;
    use serde_json::json;

    use super::*;

    fn call(name: &str, arguments: Value) -> ObservedCall {
        ObservedCall { call: ToolCall { id: String::new(), name: name.to_owned(), arguments }, failure: None }
    }

    fn judged(expectation: Expectation, calls: Vec<ObservedCall>) -> Vec<String> {
        let text = "Read https://example.com/a/ for me".to_owned();
        let position = "own.jsonl:1".to_owned();
        let question = Question { position, text, expectation, contains: Vec::new(), cites: None };
        let observation = Observation { text: "ok".to_owned(), is_done: true, calls, ..Observation::default() };
        faults(&question, &observation)
    }

    #[test]
    fn right_calls_have_no_faults() {
        let search = |query: &str| call(SEARCH_WEB, json!({ "query": query }));
        for (expectation, calls) in [
            (Expectation::None, vec![]),
            (Expectation::Search, vec![search("a"), call(READ_URL, json!({"url": "https://b.example"}))]),
            (Expectation::Several, vec![search("a"), search("b")]),
            (Expectation::Calculation, vec![call(CALCULATOR, json!({"expression": "1+1"}))]),
            (Expectation::Date, vec![call(CURRENT_TIME, json!({}))]),
            (Expectation::Page, vec![call(READ_URL, json!({"url": "https://example.com/a"}))]),
        ] {
            assert_eq!(judged(expectation, calls), [""; 0], "{expectation}");
        }
    }

    #[test]
    fn wrong_calls_are_named() {
        let search = call(SEARCH_WEB, json!({"query": "a"}));
        let failed = |code: &str| ObservedCall { failure: Some(code.to_owned()), ..search.clone() };
        for (expectation, calls, expected) in [
            (Expectation::None, vec![search.clone()], &["called search_web, which it does not need"] as &[&str]),
            (Expectation::Search, vec![], &["no call of search_web"]),
            (Expectation::Several, vec![search.clone(), search.clone()], &["one call instead of several"]),
            (Expectation::Several, vec![], &["no calls instead of several"]),
            (
                Expectation::Calculation,
                vec![search.clone()],
                &["no call of calculator", "called search_web, which it does not need"],
            ),
            (Expectation::Page, vec![call(READ_URL, json!({"url": "https://b.example"}))], &["read another page"]),
            (Expectation::Search, vec![failed("invalid_arguments")], &["called search_web with invalid arguments"]),
            (Expectation::None, vec![failed("unknown_tool")], &["called a tool that does not exist"]),
            (Expectation::Search, vec![failed("failed")], &[]),
        ] {
            assert_eq!(judged(expectation, calls), expected, "{expectation}");
        }
    }

    #[test]
    fn missing_answer_and_other_model_are_faults() {
        let (position, text, expectation) = (String::new(), "hello".to_owned(), Expectation::None);
        let question = Question { position, text, expectation, contains: Vec::new(), cites: None };
        let failed = Observation { failure: Some("upstream_auth".to_owned()), ..Observation::default() };
        assert_eq!(faults(&question, &failed), ["no answer (upstream_auth)"]);
        let empty = Observation { is_done: true, text: "\n".to_owned(), ..Observation::default() };
        assert_eq!((faults(&question, &empty), is_answered(&empty)), (vec!["no answer".to_owned()], false));
        let other = Some("backup".to_owned());
        let replaced =
            Observation { is_done: true, text: "a".to_owned(), other_model: other, ..Observation::default() };
        assert_eq!(faults(&question, &replaced), ["backup answered instead"]);
    }

    #[test]
    fn answers_from_documents_need_facts_and_file() {
        let judged = |text: &str, calls: Vec<ObservedCall>| {
            let question = Question {
                position: String::new(),
                text: "How high is the rent?".to_owned(),
                expectation: Expectation::Documents,
                contains: vec!["3,240|EUR 3240".to_owned(), "a month".to_owned()],
                cites: Some("contracts/lease.md".to_owned()),
            };
            let observation = Observation { text: text.to_owned(), is_done: true, calls, ..Observation::default() };
            faults(&question, &observation)
        };
        let grep = call("grep_search", json!({"pattern": "rent"}));
        let right = "It is 3240 euros A month (`contracts/lease.md:7`).";
        assert_eq!(judged(right, vec![grep.clone()]), [""; 0]);
        assert_eq!(judged(right, vec![]), ["no call that found documents"]);
        let failed = ObservedCall { failure: Some("failed".to_owned()), ..grep.clone() };
        assert_eq!(judged(right, vec![failed]), ["no call that found documents"]);
        let wrong = ["the answer lacks \"3,240|EUR 3240\"", "the answer does not cite contracts/lease.md"];
        assert_eq!(judged("It is 2,150 euros a month (`contracts/old/lease.md:5`).", vec![grep.clone()]), wrong);
        let web = call(SEARCH_WEB, json!({"query": "rent"}));
        assert_eq!(judged(right, vec![grep, web]), ["called search_web, which it does not need"]);
    }

    #[test]
    fn failures_of_tools_are_not_wrong_calls() {
        let failed = |code: &str| ObservedCall { failure: Some(code.to_owned()), ..call(SEARCH_WEB, json!({})) };
        let calls = vec![call(SEARCH_WEB, json!({})), failed("timeout"), failed("failed"), failed("invalid_arguments")];
        assert_eq!(count_tool_failures(&Observation { calls, ..Observation::default() }), 2);
    }
}
