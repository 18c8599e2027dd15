//! What is said when the model itself says nothing.

use std::fmt::Write;

use conversation::Source;

/// An answer made of the pages that were found, in the language of the question.
pub(crate) fn answer(question: &str, sources: &[Source]) -> String {
    let chinese = question.chars().any(|character| ('\u{4E00}'..='\u{9FFF}').contains(&character));
    let mut text = match (chinese, sources.is_empty()) {
        (true, true) => "抱歉，这个问题没有得到回答，请换一种说法再试一次。".to_owned(),
        (true, false) => "模型没有写出回答。以下是搜索到的相关网页：\n".to_owned(),
        (false, true) => "Sorry, there is no answer to this. Please try to ask in another way.".to_owned(),
        (false, false) => "The model wrote no answer. These are the pages that the search found:\n".to_owned(),
    };
    for source in sources {
        let title = source.title.replace(['[', ']'], " ");
        let _ = write!(text, "\n{}. [{}]({})", source.index, title.trim(), source.url);
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
            answer("今天？", &sources),
            "模型没有写出回答。以下是搜索到的相关网页：\n\n1. [A  b](https://a.example)"
        );
        assert!(answer("today?", &[]).starts_with("Sorry"));
    }
}
