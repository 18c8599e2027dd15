use redaction::StreamRedactor;
use tools::SourceNumbers;

use crate::citation_filter::{CitationFilter, FilteredAnswer};

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

impl AnswerFilter {
    pub(crate) fn new(sources: SourceNumbers, redactor: Option<StreamRedactor>) -> Self {
        let mask = redactor.map(|text| Mask { thinking: text.clone(), text });
        Self { mask, citations: CitationFilter::new(sources) }
    }

    /// Filters a delta of text. It ends the reasoning before it.
    pub(crate) fn push_text(&mut self, delta: String) -> FilteredAnswer {
        let Some(mask) = &mut self.mask else { return self.citations.push(delta) };
        let thinking = mask.thinking.finish();
        FilteredAnswer { thinking, ..self.citations.push(mask.text.push(&delta)) }
    }

    pub(crate) fn push_thinking(&mut self, delta: String) -> FilteredAnswer {
        let thinking = match &mut self.mask {
            Some(mask) => mask.thinking.push(&delta),
            None => delta,
        };
        FilteredAnswer { thinking, ..FilteredAnswer::default() }
    }

    /// Returns what was held back at the end of a reply.
    pub(crate) fn finish(&mut self) -> FilteredAnswer {
        let Some(mask) = &mut self.mask else { return self.citations.finish() };
        let (thinking, rest) = (mask.thinking.finish(), mask.text.finish());
        let (mut filtered, end) = (self.citations.push(rest), self.citations.finish());
        filtered.text.push_str(&end.text);
        filtered.cited.extend(end.cited);
        FilteredAnswer { thinking, ..filtered }
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
