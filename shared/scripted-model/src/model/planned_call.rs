//! Selects the tool for a question.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use regex::Regex;

use crate::model::sums::sum;
use crate::{CONVERSATION, SmallTalk, spaced, without_phrase};

pub(super) const TOOL: &str = "search_web";

pub(super) const DOCUMENT_TOOL: &str = "grep_search";

/// How many terms of a question are searched in documents.
const MAX_TERMS: usize = 24;

/// Characters of a term of Chinese, such as 违约金; a longer run of characters has several.
const MAX_CHINESE_TERM: usize = 3;

/// A call that the model will make; each supported tool takes one text argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedCall {
    pub(super) tool: &'static str,
    pub(super) argument: &'static str,
    pub(super) value: String,
}

impl PlannedCall {
    pub(super) fn search(query: String) -> Self {
        Self { tool: TOOL, argument: "query", value: query }
    }

    pub(super) fn page(url: String) -> Self {
        Self { tool: "read_url", argument: "url", value: url }
    }

    /// The call that finds the lines of documents with a term of the question; without terms, all lines.
    pub(super) fn document_search(question: &str) -> Self {
        let terms = terms(question);
        let pattern = if terms.is_empty() { r"\S".to_owned() } else { format!("(?i){}", terms.join("|")) };
        Self::documents(pattern)
    }

    pub(super) fn documents(pattern: String) -> Self {
        Self { tool: DOCUMENT_TOOL, argument: "pattern", value: pattern }
    }

    /// Returns the call of a tool other than the search, if the question needs one.
    pub(super) fn of(question: &str) -> Option<Self> {
        let calculation = || Some(Self { tool: "calculator", argument: "expression", value: sum(question)? });
        let clock = || small_talk(question).is_some_and(|talk| talk.needs_clock).then(String::new);
        let time = || Some(Self { tool: "current_time", argument: "zone", value: clock().or_else(|| zone(question))? });
        address(question).map(Self::page).or_else(calculation).or_else(time)
    }
}

/// The terms of a question that documents may have, in lower case: English ones without the ending of a plural, and
/// short runs of characters of other scripts, or all pairs of characters of a longer run.
pub(super) fn terms(question: &str) -> Vec<String> {
    let phrases = CONVERSATION.stop_phrases.iter();
    let question = phrases.fold(question.to_lowercase(), |text, phrase| text.replace(phrase.as_str(), " "));
    let mut terms: Vec<String> = Vec::new();
    for run in question.split(|c: char| !c.is_alphanumeric()) {
        let characters: Vec<char> = run.chars().collect();
        for part in characters.chunk_by(|one, next| one.is_ascii() == next.is_ascii()) {
            let text: String = part.iter().collect();
            match part {
                [first, ..] if first.is_ascii() => terms.extend(english_term(&text)),
                [_] => terms.push(text),
                _ if part.len() <= MAX_CHINESE_TERM => terms.push(text),
                _ => terms.extend(part.windows(2).map(|pair| pair.iter().collect::<String>())),
            }
        }
    }
    let mut known = HashSet::new();
    let is_long = terms.iter().any(|term| term.chars().count() > 1);
    terms.retain(|term| known.insert(term.clone()) && (!is_long || term.chars().count() > 1));
    terms.truncate(MAX_TERMS);
    terms
}

fn english_term(run: &str) -> Option<String> {
    let is_specific = run.len() > 2 || run.contains(|c: char| c.is_ascii_digit());
    let is_term = is_specific && !CONVERSATION.stop_terms.iter().any(|stop| stop == run);
    let stem = if run.len() > 4 { run.trim_end_matches('s') } else { run };
    is_term.then(|| stem.to_owned())
}

fn address(question: &str) -> Option<String> {
    let start = question.find("https://").or_else(|| question.find("http://"))?;
    let address = question[start..].split(|c: char| c.is_whitespace() || !c.is_ascii()).next()?;
    Some(address.trim_end_matches(['.', ',', '?', '!', ')']).to_owned())
}

/// The city or zone whose time is requested.
fn zone(question: &str) -> Option<String> {
    let question = question.to_lowercase();
    let found = CONVERSATION.zone_patterns.iter().find_map(|pattern| Regex::new(pattern).ok()?.captures(&question))?;
    Some(found[1].to_owned())
}

/// Returns the small talk that `text` is; `None` if it has anything else.
pub(super) fn small_talk(text: &str) -> Option<&'static SmallTalk> {
    let talks = CONVERSATION.small_talk.iter().enumerate();
    let phrases = talks.flat_map(|(kind, talk)| talk.phrases.iter().map(move |phrase| (kind, phrase.as_str())));
    let (rest, counts) = take_phrases(text, phrases);
    let meant = counts.last_key_value().map(|(kind, _)| *kind).filter(|kind| *kind > 0 && rest.trim().is_empty());
    CONVERSATION.small_talk.get(meant?)
}

/// Takes phrases out of a text, longer ones first; returns the rest, and the number of phrases of each kind.
pub(super) fn take_phrases<'a>(
    text: &str,
    phrases: impl Iterator<Item = (usize, &'a str)>,
) -> (String, BTreeMap<usize, usize>) {
    let (mut rest, mut counts) = (spaced(text), BTreeMap::new());
    let mut phrases: Vec<_> = phrases.collect();
    phrases.sort_by_key(|(_, phrase)| Reverse(phrase.len()));
    for (kind, phrase) in phrases {
        if let Some(without) = without_phrase(&rest, phrase) {
            rest = without;
            *counts.entry(kind).or_default() += 1;
        }
    }
    (rest, counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_leave_out_what_every_question_has() {
        let cases: [(&str, &[&str]); 5] = [
            ("What did we agree on with the landlord?", &["agree", "landlord"]),
            ("How many deadlines in 2026?", &["deadline", "2026"]),
            ("违约金是多少？", &["违约金"]),
            ("S3的费用", &["s3", "费用"]),
            ("？", &[]),
        ];
        for (question, expected) in cases {
            assert_eq!(terms(question), expected, "{question}");
        }
        assert_eq!(PlannedCall::document_search("the landlord agrees").value, "(?i)landlord|agree");
        assert_eq!(PlannedCall::document_search("?").value, r"\S");
    }

    #[test]
    fn question_selects_matching_tool() {
        let cases = [
            ("What is 12 * (3 + 4)?", Some(("calculator", "12 * (3 + 4)"))),
            ("Hi, what time is it?", Some(("current_time", ""))),
            ("今天星期几？", Some(("current_time", ""))),
            ("现在几点了？", Some(("current_time", ""))),
            ("What’s the date today?", Some(("current_time", ""))),
            ("What time is it in New York?", Some(("current_time", "new york"))),
            ("东京现在几点？", Some(("current_time", "东京"))),
            ("北京当前时间是多少？", Some(("current_time", "北京"))),
            ("巴黎几点？", Some(("current_time", "巴黎"))),
            ("what is the best time in spring to sow", None),
            ("冷启动时间是多少？", None),
            ("响应时间是多少？", None),
            ("部署时间？", None),
            ("对话保存时间是多少？", None),
            ("超时时间", None),
            ("读一下https://example.com/a。", Some(("read_url", "https://example.com/a"))),
            ("What is Lambda Chat?", None),
            ("今天的新闻有哪些？", None),
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

#[cfg(test)]
mod small_talk_tests {
    use super::*;

    #[test]
    fn small_talk_is_recognised_with_fillers() {
        let cases = [
            ("hi", "Hello!"),
            ("Hello there!", "Hello!"),
            ("Hi, how are you?", "I’m fine"),
            ("Thanks a lot 🙏", "You’re welcome!"),
            ("OK, thank you very much. Bye!", "You’re welcome!"),
            ("bye", "Goodbye"),
            ("你好", "Hello!"),
            ("你好呀！", "Hello!"),
            ("你好吗？", "I’m fine"),
            ("谢谢你的帮助", "You’re welcome!"),
            ("好的，谢谢！", "You’re welcome!"),
            ("嗯", "All right."),
        ];
        for (text, answer) in cases {
            assert!(small_talk(text).is_some_and(|talk| talk.answer.en.starts_with(answer)), "{text}");
        }
    }

    #[test]
    fn polite_question_is_not_small_talk() {
        let questions = [
            "hi, what is the weather in Paris?",
            "history of Rome",
            "Hello Kitty",
            "help me with Rust lifetimes",
            "你好，今天北京天气怎么样？",
            "谢谢怎么用日语说",
            "好莱坞新闻",
            "早餐吃什么",
            "今天的新闻有哪些？",
            "?",
            "",
            "42",
        ];
        for question in questions {
            assert!(small_talk(question).is_none(), "{question}");
        }
    }
}
