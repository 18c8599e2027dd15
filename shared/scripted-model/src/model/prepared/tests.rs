//! Prepared turns against the pages that they cite.

use super::*;
use crate::search::best;
use crate::{PAGES, PageText};

const LANGUAGES: [Language; 2] = [Language::Zh, Language::En];

/// Values that pages have as their unit, in a title or in a sum.
const UNITS: [&str; 2] = ["1000", "1,000"];

fn turns() -> impl Iterator<Item = (&'static PreparedTurn, Language)> {
    TURNS.iter().flat_map(|turn| LANGUAGES.map(|language| (turn, language)))
}

fn text_of(slug: &str, language: Language) -> &'static PageText {
    PAGES.iter().find(|page| page.slug == slug).unwrap().texts.of(language)
}

/// A page that a search has found, with another number than it has in the list.
fn found(slug: &str, number: usize, language: Language) -> Page {
    Page { number: number.to_string(), url: address(slug, language), ..Page::default() }
}

fn situation(question: &str, language: Language, rounds: usize, pages: Vec<Page>) -> Situation {
    Situation {
        question: question.to_owned(),
        language,
        may_search: true,
        has_documents: false,
        planned_call: None,
        rounds,
        pages,
        findings: None,
        files: AttachedFiles::default(),
        is_noted: true,
        interrupted: String::new(),
    }
}

/// What the demo search finds for the queries of a turn, with numbers from 7.
fn found_by(turn: &PreparedTurn, language: Language) -> Vec<Page> {
    let mut slugs = Vec::new();
    for query in turn.rounds.iter().flat_map(|round| round.queries.of(language)) {
        slugs.extend(
            best(query, 5).into_iter().map(|page| &*page.slug).filter(|slug| !slugs.contains(slug)).collect::<Vec<_>>(),
        );
    }
    slugs.into_iter().zip(7..).map(|(slug, number)| found(slug, number, language)).collect()
}

/// What `grep_search` finds in the documents of the demo.
fn lines_matching(pattern: &str) -> Vec<(String, String)> {
    let pattern = Regex::new(pattern).unwrap();
    let documents = PAGES.iter().flat_map(|page| LANGUAGES.map(|language| (page, language)));
    let lines = documents.flat_map(|(page, language)| {
        let position = |at: usize| format!("{}/{}.md:{}", language.code(), page.slug, at + 1);
        let text = page.texts.of(language).markdown();
        text.lines().enumerate().map(|(at, line)| (position(at), line.to_owned())).collect::<Vec<_>>()
    });
    lines.filter(|(_, line)| pattern.is_match(line)).collect()
}

#[test]
fn every_turn_finds_the_pages_that_it_cites() {
    for (turn, language) in turns() {
        let question = turn.question.of(language);
        assert_eq!(Language::of(question), language, "{question}");
        let request = situation(question, language, turn.rounds.len(), found_by(turn, language));
        let answer = PreparedTurn::reply(&request).unwrap_or_else(|| panic!("{question}"));
        assert!(answer.calls.is_empty() && !answer.text.contains('@'), "{}", answer.text);
        assert!(answer.text.matches(" [").count() + answer.text.matches("[7]").count() > 1, "{}", answer.text);
    }
}

#[test]
fn every_turn_finds_the_lines_that_it_cites() {
    for (turn, language) in turns() {
        let question = turn.question.of(language);
        let first = Situation { has_documents: true, ..situation(question, language, 0, Vec::new()) };
        let call = PreparedTurn::reply(&first).unwrap().calls.remove(0);
        assert_eq!(call.tool, "grep_search");
        let findings = Some(Findings::DocumentLines { lines: lines_matching(&call.value) });
        let reply = PreparedTurn::reply(&Situation { rounds: 1, findings, ..first }).unwrap();
        assert!(reply.text.contains(&format!(" `{}/", language.code())), "{question}: {reply:?}");
    }
}

#[test]
fn cited_lines_have_the_values_of_their_answer() {
    let citation = Regex::new(CITATION).unwrap();
    let value = Regex::new(r"`(?P<code>[^`]+)`|(?P<number>[0-9]+(?:[.,][0-9]+)*)").unwrap();
    for (turn, language) in turns() {
        for line in turn.answer.of(language) {
            let cited = |found: Captures<'_>| {
                let line: usize = found["line"].parse().unwrap();
                text_of(&found["slug"], language).content[line - 3].as_str()
            };
            let cited: Vec<&str> = citation.captures_iter(line).map(cited).collect();
            let claim = citation.replace_all(line, "");
            let claim = claim
                .split_once(". ")
                .filter(|(start, _)| start.parse::<u8>().is_ok())
                .map_or(&*claim, |(_, rest)| rest);
            let formulas = claim.split('$').step_by(2).collect::<String>();
            for found in value.captures_iter(&formulas) {
                let text = found.name("code").or(found.name("number")).unwrap().as_str();
                let is_known =
                    cited.is_empty() || UNITS.contains(&text) || cited.iter().any(|line| line.contains(text));
                assert!(is_known, "{text} in {line}");
            }
        }
    }
}

#[test]
fn follow_ups_have_prepared_turns() {
    for (turn, language) in turns() {
        assert_eq!(turn.follow_ups.of(language).len(), 3);
        for question in turn.follow_ups.of(language) {
            assert!(TURNS.iter().any(|turn| turn.question.of(language) == question), "{question}");
        }
    }
}

#[test]
fn rounds_search_side_by_side_then_read() {
    let question = "What does Lambda Chat do and cost?";
    let calls = |rounds, pages| {
        let reply = PreparedTurn::reply(&situation(question, Language::En, rounds, pages))?;
        Some(reply.calls.into_iter().map(|call| (call.tool, call.value)).collect::<Vec<_>>())
    };
    let searches = ["What is Lambda Chat", "cost of answers on AWS"].map(|query| ("search_web", query.to_owned()));
    assert_eq!(calls(0, Vec::new()).unwrap(), searches);
    let page = "https://lambda-chat.example/en/cost".to_owned();
    assert_eq!(calls(1, vec![found("cost", 2, Language::En)]).unwrap(), [("read_url", page)]);
    for rounds in [1, 2] {
        assert_eq!(calls(rounds, Vec::new()), None, "another search has none of the pages");
    }
}

#[test]
fn similar_questions_get_the_turn_of_their_topic() {
    for (question, expected) in [
        ("what is lambda chat", "What is Lambda Chat?"),
        ("What's this?", "What is Lambda Chat?"),
        ("lambda chat 是什么", "What is Lambda Chat?"),
        ("这个项目开源吗？", "What is Lambda Chat?"),
        ("Hey! Who are you?", "What can you do?"),
        ("你好，请问你是谁？", "What can you do?"),
        ("你有什么功能", "What can you do?"),
        ("How do I deploy this?", "How do I deploy it?"),
        ("Can I run Lambda Chat in Docker?", "How do I deploy it?"),
        ("怎么部署到 AWS", "How do I deploy it?"),
        ("How much does it cost on AWS?", "What does Lambda Chat do and cost?"),
        ("用起来多少钱", "What does Lambda Chat do and cost?"),
        ("Does it work with Ollama?", "How do I configure a real model?"),
        ("支持豆包吗", "How do I configure a real model?"),
        ("文档里说对话保存在哪里？", "Where are conversations kept?"),
        ("Where is my data stored?", "Where are conversations kept?"),
        ("能上传 PDF 吗", "Can I attach images and files?"),
        ("is there an OpenAI compatible API", "How do I use it over HTTP?"),
        ("can I connect an MCP server?", "Can I add my own tools?"),
        ("如何保护隐私？", "Who can see my conversations?"),
        ("怎么保密？", "Who can see my conversations?"),
        ("数据安全吗？", "Who can see my conversations?"),
        ("Is my data private?", "Who can see my conversations?"),
    ] {
        assert_eq!(PreparedTurn::find(question).map(|turn| &*turn.question.en), Some(expected), "{question}");
    }
}

#[test]
fn questions_on_something_else_have_no_turn() {
    for question in [
        "What is the weather in Beijing?",
        "今天北京的天气怎么样？",
        "What is the cost of living in Paris?",
        "help me with Rust lifetimes",
        "Write a poem about the sea",
        "巴黎的房租多少钱一个月？",
        "Who won the last race?",
        "How do vaccines work?",
        "hello",
        "",
    ] {
        assert_eq!(PreparedTurn::find(question).map(|turn| &*turn.question.en), None, "{question}");
    }
}

#[test]
fn follow_ups_belong_to_the_question() {
    let request = |text: &str| {
        let request = Situation { may_search: false, ..situation(text, Language::En, 0, Vec::new()) };
        PreparedTurn::reply(&request).map(|reply| reply.text)
    };
    let first = |text: &str| request(text).and_then(|text| text.lines().next().map(str::to_owned));
    let resume = "### Task:\n写\n<chat_history>\nUSER: 如果断网，回答会丢吗？\nASSISTANT: 1\n</chat_history>";
    assert_eq!(first(resume).as_deref(), Some("Lambda Chat 是什么，用起来要花多少钱？"));
    let unknown = "### Task:\n<chat_history>\nUSER: What is 1 + 1?\nASSISTANT: How do I deploy it?\n</chat_history>";
    assert_eq!(first(unknown).as_deref(), Some("What is Lambda Chat?"));
    assert_eq!(request("What is 1 + 1?"), None);
}

#[test]
fn only_the_first_answer_has_the_note() {
    let answer = |is_noted| {
        let pages = vec![found("deploy", 1, Language::En)];
        let request = Situation { is_noted, ..situation("How do I deploy it?", Language::En, 1, pages) };
        PreparedTurn::reply(&request).unwrap().text
    };
    assert_eq!(answer(false), format!("{}\n\n{}", answer(true), crate::CONVERSATION.texts.note.en));
}

#[test]
fn documents_of_users_are_searched_for_the_question() {
    let question = "How much does it cost?";
    let findings = Some(Findings::DocumentLines { lines: vec![("rent.md:3".to_owned(), "It costs 5.".to_owned())] });
    let first =
        Situation { has_documents: true, rounds: 1, findings, ..situation(question, Language::En, 1, Vec::new()) };
    let call = PreparedTurn::reply(&first).unwrap().calls.remove(0);
    assert_eq!((call.tool, call.value.as_str()), ("grep_search", "(?i)cost"));
    assert_eq!(PreparedTurn::reply(&Situation { rounds: 2, ..first }), None);
}

#[test]
fn prices_are_those_of_the_documentation() {
    let documented = include_str!("../../../../../docs/cost.md");
    let answers = &PreparedTurn::find("What does Lambda Chat do and cost?").unwrap().answer;
    for (row, zh, en) in [
        ("| answer |", "不搜索", "without a search"),
        ("| one search |", "每次回答搜索一次", "with one search"),
        ("| the same search, cached |", "同样的搜索命中缓存", "the same search, cached"),
    ] {
        let line = documented.lines().find(|line| line.starts_with(row)).unwrap();
        let cells: Vec<f64> = line.split('|').filter_map(|cell| cell.trim().parse().ok()).collect();
        let &[_, _, _, _, aws, search, model] = &cells[..] else { panic!("{line}") };
        for (lines, name, language) in [(&answers.zh, zh, Language::Zh), (&answers.en, en, Language::En)] {
            let cited = text_of("cost", language).content.join(" ");
            let [aws, search, model] = [aws, search, model].map(|price| format!("{price:.2}"));
            let expected = format!("| {name} | {aws} | {search} | {model} |");
            assert!(lines.contains(&expected), "{expected}");
            assert!([&aws, &model].iter().all(|price| cited.contains(*price)), "{cited}");
            assert!(search == "0.00" || cited.contains(&search), "{cited}");
        }
    }
}
