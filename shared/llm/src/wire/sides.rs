use serde::Serialize;

/// The side of a message, for wires in which the two sides must alternate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The user, and tool results.
    User,
    Model,
}

pub(crate) fn group_by_side<P>(parts: impl IntoIterator<Item = (Side, P)>) -> Vec<(Side, Vec<P>)> {
    let mut groups: Vec<(Side, Vec<P>)> = Vec::new();
    for (side, part) in parts {
        match groups.last_mut() {
            Some((last, parts)) if *last == side => parts.push(part),
            _ => groups.push((side, vec![part])),
        }
    }
    groups
}

/// Successive parts of one side as a message.
#[derive(Serialize)]
pub(crate) struct Turn<P> {
    role: &'static str,
    content: Vec<P>,
}

pub(crate) fn to_turns<P>(parts: impl IntoIterator<Item = (Side, P)>) -> Vec<Turn<P>> {
    let role = |side| if side == Side::User { "user" } else { "assistant" };
    group_by_side(parts).into_iter().map(|(side, content)| Turn { role: role(side), content }).collect()
}
