use std::collections::HashSet;
use std::fmt::Write;

use domain::{Language, Source, TurnAccumulator};
use prompts::AgentTexts;

const MAX_PAGES: usize = 10;

/// The pages to list: those that the text cites, then the best of each search, which lists its best ones first.
pub(crate) fn pages(turn: &TurnAccumulator) -> Vec<&Source> {
    let results = turn.calls.iter().filter_map(|call| call.outcome.as_ref()).map(|outcome| &outcome.sources);
    let ranked = results.flat_map(|sources| sources.iter().enumerate());
    let others = turn.sources.iter().map(|source| (usize::MAX, source));
    let key = |(rank, source): &(usize, &Source)| (!turn.content.contains(&format!("[{}]", source.index)), *rank);
    let mut pages: Vec<_> = ranked.chain(others).collect();
    pages.sort_by_cached_key(key);
    let mut seen = HashSet::new();
    pages.into_iter().map(|(_, source)| source).filter(|source| seen.insert(&source.url)).take(MAX_PAGES).collect()
}

/// An answer that lists the pages that were found and states the `reason`, in the language of the user message.
pub(crate) fn answer(question: &str, sources: &[&Source], reason: fn(&AgentTexts) -> &str) -> String {
    let texts = AgentTexts::of(Language::of(question));
    if sources.is_empty() {
        return texts.no_answer.to_owned();
    }
    let mut text = format!("{}\n", reason(texts));
    for source in sources {
        let url = source.url.replace('(', "%28").replace(')', "%29");
        let title = source.title.replace(['[', ']'], " ");
        let _ = write!(text, "\n{}. [{}]({})", source.index, title.trim(), url);
    }
    text
}

#[cfg(test)]
mod tests {
    use domain::{CallPosition, CallState, ToolCall, ToolOutcome};
    use serde_json::json;

    use super::*;

    #[test]
    fn fallback_lists_sources_in_language_of_question() {
        let source =
            Source { index: 1, title: "A [b]".into(), url: "https://a.example".into(), excerpt: String::new() };
        assert_eq!(
            answer("今天？", &[&source], |texts| texts.empty_reply),
            "模型没有写出回答。以下是搜索到的相关网页：\n\n1. [A  b](https://a.example)"
        );
        assert!(answer("today?", &[], |texts| texts.empty_reply).starts_with("Sorry"));
    }

    #[test]
    fn f091_fallback_states_that_time_ran_out() {
        let source =
            Source { index: 1, title: "A".into(), url: "https://a.example/x_(y)".into(), excerpt: String::new() };
        let links = "\n\n1. [A](https://a.example/x_%28y%29)";
        let answers = ["今天？", "today?"].map(|question| answer(question, &[&source], |texts| texts.out_of_time));
        let expected = [
            format!("时间已到，模型没有来得及写出回答。以下是搜索到的相关网页：{links}"),
            format!("Time ran out before the model wrote an answer. These are the pages that the search found:{links}"),
        ];
        assert_eq!(answers, expected);
    }

    #[test]
    fn cited_and_best_pages_come_first() {
        let source = |index: usize| Source {
            index,
            title: "t".into(),
            url: format!("https://{index}.example"),
            excerpt: String::new(),
        };
        let search = |first: usize| {
            let outcome = ToolOutcome {
                id: first.to_string(),
                name: "search_web".into(),
                ok: true,
                cached: false,
                duration_ms: 0,
                summary: String::new(),
                sources: (first..first + 10).map(source).collect(),
                error: None,
            };
            let call = ToolCall { id: first.to_string(), name: "search_web".into(), arguments: json!({}) };
            CallState { call, outcome: Some(outcome), position: CallPosition::default() }
        };
        let turn = TurnAccumulator {
            content: "已知 [25]。".into(),
            calls: vec![search(1), search(11), search(21), search(11)],
            sources: vec![source(90)],
            ..TurnAccumulator::default()
        };
        let indexes: Vec<_> = pages(&turn).iter().map(|source| source.index).collect();
        assert_eq!(indexes, [25, 1, 11, 21, 2, 12, 22, 3, 13, 23]);
    }
}
