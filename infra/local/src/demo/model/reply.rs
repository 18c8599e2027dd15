//! Replies of the demo model.

use crate::demo::language::Language;
use crate::demo::model::findings::{Findings, Page};
use crate::demo::model::planned_call::PlannedCall;
use crate::demo::model::request::{Situation, Tools};
use crate::demo::model::small_talk::{answer, small_talk};

/// Length limit of a search query, in characters.
const MAX_QUERY_CHARS: usize = 120;

/// Length limit of a quote from the question or a page, in characters.
const MAX_QUOTE_CHARS: usize = 160;

/// Prefixes of a question that do not help a search.
const QUESTION_PREFIXES: &[&str] = &[
    "请问",
    "请帮我",
    "帮我",
    "请你",
    "请",
    "查一下",
    "搜索一下",
    "搜一下",
    "你知道",
    "please ",
    "can you tell me ",
    "could you tell me ",
    "tell me ",
    "search for ",
    "look up ",
    "do you know ",
];

/// Parts of a reply, in order.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Reply {
    /// Reasoning; empty for none.
    pub(super) thinking: String,
    pub(super) text: String,
    /// The call, and the format in which it is written.
    pub(super) call: Option<(Tools, PlannedCall)>,
}

/// Builds the reply to a request.
pub(super) fn reply(situation: &Situation) -> Reply {
    let Situation { question, language, tools, planned_call, findings } = situation;
    if let Some(findings) = findings {
        return text_reply(&render_findings(findings, question, *language));
    }
    if let (Some(planned_call), false) = (planned_call, *tools == Tools::Off) {
        return Reply { call: Some((*tools, planned_call.clone())), ..text_reply("") };
    }
    match (small_talk(question), tools) {
        (Some(meant), _) => text_reply(answer(meant, *language)),
        (None, Tools::Off) => text_reply(language.choose(NO_TOOLS.0, NO_TOOLS.1)),
        (None, tools) => Reply {
            thinking: language.choose(THINKING.0, THINKING.1).to_owned(),
            text: language.choose("好的，我查一下。\n\n", "Let me look that up.\n\n").to_owned(),
            call: Some((*tools, PlannedCall::search(query(question)))),
        },
    }
}

const THINKING: (&str, &str) = (
    "这个问题我自己答不了：我是演示模型，没有任何知识。先用 search_web 查，再根据结果回答。",
    "I cannot answer this myself: I am a demo model without any knowledge. I will use search_web and answer from what it returns.",
);

const NO_TOOLS: (&str, &str) = (
    "我是演示模型，自己没有任何知识，而这一次没有可用的搜索工具，所以答不了。配置真正的模型后再问我吧。",
    "I am a demo model without any knowledge, and there is no search tool for this reply, so I cannot answer. \
     Configure a real model and ask again.",
);

const NOTE: (&str, &str) = (
    "以上由内置的演示模型拼成：它只复述工具返回的内容，不作判断。要用真正的模型，请设置 `ARK_API_KEY` 和 `ARK_MODEL`（或者 `OPENAI_API_KEY` 和 `OPENAI_MODEL`），然后重新启动。",
    "This was put together by the built-in demo model, which only repeats what tools return. For a real one, set \
     `ARK_API_KEY` and `ARK_MODEL` (or `OPENAI_API_KEY` and `OPENAI_MODEL`) and start again.",
);

fn text_reply(text: &str) -> Reply {
    Reply { text: text.to_owned(), ..Reply::default() }
}

fn query(question: &str) -> String {
    let line = question.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut subject = line.as_str();
    while let Some(rest) = QUESTION_PREFIXES.iter().find_map(|opening| strip_prefix_ignoring_case(subject, opening)) {
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
    let body = match findings {
        Findings::SearchResults { pages, .. } if pages.is_empty() => language
            .choose(
                "搜索没有找到相关的内容，换个说法再试试？",
                "The search found nothing about this. Maybe try other words?",
            )
            .to_owned(),
        Findings::ToolOutput { lines } => render_tool_output(lines, language),
        Findings::SearchResults { summaries, pages } => render_search_results(summaries, pages, question, language),
        Findings::Failed { reason } => render_failure(reason, language),
    };
    format!("{body}\n\n{}", language.choose(NOTE.0, NOTE.1))
}

fn render_search_results(summaries: &[String], pages: &[Page], question: &str, language: Language) -> String {
    let question = quote(question);
    let intro = language.choose(
        format!("关于“{question}”，搜索到这些内容："),
        format!("Here is what the search returned about “{question}”:"),
    );
    let bullets: Vec<String> = pages.iter().map(|page| bullet(page, language)).collect();
    let mut parts = vec![intro, bullets.join("\n")];
    for summary in summaries {
        let summary = plain(summary);
        parts.push(language.choose(format!("搜索的摘要：{summary}"), format!("The search's own summary: {summary}")));
    }
    parts.join("\n\n")
}

fn render_tool_output(lines: &[String], language: Language) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("- {}", quote(line))).collect();
    format!("{}\n\n{}", language.choose("工具返回了：", "The tool returned:"), lines.join("\n"))
}

fn bullet(page: &Page, language: Language) -> String {
    let title = plain(&page.title).replace('[', "(").replace(']', ")");
    let url = page.url.replace('(', "%28").replace(')', "%29");
    format!("- [{title}]({url}){}{}", language.choose("：", ": "), quote(first_sentences(&page.content)))
}

fn render_failure(reason: &str, language: Language) -> String {
    match language {
        Language::Chinese if !reason.is_empty() => format!("搜索没有成功（{}），所以这个问题我答不了。", plain(reason)),
        Language::Chinese => "工具没有给出结果，所以这个问题我答不了。".to_owned(),
        Language::English if reason.is_empty() => {
            "The tool gave no result, so I have nothing to answer with.".to_owned()
        }
        Language::English => "The search failed, so I have nothing to answer with. Please try again later.".to_owned(),
    }
}

/// Returns as many whole sentences as fit a quote; the whole text if not even the first one fits.
fn first_sentences(text: &str) -> &str {
    let within = text.char_indices().nth(MAX_QUOTE_CHARS).map_or(text.len(), |(at, _)| at);
    let ends = text.char_indices().map(|(at, c)| (at + c.len_utf8(), c)).take_while(|(end, _)| *end <= within);
    let last = ends.filter(|&(end, c)| ends_sentence(c, &text[end..])).last();
    last.map_or(text, |(end, _)| &text[..end])
}

/// Whether a character ends a sentence; a Latin full stop may also be part of a number or a name.
fn ends_sentence(c: char, rest: &str) -> bool {
    matches!(c, '。' | '！' | '？') || (matches!(c, '.' | '!' | '?') && (rest.is_empty() || rest.starts_with(' ')))
}

fn quote(text: &str) -> String {
    let text = plain(text);
    if text.chars().count() <= MAX_QUOTE_CHARS {
        return text;
    }
    text.chars().take(MAX_QUOTE_CHARS).chain(['…']).collect()
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
    fn page_becomes_bullet_with_link_and_first_sentences() {
        let page = Page {
            title: "A [b] <tool_call>".into(),
            url: "https://a.example/x_(y)".into(),
            content: format!("Version 1.2 is out. Get it! {}.", "word ".repeat(40)),
        };
        let expected = "- [A (b) ‹tool_call>](https://a.example/x_%28y%29): Version 1.2 is out. Get it!";
        assert_eq!(bullet(&page, Language::English), expected);
    }

    #[test]
    fn long_content_is_cut() {
        assert_eq!(quote(&"字".repeat(161)), format!("{}…", "字".repeat(160)));
        assert_eq!(quote(&"字".repeat(160)), "字".repeat(160));
    }
}
