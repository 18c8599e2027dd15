//! Several patterns in one table, which reads a byte in constant time: a text of many candidates must not take long.

use std::collections::HashMap;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Maximum number of states; a larger automaton matches nothing.
const MAX_STATES: usize = 4096;

/// Number of different bytes of a folded text.
const BYTES: usize = 128;

/// The deterministic automaton of patterns that match a text as a whole.
pub(crate) struct Automaton {
    /// Bytes that no pattern distinguishes have the same class.
    classes: Vec<usize>,
    class_count: usize,
    /// The next state by state and class; 0 is the state that nothing can follow.
    next: Vec<usize>,
    /// The patterns that match in each state, one bit each.
    matches: Vec<u16>,
}

impl Automaton {
    /// The state before the first byte.
    pub(crate) const START: usize = 1;

    /// Compiles at most 16 patterns in which white space and case have no meaning.
    pub(crate) fn new(patterns: &[&str]) -> Self {
        let dead = || Self { classes: vec![0; BYTES], class_count: 1, next: vec![0; 2], matches: vec![0; 2] };
        Nodes::parse(patterns).and_then(|(nodes, start)| nodes.determinize(start)).unwrap_or_else(dead)
    }

    #[cfg(test)]
    pub(crate) fn state_count(&self) -> usize {
        self.matches.len()
    }

    pub(crate) fn step(&self, state: usize, byte: u8) -> usize {
        let class = self.classes.get(usize::from(byte)).copied().unwrap_or_default();
        self.next.get(state * self.class_count + class).copied().unwrap_or_default()
    }

    /// The patterns that match what was read until this state: bit 0 is the first one.
    pub(crate) fn matches(&self, state: usize) -> u16 {
        self.matches.get(state).copied().unwrap_or_default()
    }

    /// The longest beginning of a text that matches and may end where it does: its length and patterns.
    pub(crate) fn longest(&self, text: &[u8], may_end: impl Fn(&[u8]) -> bool) -> Option<(usize, u16)> {
        let (mut state, mut longest) = (Self::START, None);
        for (at, byte) in text.iter().enumerate() {
            #[cfg(test)]
            crate::tests::count_work(1);
            state = self.step(state, *byte);
            if state == 0 {
                break;
            }
            let matches = self.matches(state);
            if matches != 0 && may_end(text.get(at + 1..).unwrap_or_default()) {
                longest = Some((at + 1, matches));
            }
        }
        longest
    }
}

/// The nondeterministic automaton.
#[derive(Default)]
struct Nodes(Vec<Node>);

enum Node {
    /// One byte in one of the ranges, then a node.
    Byte(Vec<(u8, u8)>, usize),
    /// One of several nodes.
    Either(Vec<usize>),
    /// The end of the patterns with these bits.
    End(u16),
}

impl Nodes {
    fn parse(patterns: &[&str]) -> Option<(Self, usize)> {
        let mut nodes = Self::default();
        let mut parser = ParserBuilder::new();
        parser.unicode(false).utf8(false).ignore_whitespace(true).case_insensitive(true);
        let mut starts = Vec::new();
        for (index, pattern) in patterns.iter().enumerate() {
            let end = nodes.push(Node::End(1 << index));
            starts.push(nodes.add(&parser.build().parse(pattern).ok()?, end)?);
        }
        let start = nodes.push(Node::Either(starts));
        Some((nodes, start))
    }

    fn push(&mut self, node: Node) -> usize {
        self.0.push(node);
        self.0.len() - 1
    }

    /// Adds a part of a pattern before `next`; returns its first node. There are no assertions.
    fn add(&mut self, part: &Hir, next: usize) -> Option<usize> {
        match part.kind() {
            HirKind::Literal(literal) => {
                let bytes = literal.0.iter().rev();
                Some(bytes.fold(next, |next, byte| self.push(Node::Byte(vec![(*byte, *byte)], next))))
            }
            HirKind::Class(class) => {
                let ranges = match class {
                    Class::Bytes(class) => class.clone(),
                    Class::Unicode(class) => class.to_byte_class()?,
                };
                let ranges = ranges.ranges().iter().map(|range| (range.start(), range.end())).collect();
                Some(self.push(Node::Byte(ranges, next)))
            }
            HirKind::Repetition(repetition) => {
                let mut first = next;
                if let Some(max) = repetition.max {
                    for _ in repetition.min..max {
                        let part = self.add(&repetition.sub, first)?;
                        first = self.push(Node::Either(vec![part, next]));
                    }
                } else {
                    first = self.push(Node::Either(vec![next]));
                    let part = self.add(&repetition.sub, first)?;
                    *self.0.get_mut(first)? = Node::Either(vec![part, next]);
                }
                (0..repetition.min).try_fold(first, |first, _| self.add(&repetition.sub, first))
            }
            HirKind::Capture(capture) => self.add(&capture.sub, next),
            HirKind::Concat(parts) => parts.iter().rev().try_fold(next, |next, part| self.add(part, next)),
            HirKind::Alternation(parts) => {
                let parts = parts.iter().map(|part| self.add(part, next)).collect::<Option<_>>()?;
                Some(self.push(Node::Either(parts)))
            }
            other => (*other == HirKind::Empty).then_some(next),
        }
    }

    /// The nodes that read a byte or end, from some nodes on; in order.
    fn closure(&self, mut nodes: Vec<usize>) -> Vec<usize> {
        let (mut seen, mut closure) = (vec![false; self.0.len()], Vec::new());
        while let Some(node) = nodes.pop() {
            if seen.get_mut(node).is_none_or(|seen| std::mem::replace(seen, true)) {
                continue;
            }
            match self.0.get(node) {
                Some(Node::Either(parts)) => nodes.extend(parts),
                _ => closure.push(node),
            }
        }
        closure.sort_unstable();
        closure
    }

    /// The class of each byte, and one byte of each class.
    fn classes(&self) -> (Vec<usize>, Vec<u8>) {
        let mut begins = [false; BYTES];
        for node in &self.0 {
            let Node::Byte(ranges, _) = node else { continue };
            for limit in ranges.iter().flat_map(|(low, high)| [usize::from(*low), usize::from(*high) + 1]) {
                begins.get_mut(limit).into_iter().for_each(|begin| *begin = true);
            }
        }
        let (mut classes, mut members) = (Vec::new(), Vec::new());
        for (byte, begins) in (0..).zip(begins) {
            if begins || byte == 0 {
                members.push(byte);
            }
            classes.push(members.len() - 1);
        }
        (classes, members)
    }

    fn determinize(&self, start: usize) -> Option<Automaton> {
        let (classes, members) = self.classes();
        let mut sets = vec![Vec::new(), self.closure(vec![start])];
        let mut states: HashMap<Vec<usize>, usize> = sets.iter().cloned().zip(0..).collect();
        let (mut next, mut matches) = (Vec::new(), Vec::new());
        while let Some(set) = sets.get(matches.len()).cloned().filter(|_| sets.len() <= MAX_STATES) {
            let nodes = || set.iter().filter_map(|node| self.0.get(*node));
            // Most digits lead to the same state.
            let (mut last_targets, mut state) = (Vec::new(), 0);
            for byte in &members {
                let is_read = |ranges: &[(u8, u8)]| ranges.iter().any(|(low, high)| (low..=high).contains(&byte));
                let step = |node: &Node| match node {
                    Node::Byte(ranges, next) if is_read(ranges) => Some(*next),
                    _ => None,
                };
                let targets: Vec<usize> = nodes().filter_map(step).collect();
                if targets != last_targets {
                    state = *states.entry(self.closure(targets.clone())).or_insert_with_key(|target| {
                        sets.push(target.clone());
                        sets.len() - 1
                    });
                    last_targets = targets;
                }
                next.push(state);
            }
            matches.push(nodes().fold(0, |bits, node| if let Node::End(end) = node { bits | end } else { bits }));
        }
        (matches.len() == sets.len()).then_some(Automaton { classes, class_count: members.len(), next, matches })
    }
}
