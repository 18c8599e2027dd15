//! Replies of the demo model.

use std::cmp::Reverse;

use domain::{Language, one_line};

use crate::demo::model::findings::{Findings, Page};
use crate::demo::model::planned_call::{PlannedCall, small_talk, terms};
use crate::demo::model::request::{AttachedFiles, Situation};
use crate::demo::{CONVERSATION, NO_MATCH, SITE};

const MAX_QUERY_CHARS: usize = 120;

const MAX_QUOTE_CHARS: usize = 160;

/// The same for what a page has: a Chinese text has as much in half the characters.
const fn max_excerpt_chars(language: Language) -> usize {
    match language {
        Language::Zh => MAX_QUOTE_CHARS,
        Language::En => 2 * MAX_QUOTE_CHARS,
    }
}

/// How many lines of documents are quoted.
const MAX_LINES: usize = 5;

/// What begins a heading, an entry or a quote in Markdown.
const MARKUP: [char; 5] = ['#', '-', '*', '>', ' '];

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
    if *files != AttachedFiles::default() {
        return noted_reply(render_files(files, question, *language), situation);
    }
    if let (Some(planned_call), true) = (planned_call, may_search) {
        return Reply { calls: vec![planned_call.clone()], ..Reply::default() };
    }
    let texts = &CONVERSATION.texts;
    match (small_talk(question), may_search) {
        (Some(talk), _) => text_reply(talk.answer.of(*language)),
        (None, false) => text_reply(texts.no_tools.of(*language)),
        (None, true) if *has_documents => document_search(question, *language),
        (None, true) => web_search(question, *language),
    }
}

pub(super) fn document_search(question: &str, language: Language) -> Reply {
    let thinking = CONVERSATION.texts.thinking_about_documents.of(language).clone();
    Reply { thinking, calls: vec![PlannedCall::document_search(question)], ..Reply::default() }
}

fn web_search(question: &str, language: Language) -> Reply {
    let call = PlannedCall::search(query(question));
    let thinking = CONVERSATION.texts.thinking.with(call.tool, language);
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
    let mut subject = line.as_str();
    while let Some(rest) =
        CONVERSATION.question_prefixes.iter().find_map(|opening| strip_prefix_ignoring_case(subject, opening))
    {
        subject = rest;
    }
    let subject = subject.trim_end_matches(['?', '？', '!', '！', '.', '。', ' ']);
    let subject = if subject.is_empty() { &line } else { subject };
    subject.chars().take(MAX_QUERY_CHARS).collect()
}

/// Strips a prefix, ignoring ASCII case; `None` when nothing remains.
fn strip_prefix_ignoring_case<'a>(text: &'a str, opening: &str) -> Option<&'a str> {
    let start = text.get(..opening.len()).filter(|start| start.eq_ignore_ascii_case(opening))?;
    Some(text[start.len()..].trim_start()).filter(|rest| !rest.is_empty())
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
        Findings::ToolOutput { title, lines } => {
            let lines: Vec<String> = lines.iter().map(|line| format!("\n- {}", quote(line))).collect();
            format!("**{}**\n{}", quote(title), lines.concat()).trim_end().to_owned()
        }
        Findings::Failed { reason } if reason.is_empty() => texts.tool_failed.of(language).clone(),
        Findings::Failed { reason } => texts.search_failed.with(&plain(reason), language),
    }
}

/// What pages have about the question. The demo's own have nothing: questions that they answer have a prepared turn.
fn render_pages(pages: &[Page], question: &str, language: Language) -> String {
    let texts = &CONVERSATION.texts;
    if pages.iter().all(|page| page.url.starts_with(SITE)) {
        let limits = pages.iter().find(|page| page.url.ends_with(NO_MATCH));
        let citation = limits.map(|page| citation(&page.number, language)).unwrap_or_default();
        return texts.unrelated.with(&citation, language);
    }
    let terms = terms(question);
    let counts = pages.iter().map(|page| count(&terms, &page.title) + count(&terms, &page.content));
    let counts: Vec<usize> = counts.collect();
    let best = counts.iter().max().copied().unwrap_or_default();
    let related = pages.iter().zip(counts).filter(|(_, count)| count * 2 >= best);
    let bullets: Vec<String> = related.map(|(page, _)| bullet(page, &terms, language)).collect();
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
        let terms = terms(question);
        let is_found = files.lines.iter().any(|(_, text)| count(&terms, text) > 0);
        let head = if is_found { &texts.file_lines } else { &texts.file_start };
        parts.push(head.with(&quote(question), language));
        parts.push(best_lines(&files.lines, question).join("\n"));
    }
    if files.has_pictures {
        parts.push(texts.pictures.of(language).clone());
    }
    parts.join("\n\n")
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

/// The sentences of a page from the one with most terms on, with the citation.
fn bullet(page: &Page, terms: &[String], language: Language) -> String {
    let title = plain(&page.title).replace('[', "(").replace(']', ")");
    let colon = if language == Language::Zh { "：" } else { ": " };
    format!("- **{title}**{colon}{} [{}]", excerpt(&page.content, terms, language), page.number)
}

/// Whole sentences, as many as a quote may have; a longer one is cut.
fn excerpt(content: &str, terms: &[String], language: Language) -> String {
    let max_chars = max_excerpt_chars(language);
    let sentences = content.lines().flat_map(|line| line.split_inclusive(['。', '！', '？']));
    let sentences: Vec<&str> = sentences.flat_map(|part| part.split_inclusive(". ")).map(str::trim).collect();
    let first = (0..sentences.len()).max_by_key(|&at| (count(terms, sentences[at]), Reverse(at))).unwrap_or_default();
    let mut excerpt = String::new();
    for sentence in &sentences[first..] {
        let gap = if excerpt.is_empty() || excerpt.ends_with(['。', '！', '？']) { "" } else { " " };
        if !excerpt.is_empty() && excerpt.chars().count() + sentence.chars().count() >= max_chars {
            break;
        }
        excerpt += gap;
        excerpt += sentence;
    }
    one_line(&plain(&excerpt), max_chars)
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
    fn query_is_the_question_without_prefixes() {
        let cases = [
            ("今天的新闻有哪些？", "今天的新闻有哪些"),
            ("请问，北京天气", "，北京天气"),
            ("请帮我查一下 Rust 的最新版本。", "Rust 的最新版本"),
            ("Please tell me who won\nthe last race?", "who won the last race"),
            ("请", "请"),
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
        assert_eq!(bullet(&page, &[], Language::En), expected);
    }

    #[test]
    fn excerpt_has_whole_sentences_from_best_one() {
        let content = "它很小。它保存对话。\n费用很低。".to_owned() + &"长".repeat(150) + "。";
        assert_eq!(excerpt(&content, &["对话".into()], Language::Zh), "它保存对话。费用很低。");
        assert_eq!(
            excerpt("It is small. It costs 3.5 cents. It stays.", &["cost".into()], Language::En),
            "It costs 3.5 cents. It stays."
        );
        assert_eq!(excerpt("", &[], Language::En), "");
    }

    #[test]
    fn long_content_is_cut() {
        assert_eq!(quote(&"字".repeat(161)), format!("{}…", "字".repeat(159)));
        assert_eq!(quote(&"字".repeat(160)), "字".repeat(160));
    }
}
