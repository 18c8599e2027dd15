//! The tree of a conversation: questions with their answers; a question may also follow one without an answer.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use store::{NewMessage, Role};

use super::Reason;

/// A node of a tree as it was read.
pub(super) struct Node {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    /// Without its parent; `None` for a node that is not part of the conversation, such as a system prompt.
    pub(super) message: Option<NewMessage>,
}

/// The messages of a tree by their times, each after the one that it follows, and the index of the last one of the shown
/// branch. Those of one time keep the order of their nodes, branch by branch.
///
/// What an assistant wrote before the first question is left out. A text that follows one of the same role continues it, or is a
/// sibling of it if the other has a branch already; with `keeps_questions` a question stays apart. A question with nothing after it
/// gets an interrupted answer.
pub(super) fn build(
    mut nodes: Vec<Node>,
    current: Option<&str>,
    keeps_questions: bool,
) -> Result<(Vec<NewMessage>, usize), Reason> {
    let (roots, children) = children(&nodes)?;
    let mut messages: Vec<NewMessage> = Vec::with_capacity(nodes.len());
    let (mut visited, mut last) = (0, None);
    let mut open: Vec<(usize, Option<usize>)> = roots.into_iter().rev().map(|root| (root, None)).collect();
    while let Some((at, above)) = open.pop() {
        visited += 1;
        let own =
            nodes[at].message.take().and_then(|message| add(&mut messages, message, above, keeps_questions)).or(above);
        if current == Some(nodes[at].id.as_str()) {
            last = own;
        }
        open.extend(children[at].iter().rev().map(|child| (*child, own)));
    }
    if visited < nodes.len() {
        return Err("Its messages refer to each other in a circle");
    }
    answer_questions(&mut messages);
    let mut last = last.or(messages.len().checked_sub(1)).ok_or("It has no message of a user")?;
    for (at, message) in messages.iter().enumerate() {
        if message.parent == Some(last) {
            last = at;
        }
    }
    Ok(by_time(messages, last))
}

/// The messages by their times, each after the one that it follows, and where the one with the index `last` is.
fn by_time(mut messages: Vec<NewMessage>, last: usize) -> (Vec<NewMessage>, usize) {
    let mut followers = vec![Vec::new(); messages.len()];
    let mut open = BinaryHeap::new();
    for (at, message) in messages.iter().enumerate() {
        match message.parent {
            Some(parent) => followers[parent].push(Reverse((message.created_at, at))),
            None => open.push(Reverse((message.created_at, at))),
        }
    }
    let (mut order, mut positions) = (Vec::with_capacity(messages.len()), vec![0; messages.len()]);
    while let Some(Reverse((_, at))) = open.pop() {
        positions[at] = order.len();
        order.push(at);
        open.extend(followers[at].drain(..));
    }
    for message in &mut messages {
        message.parent = message.parent.map(|parent| positions[parent]);
    }
    let mut messages: Vec<_> = positions.iter().zip(messages).collect();
    messages.sort_unstable_by_key(|(position, _)| *position);
    (messages.into_iter().map(|(_, message)| message).collect(), positions[last])
}

/// Adds a message after the one with the index `above`; returns its index, or `None` if it is left out.
fn add(
    messages: &mut Vec<NewMessage>,
    message: NewMessage,
    above: Option<usize>,
    keeps_questions: bool,
) -> Option<usize> {
    let joins = !keeps_questions || message.role == Role::Assistant;
    let same_role = above.filter(|above| joins && messages[*above].role == message.role);
    if let Some(above) = same_role.filter(|above| above + 1 == messages.len()) {
        let continued = &mut messages[above];
        continued.content.push_str("\n\n");
        continued.content.push_str(&message.content);
        continued.sources.extend(message.sources);
        continued.is_complete = message.is_complete;
        return Some(above);
    }
    let parent = same_role.map_or(above, |above| messages[above].parent);
    if parent.is_none() && message.role == Role::Assistant {
        return None;
    }
    messages.push(NewMessage { parent, ..message });
    Some(messages.len() - 1)
}

fn answer_questions(messages: &mut Vec<NewMessage>) {
    let mut is_answered = vec![false; messages.len()];
    for parent in messages.iter().filter_map(|message| message.parent) {
        is_answered[parent] = true;
    }
    for (at, is_answered) in is_answered.into_iter().enumerate() {
        if !is_answered && messages[at].role == Role::User {
            let (content, model, created_at) = (String::new(), String::new(), messages[at].created_at);
            let (parent, role, sources, is_complete) = (Some(at), Role::Assistant, Vec::new(), false);
            messages.push(NewMessage { parent, role, content, sources, model, is_complete, created_at });
        }
    }
}

/// The indices of the first nodes, and of those that follow each node.
fn children(nodes: &[Node]) -> Result<(Vec<usize>, Vec<Vec<usize>>), Reason> {
    let positions: HashMap<&str, usize> = nodes.iter().enumerate().map(|(at, node)| (&*node.id, at)).collect();
    if positions.len() < nodes.len() {
        return Err("Two of its messages have the same id");
    }
    let (mut roots, mut children) = (Vec::new(), vec![Vec::new(); nodes.len()]);
    for (at, node) in nodes.iter().enumerate() {
        match node.parent.as_deref().map(|parent| positions.get(parent)) {
            None => roots.push(at),
            Some(Some(parent)) => children[*parent].push(at),
            Some(None) => return Err("A message follows one that is missing"),
        }
    }
    Ok((roots, children))
}
