//! A parser of pages whose work is linear in their length.
//!
//! The tokenizer compares each attribute of a tag with the earlier ones, and the tree builder goes through the open elements
//! at most tags. At `</body>` or a new paragraph it can reopen hundreds of elements. So the page is parsed tag by tag, with
//! limits on all of these.

use std::cell::Cell;

use ego_tree::NodeId;
use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::SliceExt;
use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{Tracer, TreeBuilder, TreeBuilderOpts, TreeSink};
use scraper::{Html, HtmlTreeSink};

use crate::document::{ExtractError, MAX_ATTRIBUTES, MAX_DEPTH, MAX_NODES};

/// The longest piece that is parsed at a time, in bytes.
const MAX_PIECE_BYTES: usize = 1024;

/// The maximum sum over all tags of the elements that are open at each. A page of 100,000 tags with 50 open elements each
/// has 5 million.
const MAX_WORK: usize = 10_000_000;

pub(super) fn parse(html: &str) -> Result<Html, ExtractError> {
    let mut parser = PageParser::new();
    for piece in pieces(html) {
        parser.push(piece)?;
    }
    Ok(parser.finish())
}

/// The parts of a page: `<` is nowhere but at their beginnings.
fn pieces(html: &str) -> impl Iterator<Item = &str> {
    let mut rest = html;
    std::iter::from_fn(move || {
        let next = rest.bytes().take(MAX_PIECE_BYTES).skip(1).position(|byte| byte == b'<');
        let end = rest.floor_char_boundary(next.map_or(MAX_PIECE_BYTES, |next| next + 1));
        let (piece, more) = rest.split_at(end);
        rest = more;
        (!piece.is_empty()).then_some(piece)
    })
}

struct PageParser {
    tokenizer: Tokenizer<TreeTokens>,
    input: BufferQueue,
    /// The attributes of the tag that may have begun and not ended.
    open_tag: Option<AttributeCounter>,
    /// How many nodes were counted, and the sum of them and of their attributes.
    counted_nodes: usize,
    size: usize,
    work: usize,
}

/// The tree builder, and the number of tokens that it has received.
struct TreeTokens {
    builder: TreeBuilder<NodeId, HtmlTreeSink>,
    count: Cell<usize>,
}

/// Counts the elements that the tree builder works with: those that are open, and those that it would reopen.
struct OpenElements(Cell<usize>);

impl Tracer for OpenElements {
    type Handle = NodeId;

    fn trace_handle(&self, _: &NodeId) {
        self.0.set(self.0.get() + 1);
    }
}

impl TokenSink for TreeTokens {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        if !matches!(token, Token::ParseError(_)) {
            self.count.set(self.count.get() + 1);
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl PageParser {
    fn new() -> Self {
        let builder = TreeBuilder::new(HtmlTreeSink::new(Html::new_document()), TreeBuilderOpts::default());
        let tokens = TreeTokens { builder, count: Cell::new(0) };
        let tokenizer = Tokenizer::new(tokens, TokenizerOpts::default());
        Self { tokenizer, input: BufferQueue::default(), open_tag: None, counted_nodes: 0, size: 0, work: 0 }
    }

    fn push(&mut self, piece: &str) -> Result<(), ExtractError> {
        if self.open_tag.is_none() && begins_tag(piece) {
            self.open_tag = Some(AttributeCounter::default());
        }
        if self.open_tag.as_mut().is_some_and(|tag| tag.push(piece)) {
            self.open_tag = None;
        }
        let before = self.tokenizer.sink.count.get();
        self.input.push_back(piece.to_tendril());
        while !matches!(self.tokenizer.feed(&self.input), TokenizerResult::Done) {}
        if self.tokenizer.sink.count.get() > before {
            // It was a tag and is complete, or text of a script or a comment.
            self.open_tag = None;
        }
        // A tag is rejected before its end only, when no token shows that it is text: so a few more may pass.
        if self.open_tag.as_ref().is_some_and(|tag| tag.count > MAX_ATTRIBUTES) {
            return Err(ExtractError::TooManyAttributes);
        }
        if piece.starts_with('<') { self.check_tree() } else { Ok(()) }
    }

    fn check_tree(&mut self) -> Result<(), ExtractError> {
        let open = OpenElements(Cell::new(0));
        let builder = &self.tokenizer.sink.builder;
        builder.trace_handles(&open);
        let page = builder.sink.0.borrow();
        let (open, nodes) = (open.0.get(), page.tree.nodes());
        let count = nodes.len();
        let new = nodes.rev().take(count - self.counted_nodes.min(count));
        self.size +=
            new.map(|node| 1 + node.value().as_element().map_or(0, |element| element.attrs.len())).sum::<usize>();
        (self.counted_nodes, self.work) = (count, self.work + open);
        match () {
            () if open > MAX_DEPTH => Err(ExtractError::TooDeep),
            () if self.size > MAX_NODES => Err(ExtractError::TooManyNodes),
            () if self.work > MAX_WORK => Err(ExtractError::TooNested),
            () => Ok(()),
        }
    }

    fn finish(self) -> Html {
        self.tokenizer.end();
        self.tokenizer.sink.builder.sink.finish()
    }
}

fn begins_tag(piece: &str) -> bool {
    let name = piece.strip_prefix("</").or_else(|| piece.strip_prefix('<'));
    name.is_some_and(|name| name.starts_with(|first: char| first.is_ascii_alphabetic()))
}

/// Counts the attributes of a tag, from its `<`.
///
/// Source: HTML standard, 13.2.5 "Tokenization", from the tag name state on, as of November 2026.
#[derive(Debug, Default)]
struct AttributeCounter {
    state: State,
    /// How many attributes have begun.
    count: usize,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Open,
    TagName,
    BeforeName,
    Name,
    AfterName,
    BeforeValue,
    Unquoted,
    Quoted(u8),
}

impl AttributeCounter {
    /// Reads the next part of the tag; returns whether the tag ends in it.
    fn push(&mut self, text: &str) -> bool {
        text.bytes().any(|byte| self.push_byte(byte))
    }

    fn push_byte(&mut self, byte: u8) -> bool {
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0C');
        let state = match (self.state, byte) {
            (State::Quoted(quote), _) if byte == quote => State::BeforeName,
            (quoted @ State::Quoted(_), _) => quoted,
            (_, b'>') => return true,
            (State::Open, b'<' | b'/') => State::Open,
            (State::Open, _) => State::TagName,
            (State::TagName | State::Unquoted, _) if is_space => State::BeforeName,
            (State::TagName | State::BeforeName | State::Name | State::AfterName, b'/') => State::BeforeName,
            (State::Name | State::AfterName, _) if is_space => State::AfterName,
            (State::Name | State::AfterName, b'=') => State::BeforeValue,
            (State::BeforeValue, b'"' | b'\'') => State::Quoted(byte),
            (State::BeforeValue, _) if !is_space => State::Unquoted,
            (State::BeforeName, _) if is_space => State::BeforeName,
            (State::BeforeName | State::AfterName, _) => {
                self.count += 1;
                State::Name
            }
            (same, _) => same,
        };
        self.state = state;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_counted_as_browsers_do() {
        for (tag, count, ends) in [
            ("<a>", 0, true),
            ("</a b>", 1, true),
            ("<a b c=d e='f g' h=\"i j\">", 4, true),
            ("<a/b/c/d", 3, false),
            ("<a b = c d =e f= g h", 4, false),
            ("<a b='c'd=\"e\"f", 3, false),
            ("<a ='x y z'", 3, false),
            ("<a b=c/d e", 2, false),
            ("<a b='<c d>' e", 2, false),
            ("<a b=\"c' d", 1, false),
            ("<a b\n\t\x0Cc", 2, false),
        ] {
            let mut counter = AttributeCounter::default();
            assert_eq!((counter.push(tag), counter.count), (ends, count), "{tag}");
        }
    }
}
