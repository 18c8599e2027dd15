use domain::Language;
use tools::{CitingResult, RenderedResult, ResultBudget, SourceNumbers};

use crate::page::PageText;
use crate::shortened::shorten_page_text;

/// A page that was read, to be rendered under its number in a turn.
#[derive(Clone, Debug)]
pub(crate) struct CitedPage {
    pub(crate) page: PageText,
    pub(crate) language: Language,
    pub(crate) budget: ResultBudget,
}

impl CitingResult for CitedPage {
    fn render(&self, numbers: &SourceNumbers) -> RenderedResult {
        let Self { page, language, budget } = self;
        let source = numbers.number(&page.title, &page.url).with_excerpt(&page.text);
        RenderedResult {
            content: shorten_page_text(page, *budget).render_for_model(source.index, *language),
            user_text: page.render_for_user(),
            summary: page.summary(),
            sources: vec![source],
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Source;

    use super::*;

    #[test]
    fn page_gets_number_and_is_its_source() {
        let page = PageText::new(None, "https://a.example/x", "intro\n# The  title\nwords\u{200B}").unwrap();
        let source = Source {
            index: 1,
            title: "The title".into(),
            url: "https://a.example/x".into(),
            excerpt: "intro # The title words".into(),
        };
        let cited = CitedPage { page: page.clone(), language: Language::En, budget: ResultBudget::default() };
        let rendered = cited.render(&SourceNumbers::default());
        let expected = "Number: 1\nTitle: The title\nSource: https://a.example/x\nContent: intro\n# The  title\nwords";
        assert_eq!((rendered.content.as_str(), rendered.sources), (expected, vec![source]));
    }
}
