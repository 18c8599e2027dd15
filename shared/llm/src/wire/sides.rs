/// The side of a message, for wires in which the two sides must alternate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The user, and tool results.
    User,
    Model,
}

/// Groups successive parts of one side.
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
