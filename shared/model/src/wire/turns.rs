/// Who speaks, for wires in which the two sides take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The user, and what tools answer.
    User,
    Model,
}

/// Joins what one side says without the other between.
pub(crate) fn turns<P>(parts: impl IntoIterator<Item = (Side, P)>) -> Vec<(Side, Vec<P>)> {
    let mut turns: Vec<(Side, Vec<P>)> = Vec::new();
    for (side, part) in parts {
        match turns.last_mut() {
            Some((last, parts)) if *last == side => parts.push(part),
            _ => turns.push((side, vec![part])),
        }
    }
    turns
}
