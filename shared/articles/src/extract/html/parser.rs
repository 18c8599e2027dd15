use html5ever::driver::{ParseOpts, parse_document};
use html5ever::tendril::{SliceExt, StrTendril, TendrilSink};
use scraper::{Html, HtmlTreeSink};

/// The deepest nesting of elements. The parser's time grows with the square of the nesting.
pub(super) const MAX_DEPTH: usize = 1_000;

/// How many bytes are parsed between two checks of the nesting.
const STEP_BYTES: usize = 4 * 1024;

/// Parses a page; `None` if its elements are nested too deeply.
pub(super) fn parse(html: &str) -> Option<Html> {
    let mut parser = parse_document(HtmlTreeSink::new(Html::new_document()), ParseOpts::default());
    let mut rest = html;
    while !rest.is_empty() {
        let (step, more) = rest.split_at(rest.floor_char_boundary(STEP_BYTES));
        let step: StrTendril = step.to_tendril();
        parser.process(step);
        if depth(&parser.tokenizer.sink.sink.0.borrow()) > MAX_DEPTH {
            return None;
        }
        rest = more;
    }
    Some(parser.finish())
}

/// The nesting of the newest node.
fn depth(page: &Html) -> usize {
    page.tree.nodes().next_back().map_or(0, |node| node.ancestors().count())
}
