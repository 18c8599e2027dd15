//! Answers for users when the model wrote none.

use std::fmt::Write;

use domain::Source;

use domain::Language;
use prompts::AgentTexts;

/// Why the model wrote no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FallbackReason {
    /// Its reply was empty.
    EmptyReply,
    /// There was no time left for it.
    OutOfTime,
}

/// An answer that lists the pages that were found, in the language of the user message.
pub(crate) fn answer(question: &str, sources: &[Source], reason: FallbackReason) -> String {
    let texts = AgentTexts::of(Language::of(question));
    if sources.is_empty() {
        return texts.no_answer.to_owned();
    }
    let introduction = match reason {
        FallbackReason::EmptyReply => texts.empty_reply,
        FallbackReason::OutOfTime => texts.out_of_time,
    };
    let mut text = format!("{introduction}\n");
    for source in sources {
        let url = source.url.replace('(', "%28").replace(')', "%29");
        let title = source.title.replace(['[', ']'], " ");
        let _ = write!(text, "\n{}. [{}]({})", source.index, title.trim(), url);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fallback_lists_sources_in_language_of_question() {
        let sources =
            [Source { index: 1, title: "A [b]".into(), url: "https://a.example".into(), excerpt: String::new() }];
        assert_eq!(
            answer("今天？", &sources, FallbackReason::EmptyReply),
            "模型没有写出回答。以下是搜索到的相关网页：\n\n1. [A  b](https://a.example)"
        );
        assert!(answer("today?", &[], FallbackReason::EmptyReply).starts_with("Sorry"));
    }

    #[test]
    fn f091_fallback_states_that_time_ran_out() {
        let sources =
            [Source { index: 1, title: "A".into(), url: "https://a.example/x_(y)".into(), excerpt: String::new() }];
        let links = "\n\n1. [A](https://a.example/x_%28y%29)";
        let answers = ["今天？", "today?"].map(|question| answer(question, &sources, FallbackReason::OutOfTime));
        let expected = [
            format!("时间已到，模型没有来得及写出回答。以下是搜索到的相关网页：{links}"),
            format!("Time ran out before the model wrote an answer. These are the pages that the search found:{links}"),
        ];
        assert_eq!(answers, expected);
    }
}
