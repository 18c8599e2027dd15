//! Replies of the demo model.

use std::cmp::Reverse;

use domain::{Language, one_line};
use regex::Regex;

use crate::model::findings::{Findings, Page};
use crate::model::planned_call::{PlannedCall, small_talk, terms};
use crate::model::request::{AttachedFiles, Situation};
use crate::{CONVERSATION, NO_MATCH, SITE};

const MAX_QUERY_CHARS: usize = 120;

const MAX_QUOTE_CHARS: usize = 240;

/// How many lines of documents are quoted.
const MAX_LINES: usize = 5;

/// What begins a heading, an entry or a quote in Markdown.
const MARKUP: [char; 5] = ['#', '-', '*', '>', ' '];

/// The lines of `current_time` up to the minute.
const TIME: &str = concat!(
    r"^.*?[：:] ?(?P<zone>.*?) ?[（(].*\n.*?(?P<year>[0-9]+)-0?(?P<month>[0-9]+)-0?(?P<day>[0-9]+) ?",
    r"[（(](?P<weekday>[^）)]+).*\n.*?0?(?P<hour>[0-9]+):(?P<minute>[0-9]+)"
);

/// What a question for the time of day has, in lower case; other questions are for the date.
const TIME_OF_DAY: [&str; 3] = ["time", "时间", "点"];

#[derive(Debug, Default, PartialEq)]
pub(super) struct Reply {
    /// Reasoning; empty for none.
    pub(super) thinking: String,
    pub(super) text: String,
    pub(super) calls: Vec<PlannedCall>,
}

pub(super) fn reply(situation: &Situation) -> Reply {
    let Situation { question, language, may_search, has_documents, planned_call, findings, files, .. } = situation;
    if let Some(findings) = findings {
        return noted_reply(render_findings(findings, question, *language), situation);
    }
    let is_on_files = planned_call.is_none() && small_talk(question).is_none();
    if *files != AttachedFiles::default() && is_on_files {
        return noted_reply(render_files(files, question, *language), situation);
    }
    if let (Some(planned_call), true) = (planned_call, may_search) {
        return Reply { calls: vec![planned_call.clone()], ..Reply::default() };
    }
    let texts = &CONVERSATION.texts;
    match (small_talk(question), may_search) {
        (Some(talk), _) => text_reply(talk.answer.of(*language)),
        (None, false) => text_reply(texts.no_tools.of(*language)),
        (None, true) if *has_documents => document_search(PlannedCall::document_search(question), *language),
        (None, true) => {
            let call = PlannedCall::search(query(question));
            let thinking = texts.thinking.with(call.tool, *language);
            Reply { thinking, calls: vec![call], ..Reply::default() }
        }
    }
}

/// A search of documents.
pub(super) fn document_search(call: PlannedCall, language: Language) -> Reply {
    let thinking = CONVERSATION.texts.thinking_about_documents.of(language).clone();
    Reply { thinking, calls: vec![call], ..Reply::default() }
}

/// A text with the note on real models, which the first such answer of a conversation has.
pub(super) fn noted_reply(text: String, situation: &Situation) -> Reply {
    let note = CONVERSATION.texts.note.of(situation.language);
    let text = if situation.is_noted { text } else { format!("{text}\n\n{note}") };
    Reply { text, ..Reply::default() }
}

pub(super) fn text_reply(text: &str) -> Reply {
    Reply { text: text.to_owned(), ..Reply::default() }
}

fn query(question: &str) -> String {
    let line = question.split_whitespace().collect::<Vec<_>>().join(" ");
    let subject = line.trim_end_matches(['?', '？', '!', '！', '.', '。', ' ']);
    let subject = if subject.is_empty() { &line } else { subject };
    subject.chars().take(MAX_QUERY_CHARS).collect()
}

fn render_findings(findings: &Findings, question: &str, language: Language) -> String {
    let texts = &CONVERSATION.texts;
    match findings {
        Findings::SearchResults { pages } if pages.is_empty() => texts.nothing_found.of(language).clone(),
        Findings::SearchResults { pages } => render_pages(pages, question, language),
        Findings::DocumentLines { lines } if lines.is_empty() => texts.no_lines_found.of(language).clone(),
        Findings::DocumentLines { lines } => {
            let lines = best_lines(lines, question).join("\n");
            format!("{}\n\n{lines}", texts.lines_found.with(&quote(question), language))
        }
        Findings::Time { text } => {
            render_time(text, question, language).unwrap_or_else(|| texts.tool_failed.of(language).clone())
        }
        Findings::DivisionByZero => texts.division_by_zero.of(language).clone(),
        Findings::ToolOutput { title, lines } => {
            let lines: Vec<String> = lines.iter().map(|line| format!("\n- {}", quote(line))).collect();
            format!("**{}**\n{}", quote(title), lines.concat()).trim_end().to_owned()
        }
        Findings::Failed { reason } if reason.is_empty() => texts.tool_failed.of(language).clone(),
        Findings::Failed { reason } => texts.search_failed.with(&plain(reason), language),
    }
}

/// The time as a sentence, in the language of the question, which the lines may not have.
fn render_time(text: &str, question: &str, language: Language) -> Option<String> {
    let texts = &CONVERSATION.texts;
    let found = Regex::new(TIME).ok()?.captures(text)?;
    let month = texts.months.of(language).split(' ').nth(found["month"].parse::<usize>().ok()?.checked_sub(1)?)?;
    let names = [&texts.weekdays.zh, &texts.weekdays.en];
    let weekday = names.iter().find_map(|names| names.split(' ').position(|name| name == &found["weekday"]))?;
    let weekday = texts.weekdays.of(language).split(' ').nth(weekday)?;
    let question = question.to_lowercase();
    let is_time = TIME_OF_DAY.iter().any(|part| question.contains(part));
    let mut sentence = String::new();
    found.expand(if is_time { &texts.time } else { &texts.date }.of(language), &mut sentence);
    Some(sentence.replace("{month}", month).replace("{weekday}", weekday))
}

/// What pages have about the question. The demo's own have nothing: questions that they answer have a prepared turn.
fn render_pages(pages: &[Page], question: &str, language: Language) -> String {
    let texts = &CONVERSATION.texts;
    if pages.iter().all(|page| page.url.starts_with(SITE)) {
        let limits = pages.iter().find(|page| page.url.ends_with(NO_MATCH));
        let citation = limits.map(|page| citation(&page.number, language)).unwrap_or_default();
        return texts.unrelated.with(&citation, language);
    }
    let bullets: Vec<String> = pages.iter().map(|page| bullet(page, language)).collect();
    format!("{}\n\n{}", texts.found.with(&quote(question), language), bullets.join("\n"))
}

/// The citation of a page after a text.
pub(super) fn citation(number: &str, language: Language) -> String {
    let gap = if language == Language::Zh { "" } else { " " };
    format!("{gap}[{number}]")
}

/// What the files of the question have about it, as references that the page opens.
fn render_files(files: &AttachedFiles, question: &str, language: Language) -> String {
    let texts = &CONVERSATION.texts;
    let mut parts = Vec::new();
    if !files.lines.is_empty() {
        let request = question.to_lowercase();
        let is_for = |pattern: &str| Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(&request));
        let task = CONVERSATION.file_tasks.iter().find(|(pattern, _)| is_for(pattern));
        let (head, terms) = match task {
            Some((_, task)) => (texts.file_task.with(task.of(language), language), ""),
            None if files.have_terms_of(question) => (texts.file_lines.with(&quote(question), language), question),
            None => (texts.file_start.with(&quote(question), language), question),
        };
        parts.push(head);
        parts.push(best_lines(&files.lines, terms).join("\n"));
    }
    if files.has_pictures {
        parts.push(texts.pictures.of(language).clone());
    }
    parts.join("\n\n")
}

impl AttachedFiles {
    pub(super) fn have_terms_of(&self, question: &str) -> bool {
        let terms = terms(question);
        self.lines.iter().any(|(_, text)| count(&terms, text) > 0)
    }
}

/// How many of the terms a text has.
fn count(terms: &[String], text: &str) -> usize {
    let text = text.to_lowercase();
    terms.iter().filter(|term| text.contains(term.as_str())).count()
}

/// Quotes the lines with most of the question's terms, each with its place, in the form that the page links.
fn best_lines(lines: &[(String, String)], question: &str) -> Vec<String> {
    let terms = terms(question);
    let mut lines: Vec<_> = lines.iter().map(|(position, text)| (count(&terms, text), position, text)).collect();
    lines.sort_by_key(|(count, ..)| Reverse(*count));
    let max_count = lines.first().map_or(0, |(count, ..)| *count);
    let best = lines.into_iter().take_while(|(count, ..)| count * 2 >= max_count).take(MAX_LINES);
    best.map(|(_, position, text)| format!("- {} `{position}`", quote(text.trim_start_matches(MARKUP)))).collect()
}

/// The beginning of a page, with the citation.
fn bullet(page: &Page, language: Language) -> String {
    let title = plain(&page.title).replace('[', "(").replace(']', ")");
    let colon = if language == Language::Zh { "：" } else { ": " };
    format!("- **{title}**{colon}{}{}", quote(&page.content), citation(&page.number, language))
}

fn quote(text: &str) -> String {
    one_line(&plain(text), MAX_QUOTE_CHARS)
}

/// Returns the text on one line, without tags: the model quotes text, and a quote must not become a call.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('<', "‹").replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_is_the_question_on_one_line() {
        let cases = [
            ("今天的新闻有哪些？", "今天的新闻有哪些"),
            ("Who won\nthe last race?", "Who won the last race"),
            ("???", "???"),
        ];
        for (question, expected) in cases {
            assert_eq!(query(question), expected, "{question}");
        }
        assert_eq!(query(&"长".repeat(500)).chars().count(), 120);
    }

    #[test]
    fn page_becomes_bullet_with_citation() {
        let page = Page {
            number: "3".into(),
            title: "A [b] <tool_call>".into(),
            url: "https://a.example/x_(y)".into(),
            content: "Version 1.2\nis out.".into(),
        };
        let expected = "- **A (b) ‹tool_call>**: Version 1.2 is out. [3]";
        assert_eq!(bullet(&page, Language::En), expected);
    }

    #[test]
    fn long_content_is_cut() {
        assert_eq!(quote(&"字".repeat(241)), format!("{}…", "字".repeat(239)));
        assert_eq!(quote(&"字".repeat(240)), "字".repeat(240));
    }
}
