//! Prepared turns: the calls of each round, and an answer that cites what they find.

use std::sync::LazyLock;

use domain::Language;
use serde::Deserialize;

use crate::demo::model::findings::Page;
use crate::demo::model::planned_call::PlannedCall;
use crate::demo::model::reply::{Reply, text_reply};
use crate::demo::model::request::Situation;
use crate::demo::{SITE, Texts};

static TURNS: LazyLock<Vec<PreparedTurn>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../demo/turns.json")).unwrap_or_default());

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PreparedTurn {
    question: Texts,
    rounds: Vec<Round>,
    /// Lines; `[@SLUG]` cites a page.
    answer: Texts<Vec<String>>,
    follow_ups: Texts<Vec<String>>,
}

/// Calls that run side by side: searches, or a page that is read.
#[derive(Debug, Deserialize)]
struct Round {
    thinking: Texts,
    #[serde(default)]
    queries: Texts<Vec<String>>,
    page: Option<String>,
}

impl PreparedTurn {
    /// The reply of the turn that was prepared for the question; `None` if there is none, or its pages were not found.
    pub(super) fn reply(situation: &Situation) -> Option<Reply> {
        let Situation { question, language, may_search, has_documents, .. } = situation;
        if !may_search && situation.rounds == 0 {
            return Self::follow_ups(question);
        }
        let turn = TURNS.iter().find(|turn| turn.question.of(*language) == question.trim())?;
        let is_found = |page: &str| situation.pages.iter().any(|found| found.url == address(page, *language));
        let Some(round) = turn.rounds.get(situation.rounds) else { return turn.answer(situation) };
        let is_possible = !has_documents && round.page.as_deref().is_none_or(is_found);
        is_possible.then(|| round.reply(*language))
    }

    /// The answer to a request for questions that may follow a prepared turn, whose question it contains as a line.
    fn follow_ups(request: &str) -> Option<Reply> {
        let texts = TURNS.iter().flat_map(|turn| {
            [Language::Zh, Language::En].map(|language| (turn.question.of(language), turn.follow_ups.of(language)))
        });
        let (_, follow_ups) = texts.into_iter().find(|(question, _)| request.lines().any(|line| line == *question))?;
        Some(text_reply(&follow_ups.join("\n")))
    }

    fn answer(&self, Situation { language, pages, .. }: &Situation) -> Option<Reply> {
        let cite = |text: String, found: &Page| {
            let slug = found.url.strip_prefix(SITE).and_then(|path| path.split_once('/'));
            slug.map_or(text.clone(), |(_, slug)| text.replace(&format!("[@{slug}]"), &format!("[{}]", found.number)))
        };
        let text = pages.iter().fold(self.answer.of(*language).join("\n"), cite);
        (!text.contains("[@")).then(|| text_reply(&text))
    }
}

impl Round {
    fn reply(&self, language: Language) -> Reply {
        let searches = self.queries.of(language).iter().cloned().map(PlannedCall::search);
        let page = self.page.iter().map(|slug| PlannedCall::page(address(slug, language)));
        let thinking = self.thinking.of(language).clone();
        Reply { thinking, calls: searches.chain(page).collect(), ..Reply::default() }
    }
}

fn address(slug: &str, language: Language) -> String {
    format!("{SITE}{}/{slug}", language.code())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::PAGES;
    use crate::demo::model::request::AttachedFiles;

    const LANGUAGES: [Language; 2] = [Language::Zh, Language::En];

    /// A page that a search has found, with another number than it has in the list.
    fn found(slug: &str, number: usize, language: Language) -> Page {
        Page { number: number.to_string(), url: address(slug, language), ..Page::default() }
    }

    fn situation(question: &str, language: Language, rounds: usize, pages: Vec<Page>) -> Situation {
        let question = question.to_owned();
        let (has_documents, planned_call, findings) = (false, None, None);
        let files = AttachedFiles::default();
        Situation { question, language, may_search: true, has_documents, planned_call, rounds, pages, findings, files }
    }

    #[test]
    fn answer_cites_numbers_of_found_pages() {
        for (turn, language) in TURNS.iter().flat_map(|turn| LANGUAGES.map(|language| (turn, language))) {
            let question = turn.question.of(language);
            assert_eq!(Language::of(question), language, "{question}");
            let slugs = ["overview", "cost", "limits", "resume"];
            let pages = slugs.iter().zip(7..).map(|(slug, number)| found(slug, number, language)).collect();
            let request = situation(question, language, turn.rounds.len(), pages);
            let answer = PreparedTurn::reply(&request).unwrap();
            assert!(answer.calls.is_empty() && !answer.text.contains('@'), "{}", answer.text);
            let numbers = if answer.text.contains('|') { ["[7]", "[8]", "[9]"] } else { ["[10]"; 3] };
            assert!(numbers.iter().all(|number| answer.text.contains(number)), "{}", answer.text);
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
    fn follow_ups_belong_to_prepared_turns() {
        let request = |question: &str| {
            let text = format!("A user asked:\n{question}\n\nThe answer was:\n1");
            let request = Situation { may_search: false, ..situation(&text, Language::En, 0, Vec::new()) };
            PreparedTurn::reply(&request).map(|reply| reply.text)
        };
        assert!(request("如果断网，回答会丢吗？").is_some_and(|text| text.starts_with("Lambda Chat 是什么")));
        assert_eq!(request("What is 1 + 1?"), None);
    }

    #[test]
    fn prices_are_those_of_the_documentation() {
        let documented = include_str!("../../../../../docs/cost.md");
        let answers = &TURNS[0].answer;
        for (row, zh, en) in [
            ("| answer |", "不搜索", "without a search"),
            ("| one search |", "每次回答搜索一次", "with one search"),
            ("| the same search, cached |", "同样的搜索命中缓存", "the same search, cached"),
        ] {
            let line = documented.lines().find(|line| line.starts_with(row)).unwrap();
            let cells: Vec<f64> = line.split('|').filter_map(|cell| cell.trim().parse().ok()).collect();
            let &[_, _, _, _, aws, search, model] = &cells[..] else { panic!("{line}") };
            let cited = &PAGES.iter().find(|page| page.slug == "cost").unwrap().texts;
            let cited = [&cited.zh, &cited.en].map(|text| text.content.join(" "));
            for (lines, name, cited) in [(&answers.zh, zh, &cited[0]), (&answers.en, en, &cited[1])] {
                let [aws, search, model] = [aws, search, model].map(|price| format!("{price:.2}"));
                let expected = format!("| {name} | {aws} | {search} | {model} |");
                assert!(lines.contains(&expected), "{expected}");
                assert!([aws, model].iter().all(|price| cited.contains(price)), "{cited}");
                assert!(search == "0.00" || cited.contains(&search), "{cited}");
            }
        }
    }
}
