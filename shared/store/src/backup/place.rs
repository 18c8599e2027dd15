use crate::conversations::{CHAT_PREFIX, HEAD_PREFIX, place_in};
use crate::definitions::is_definition;
use crate::item::{Item, Read};
use crate::key::{PK, SK, is_ulid};
use crate::keys;
use crate::ledger::is_day;

/// The kind of an item of the data table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A conversation's head, with the partition of its items.
    Head(String),
    /// A client's chat id.
    Chat,
    /// An item under a conversation, with its partition and seq; `u64::MAX` for a summary.
    Under(String, u64),
    /// The usage of a day.
    Day,
    /// An API key.
    Key,
    /// A definition, or the item that reserves its name.
    Definition,
}

impl Place {
    /// Classifies an item; `None` for one that no release up to this one writes.
    pub(super) fn of(item: &Item) -> Option<Self> {
        let (pk, sk) = (item.text(PK).ok()?, item.text(SK).ok()?);
        let place = match pk.split('#').collect::<Vec<_>>().as_slice() {
            ["U", _] if is_head(sk) => Self::Head(format!("{pk}#{sk}")),
            ["U", _] if sk.starts_with(CHAT_PREFIX) => Self::Chat,
            ["U", _, "C", id] if is_ulid(id) => Self::Under(pk.to_owned(), place_in(sk)?),
            _ if is_day(pk, sk) => Self::Day,
            _ if pk == keys::PARTITION && is_ulid(sk) => Self::Key,
            _ if is_definition(pk, sk) => Self::Definition,
            _ => return None,
        };
        Some(place)
    }
}

fn is_head(sk: &str) -> bool {
    sk.strip_prefix(HEAD_PREFIX).is_some_and(is_ulid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Owner;
    use crate::key::Key;

    const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

    fn place(pk: &str, sk: &str) -> Option<Place> {
        Place::of(&Key::new(pk, sk).attributes())
    }

    #[test]
    fn every_documented_key_has_a_kind() {
        let owner = Owner::new("a#b");
        let under = owner.conversation_partition(ID);
        let at = |place| Some(Place::Under(under.clone(), place));
        assert_eq!(place(&owner.partition(), &format!("C#{ID}")), Some(Place::Head(under.clone())));
        assert_eq!(place(&owner.partition(), "N#%23"), Some(Place::Chat));
        assert_eq!(place(&under, "M#000000000007"), at(7));
        assert_eq!(place(&under, "M#000000000007#12"), at(7));
        assert_eq!(place(&under, "T#000000000008"), at(8));
        assert_eq!(place(&under, "S"), at(u64::MAX));
        assert_eq!(place(&owner.usage_partition(), "D#2026-11-21"), Some(Place::Day));
        assert_eq!(place("USAGE", "D#2026-11-21"), Some(Place::Day));
        assert_eq!(place("K", ID), Some(Place::Key));
        for sk in ["I#x", "N#x"] {
            assert_eq!(place("D#tools", sk), Some(Place::Definition));
            assert_eq!(place("D#agents", sk), Some(Place::Definition));
        }
    }

    #[test]
    fn undocumented_keys_have_no_kind() {
        let under = format!("U#a#C#{ID}");
        for (pk, sk) in [
            ("", ""),
            ("U#a", "C#1"),
            ("U#a", "D#2026-11-21"),
            ("U#a#I", "x"),
            ("U#a#C#1", "M#000000000001"),
            (&under, "M#1"),
            (&under, "M#000000000001#"),
            (&under, "M#000000000001x"),
            (&under, "M#00000000000é"),
            (&under, "T#000000000001#1"),
            (&under, "SS"),
            ("U#a#U", "D#2026-2-30"),
            ("K", "x"),
            ("D#others", "I#x"),
            ("SC#x", "-"),
        ] {
            assert_eq!(place(pk, sk), None, "{pk} {sk}");
        }
        assert_eq!(Place::of(&Item::new()), None);
    }
}
