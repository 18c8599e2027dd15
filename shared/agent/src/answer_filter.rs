//! What changes in the text and the reasoning of a model before they are emitted.

use domain::Source;
use redaction::StreamRedactor;
use tools::SourceNumbers;

use crate::citation_filter::{CitationFilter, FilteredText};

/// Masks personal data, if the settings want that, and removes citations of sources that do not exist.
#[derive(Default)]
pub(crate) struct AnswerFilter {
    mask: Option<Mask>,
    citations: CitationFilter,
}

struct Mask {
    text: StreamRedactor,
    thinking: StreamRedactor,
}

/// What to emit, in this order.
#[derive(Default)]
pub(crate) struct FilteredAnswer {
    pub(crate) thinking: String,
    pub(crate) cited: Vec<Source>,
    pub(crate) text: String,
}

impl AnswerFilter {
    /// Filters by the sources of a conversation, and masks if there is a redactor.
    pub(crate) fn new(sources: SourceNumbers, redactor: Option<StreamRedactor>) -> Self {
        let mask = redactor.map(|text| Mask { thinking: text.clone(), text });
        Self { mask, citations: CitationFilter::new(sources) }
    }

    /// Filters a delta of text. It ends the reasoning before it.
    pub(crate) fn push_text(&mut self, delta: String) -> FilteredAnswer {
        let Some(mask) = &mut self.mask else { return FilteredAnswer::new(self.citations.push(delta)) };
        let thinking = mask.thinking.finish();
        let filtered = self.citations.push(mask.text.push(&delta));
        FilteredAnswer { thinking, ..FilteredAnswer::new(filtered) }
    }

    /// Filters a delta of reasoning.
    pub(crate) fn push_thinking(&mut self, delta: String) -> FilteredAnswer {
        let thinking = match &mut self.mask {
            Some(mask) => mask.thinking.push(&delta),
            None => delta,
        };
        FilteredAnswer { thinking, ..FilteredAnswer::default() }
    }

    /// Returns what was held back at the end of a reply.
    pub(crate) fn finish(&mut self) -> FilteredAnswer {
        let Some(mask) = &mut self.mask else { return FilteredAnswer::new(self.citations.finish()) };
        let (thinking, rest) = (mask.thinking.finish(), mask.text.finish());
        let (mut filtered, end) = (self.citations.push(rest), self.citations.finish());
        filtered.text.push_str(&end.text);
        filtered.cited.extend(end.cited);
        FilteredAnswer { thinking, ..FilteredAnswer::new(filtered) }
    }

    /// Forgets what is held back, because the reply was dropped.
    pub(crate) fn discard(&mut self) {
        if let Some(mask) = &mut self.mask {
            mask.text.discard();
            mask.thinking.discard();
        }
        self.citations.discard();
    }
}

impl FilteredAnswer {
    fn new(FilteredText { text, cited }: FilteredText) -> Self {
        Self { thinking: String::new(), cited, text }
    }
}
