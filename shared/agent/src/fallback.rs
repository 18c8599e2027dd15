//! What is said when the model itself says nothing.

use std::fmt::Write;

use domain::Source;

const SORRY: &str = "Sorry, there is no answer to this. Please try to ask in another way.";
const SORRY_ZH: &str = "抱歉，这个问题没有得到回答，请换一种说法再试一次。";

/// Why the model says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// It wrote an empty answer.
    Own,
    /// There was no time left for it.
    OutOfTime,
}

/// An answer made of the pages that were found, in the language of the question.
pub(crate) fn answer(question: &str, sources: &[Source], silence: Silence) -> String {
    let chinese = question.chars().any(|character| ('\u{4E00}'..='\u{9FFF}').contains(&character));
    if sources.is_empty() {
        let sorry = if chinese { SORRY_ZH } else { SORRY };
        return sorry.to_owned();
    }
    let mut text = match (chinese, silence) {
        (true, Silence::Own) => "模型没有写出回答。以下是搜索到的相关网页：\n".to_owned(),
        (true, Silence::OutOfTime) => "时间已到，模型没有来得及写出回答。以下是搜索到的相关网页：\n".to_owned(),
        (false, Silence::Own) => "The model wrote no answer. These are the pages that the search found:\n".to_owned(),
        (false, Silence::OutOfTime) => {
            "Time ran out before the model wrote an answer. These are the pages that the search found:\n".to_owned()
        }
    };
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
    fn the_answer_lists_what_was_found_in_the_language_of_the_question() {
        let sources = [Source { index: 1, title: "A [b]".into(), url: "https://a.example".into() }];
        assert_eq!(
            answer("今天？", &sources, Silence::Own),
            "模型没有写出回答。以下是搜索到的相关网页：\n\n1. [A  b](https://a.example)"
        );
        assert!(answer("today?", &[], Silence::Own).starts_with("Sorry"));
    }

    #[test]
    fn f091_an_answer_that_time_allowed_no_model_to_write_says_so() {
        let sources = [Source { index: 1, title: "A".into(), url: "https://a.example/x_(y)".into() }];
        let links = "\n\n1. [A](https://a.example/x_%28y%29)";
        let told = ["今天？", "today?"].map(|question| answer(question, &sources, Silence::OutOfTime));
        let expected = [
            format!("时间已到，模型没有来得及写出回答。以下是搜索到的相关网页：{links}"),
            format!("Time ran out before the model wrote an answer. These are the pages that the search found:{links}"),
        ];
        assert_eq!(told, expected);
    }
}
