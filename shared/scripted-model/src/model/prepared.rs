//! Prepared turns: the calls of each round, and an answer that cites what they find.

use std::sync::LazyLock;

use domain::Language;
use regex::{Captures, Regex};
use serde::Deserialize;

use crate::model::findings::{Findings, Page};
use crate::model::planned_call::{PlannedCall, small_talk, take_phrases, terms};
use crate::model::reply::{Reply, citation, document_search, noted_reply, text_reply};
use crate::model::request::{AttachedFiles, Situation};
use crate::{SITE, Texts, spaced};

/// All turns; the first one is about the demo itself.
static TURNS: LazyLock<Vec<PreparedTurn>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../demo/turns.json")).unwrap_or_default());

/// A question that mentions it needs no other topic.
const PRODUCT: &str = "lambda chat";

/// A citation in a prepared answer: the slug of a page and a line of its document.
const CITATION: &str = r" ?\[@(?P<slug>[\w-]+):(?P<line>[0-9]+)\]";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PreparedTurn {
    question: Texts,
    /// What other questions on its topic mention, in lower case.
    phrases: Vec<String>,
    rounds: Vec<Round>,
    /// What finds the cited lines in documents.
    pattern: Texts,
    /// Lines with citations.
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
    /// The reply of the turn that was prepared for the question; `None` if there is none, or its sources were not found.
    pub(super) fn reply(situation: &Situation) -> Option<Reply> {
        let Situation { question, language, may_search, has_documents, rounds, .. } = situation;
        if !may_search && *rounds == 0 {
            return Self::follow_ups(question);
        }
        let is_meant = |turn: &&Self| situation.planned_call.is_none() && turn.is_meant(question, &situation.files);
        let turn = Self::find(question).filter(is_meant)?;
        if *has_documents {
            let call = match rounds {
                0 => PlannedCall::documents(turn.pattern.of(*language).clone()),
                _ => PlannedCall::document_search(question),
            };
            return turn.answer(situation).or_else(|| (*rounds < 2).then(|| document_search(call, *language)));
        }
        let Some(round) = turn.rounds.get(*rounds) else { return turn.answer(situation) };
        round.page.as_deref().is_none_or(|slug| situation.page(slug).is_some()).then(|| round.reply(*language))
    }

    /// The turn with a question, else the one on its topics.
    fn find(question: &str) -> Option<&'static Self> {
        TURNS
            .iter()
            .find(|turn| turn.has_question(question))
            .or_else(|| Self::on_topic(question).filter(|_| small_talk(question).is_none()))
    }

    fn has_question(&self, question: &str) -> bool {
        [&*self.question.zh, &*self.question.en].contains(&question.trim())
    }

    /// Whether a question on its topics is not rather one on the attached files.
    fn is_meant(&self, question: &str, files: &AttachedFiles) -> bool {
        let is_first = TURNS.first().is_some_and(|first| std::ptr::eq(first, self));
        let names_product = spaced(question).contains(PRODUCT) && !files.have_terms_of(question);
        *files == AttachedFiles::default() || is_first || names_product || self.has_question(question)
    }

    /// The turn with most phrases of a question, the last one of equal turns; `None` if the question has as many other
    /// terms, which make it a question on something else.
    fn on_topic(question: &str) -> Option<&'static Self> {
        let turns = TURNS.iter().enumerate();
        let phrases = turns.flat_map(|(at, turn)| turn.phrases.iter().map(move |phrase| (at, phrase.as_str())));
        let (rest, counts) = take_phrases(question, phrases);
        let others = terms(&rest).into_iter().filter(|term| term.chars().count() > 1).count();
        let is_on_topic = spaced(question).contains(PRODUCT) || counts.values().sum::<usize>() > others;
        let (at, _) = counts.iter().max_by_key(|(_, count)| **count)?;
        TURNS.get(*at).filter(|_| is_on_topic)
    }

    /// The answer to a request for questions that may follow an answer, of its turn or of the first one.
    fn follow_ups(request: &str) -> Option<Reply> {
        let (_, history) = request.split_once("<chat_history>\nUSER: ")?;
        let (question, _) = history.split_once("\nASSISTANT: ")?;
        let turn = Self::find(question).or_else(|| TURNS.first())?;
        Some(text_reply(&turn.follow_ups.of(Language::of(question)).join("\n")))
    }

    /// The answer with the citations of what was found; `None` if any is missing.
    fn answer(&self, situation: &Situation) -> Option<Reply> {
        let (text, mut is_complete) = (self.answer.of(situation.language).join("\n"), true);
        let cite = |found: &Captures<'_>| {
            let citation = cite(&found["slug"], &found["line"], situation);
            is_complete &= citation.is_some();
            citation.unwrap_or_default()
        };
        let text = Regex::new(CITATION).ok()?.replace_all(&text, cite).into_owned();
        is_complete.then(|| noted_reply(text, situation))
    }
}

/// The citation of a page that was found, or of its line in documents.
fn cite(slug: &str, line: &str, situation: &Situation) -> Option<String> {
    let language = situation.language;
    if let Some(Findings::DocumentLines { lines }) = &situation.findings {
        let position = format!("{}/{slug}.md:{line}", language.code());
        return lines.iter().any(|(found, _)| *found == position).then(|| format!(" `{position}`"));
    }
    situation.page(slug).map(|page| citation(&page.number, language))
}

impl Situation {
    /// A page of the demo that was found.
    fn page(&self, slug: &str) -> Option<&Page> {
        self.pages.iter().find(|page| page.url == address(slug, self.language))
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
mod tests;
