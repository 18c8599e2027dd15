//! Selects the tool for a question.

/// A call that the model will make; each supported tool takes one text argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedCall {
    pub(super) tool: &'static str,
    pub(super) argument: &'static str,
    pub(super) value: String,
}

/// Cities with their time zones, in lower case.
const CITIES: &[(&str, &str)] = &[
    ("tokyo", "Asia/Tokyo"),
    ("东京", "Asia/Tokyo"),
    ("new york", "America/New_York"),
    ("纽约", "America/New_York"),
    ("london", "Europe/London"),
    ("伦敦", "Europe/London"),
    ("paris", "Europe/Paris"),
    ("巴黎", "Europe/Paris"),
    ("beijing", "Asia/Shanghai"),
    ("shanghai", "Asia/Shanghai"),
    ("北京", "Asia/Shanghai"),
    ("上海", "Asia/Shanghai"),
];

/// Phrases that mark a question about the time, in lower case.
const TIME_PHRASES: &[&str] = &["what time", "what day is it", "what date", "几点", "几号", "星期几", "现在时间"];

/// Phrases allowed around an arithmetic expression.
const SUM_PHRASES: &[&str] = &[
    "what is",
    "what's",
    "calculate",
    "compute",
    "how much is",
    "计算一下",
    "计算",
    "算一下",
    "是多少",
    "等于多少",
    "等于几",
];

impl PlannedCall {
    pub(super) fn search(query: String) -> Self {
        Self { tool: "search_web", argument: "query", value: query }
    }

    /// Returns the call of a tool other than the search, if the question needs one.
    pub(super) fn of(question: &str) -> Option<Self> {
        let call = |tool, argument, value| Self { tool, argument, value };
        let page = address(question).map(|url| call("read_url", "url", url));
        let time = || zone(question).map(|zone| call("current_time", "zone", zone.to_owned()));
        page.or_else(time).or_else(|| sum(question).map(|sum| call("calculator", "expression", sum)))
    }
}

fn address(question: &str) -> Option<String> {
    let start = question.find("https://").or_else(|| question.find("http://"))?;
    let address = question[start..].split(|c: char| c.is_whitespace() || !c.is_ascii()).next()?;
    Some(address.trim_end_matches(['.', ',', '?', '!', ')']).to_owned())
}

fn zone(question: &str) -> Option<&'static str> {
    let question = question.to_lowercase();
    TIME_PHRASES.iter().find(|phrase| question.contains(**phrase))?;
    Some(CITIES.iter().find(|(city, _)| question.contains(city)).map_or("UTC", |(_, zone)| zone))
}

/// Returns the arithmetic expression of a question that has nothing else: at least one digit and one operator.
fn sum(question: &str) -> Option<String> {
    let mut rest = question.trim().to_lowercase();
    for phrase in SUM_PHRASES {
        rest = rest.replace(phrase, "");
    }
    let sum = rest.trim_matches([' ', '?', '？', '=', '＝', '。', '，']);
    let is_sum = sum.replace("% of ", "").chars().all(|c| c.is_ascii_digit() || " +-*/^().,%×÷".contains(c));
    let operates = sum.trim_start_matches('-').contains(['+', '-', '*', '/', '^', '%', '×', '÷']);
    (is_sum && operates && sum.contains(|c: char| c.is_ascii_digit())).then(|| sum.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_selects_matching_tool() {
        let cases = [
            ("What is 12 * (3 + 4)?", Some(("calculator", "12 * (3 + 4)"))),
            ("What is 12.5% of 80?", Some(("calculator", "12.5% of 80"))),
            ("1234×5678等于多少？", Some(("calculator", "1234×5678"))),
            ("What time is it in Tokyo?", Some(("current_time", "Asia/Tokyo"))),
            ("现在几点？", Some(("current_time", "UTC"))),
            ("读一下https://example.com/a。", Some(("read_url", "https://example.com/a"))),
            ("What is Lambda Chat?", None),
            ("今天的新闻有哪些？", None),
            ("-5", None),
            ("2026", None),
        ];
        for (question, expected) in cases {
            let planned_call = PlannedCall::of(question);
            assert_eq!(
                planned_call.as_ref().map(|planned_call| (planned_call.tool, planned_call.value.as_str())),
                expected,
                "{question}"
            );
        }
    }
}
