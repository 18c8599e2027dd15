//! Cuts the results of an ended turn to what later turns need.
//!
//! A result is cut once, when its turn ends, because providers charge less for the beginning of a prompt that they have
//! received before: a later cut would change it. The cut depends on the turn's messages only, and repeating it changes
//! nothing, so turns of earlier releases, which are stored whole, are cut alike in every prompt.

use std::collections::BTreeSet;

use domain::{AnswerPart, CitationScanner, Language, Message};
use prompts::{AgentTexts, SearchTexts};
use tools::url_allowlist::{ENGLISH_BEGINNINGS, SOURCE_PREFIXES};

use crate::context::{SHORT_RESULT_BYTES, truncate, truncate_result};

/// The tags around the pages of a search, and around a page that was read.
const PAGE_TAGS: [(&str, &str); 2] = [("<search_results>\n", "</search_results>"), ("<page>\n", "</page>")];

/// Cuts each result of an ended turn. Pages that the turn cites keep the beginning of their content, the others their
/// number, title and address, so that they can be read again. If the turn cites none, the first pages keep theirs. Any
/// other result keeps its beginning, with a note in `language`.
pub(crate) fn cut_results(messages: &mut [Message], language: Language) {
    let cited = cited_numbers(messages);
    for message in messages {
        let Message::Tool(result) = message else { continue };
        match cut_pages(&result.content, &cited) {
            Some(content) => result.content = content,
            None => truncate_result(result, SHORT_RESULT_BYTES, AgentTexts::of(language)),
        }
    }
}

fn cited_numbers(messages: &[Message]) -> BTreeSet<usize> {
    let mut parts = Vec::new();
    for message in messages {
        if let Message::Assistant { text, .. } = message {
            let mut scanner = CitationScanner::default();
            scanner.push(text, &mut parts);
            scanner.finish(&mut parts);
        }
    }
    let numbers = |part| match part {
        AnswerPart::Citation { numbers, .. } => numbers,
        AnswerPart::Text(_) => Vec::new(),
    };
    let mut cited = BTreeSet::new();
    cited.extend(parts.into_iter().flat_map(numbers));
    cited
}

/// A page in a result: the lines that name it, and its content.
struct Page<'a> {
    number: usize,
    heading: Vec<&'a str>,
    content: String,
}

/// Returns a result of pages with the content of the cited ones; `None` for any other result.
fn cut_pages(result: &str, cited: &BTreeSet<usize>) -> Option<String> {
    let (open, close) = PAGE_TAGS.into_iter().find(|(open, _)| result.starts_with(open))?;
    // Nothing in a page can be read as a tag.
    let rest = result.strip_prefix(open)?;
    let (body, after) = rest.rsplit_once(close).unwrap_or((rest, ""));
    let is_english = ENGLISH_BEGINNINGS.iter().any(|beginning| result.starts_with(beginning));
    let language = if is_english { Language::En } else { Language::Zh };
    let texts = AgentTexts::of(language);
    let lines: Vec<&str> = body.strip_suffix('\n').unwrap_or(body).lines().collect();
    let lines = lines.strip_suffix(&[texts.earlier_results]).unwrap_or(&lines);
    let (first, mut pages) = parse_pages(lines, language);
    if pages.is_empty() {
        return None;
    }
    let mut kept_bytes = 0;
    for page in &mut pages {
        let _ = truncate(&mut page.content, SHORT_RESULT_BYTES, texts);
        let fits = kept_bytes == 0 || kept_bytes + page.content.len() <= SHORT_RESULT_BYTES;
        if cited.contains(&page.number) || (cited.is_empty() && fits) {
            kept_bytes += page.content.len();
        } else {
            page.content.clear();
        }
    }
    // The provider's summary is of no use once there is an answer.
    let heading = lines[..first].iter().rev().find(|line| !line.is_empty());
    let mut kept: Vec<&str> = heading.into_iter().copied().collect();
    for page in &pages {
        kept.extend(&page.heading);
        kept.extend((!page.content.is_empty()).then_some(page.content.as_str()));
    }
    kept.push(texts.earlier_results);
    Some(format!("{open}{}\n{close}{after}", kept.join("\n")))
}

/// The pages in the lines of a result, and the index of the first one's first line.
fn parse_pages<'a>(lines: &[&'a str], language: Language) -> (usize, Vec<Page<'a>>) {
    let [chinese, english] = SOURCE_PREFIXES;
    let source = if language == Language::En { english } else { chinese };
    let texts = SearchTexts::of(language);
    // No other line in a result starts with this prefix.
    let sources = lines.iter().enumerate().filter(|(_, line)| line.starts_with(source)).map(|(at, _)| at);
    let mut starts: Vec<(usize, usize, usize)> = Vec::new();
    for at in sources {
        let start = start_of_page(lines, at, texts);
        let is_after = |start: usize| starts.last().is_none_or(|(_, before, _)| start > *before);
        starts.extend(start.filter(|(start, _)| is_after(*start)).map(|(start, number)| (start, at, number)));
    }
    let ends = starts.iter().skip(1).map(|(start, ..)| *start).chain([lines.len()]);
    let pages = starts.iter().zip(ends).map(|((start, at, number), end)| {
        let has_date = lines.get(at + 1).is_some_and(|line| line.starts_with(label(texts.date)));
        let heading_end = at + 1 + usize::from(has_date);
        let rest = &lines[heading_end..end];
        let content = if rest.first().is_some_and(|line| line.starts_with(label(texts.content))) { rest } else { &[] };
        let content = content.join("\n").trim_end().to_owned();
        Page { number: *number, heading: lines[*start..heading_end].to_vec(), content }
    });
    (starts.first().map_or(0, |(start, ..)| *start), pages.collect())
}

/// The first line of the page whose address is in this line, and its number.
fn start_of_page(lines: &[&str], source: usize, texts: &SearchTexts) -> Option<(usize, usize)> {
    let title = source.checked_sub(1)?;
    if let Some(number) = lines[title].split_once(". ").and_then(|(number, _)| number.parse().ok()) {
        return Some((title, number));
    }
    let first = source.checked_sub(2)?;
    let number = lines[first].strip_prefix(label(texts.page_number))?;
    Some((first, number.parse().ok()?))
}

/// The text before the first placeholder of a line.
fn label(text: &'static str) -> &'static str {
    text.split_once('{').map_or(text, |(label, _)| label)
}

#[cfg(test)]
mod tests;
