use crate::articles::is_article_item;
use crate::conversations::{CHAT_ID_PREFIX, HEAD_PREFIX, seq_in_sk};
use crate::definitions::is_definition;
use crate::item::{Item, ItemExt};
use crate::key::{PK, SK, is_ulid};
use crate::keys;
use crate::ledger::is_day;

/// The kind of an item of the data table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// A conversation's head, with the partition of its items.
    Head(String),
    /// A client's chat id.
    ChatId,
    /// An item under a conversation, with its partition and seq; `u64::MAX` for a summary.
    ConversationItem(String, u64),
    /// The usage of a day.
    UsageDay,
    /// An API key.
    ApiKey,
    /// A definition, or the item that reserves its name.
    Definition,
    /// An item of a collection of articles.
    Article,
}

impl ItemKind {
    /// Classifies an item; `None` for one that no release up to this one writes.
    pub(super) fn of(item: &Item) -> Option<Self> {
        let (pk, sk) = (item.text(PK).ok()?, item.text(SK).ok()?);
        let kind = match pk.split('#').collect::<Vec<_>>().as_slice() {
            ["U", _] if is_head_sk(sk) => Self::Head(format!("{pk}#{sk}")),
            ["U", _] if sk.starts_with(CHAT_ID_PREFIX) => Self::ChatId,
            ["U", _, "C", id] if is_ulid(id) => Self::ConversationItem(pk.to_owned(), seq_in_sk(sk)?),
            _ if is_day(pk, sk) => Self::UsageDay,
            _ if pk == keys::PARTITION && is_ulid(sk) => Self::ApiKey,
            _ if is_definition(pk, sk) => Self::Definition,
            _ if is_article_item(pk, sk) => Self::Article,
            _ => return None,
        };
        Some(kind)
    }
}

fn is_head_sk(sk: &str) -> bool {
    sk.strip_prefix(HEAD_PREFIX).is_some_and(is_ulid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::key::OwnerPartitions;
    use domain::Owner;

    const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

    fn kind_of(pk: &str, sk: &str) -> Option<ItemKind> {
        ItemKind::of(&Key::new(pk, sk).attributes())
    }

    #[test]
    fn every_documented_key_has_a_kind() {
        let owner = Owner::new("a#b");
        let under = owner.conversation_partition(ID);
        let at = |seq| Some(ItemKind::ConversationItem(under.clone(), seq));
        assert_eq!(kind_of(&owner.partition(), &format!("C#{ID}")), Some(ItemKind::Head(under.clone())));
        assert_eq!(kind_of(&owner.partition(), "N#%23"), Some(ItemKind::ChatId));
        assert_eq!(kind_of(&under, "M#000000000007"), at(7));
        assert_eq!(kind_of(&under, "M#000000000007#12"), at(7));
        assert_eq!(kind_of(&under, "T#000000000008"), at(8));
        assert_eq!(kind_of(&under, "R#000000000008"), at(8));
        assert_eq!(kind_of(&under, "S"), at(u64::MAX));
        assert_eq!(kind_of(&owner.usage_partition(), "D#2026-11-21"), Some(ItemKind::UsageDay));
        assert_eq!(kind_of("USAGE", "D#2026-11-21"), Some(ItemKind::UsageDay));
        assert_eq!(kind_of("K", ID), Some(ItemKind::ApiKey));
        for sk in ["I#x", "N#x"] {
            assert_eq!(kind_of("D#tools", sk), Some(ItemKind::Definition));
            assert_eq!(kind_of("D#agents", sk), Some(ItemKind::Definition));
        }
        for partition in ["A", &owner.article_partition()] {
            for sk in ["C", "I#x", "W#x#y"] {
                assert_eq!(kind_of(partition, sk), Some(ItemKind::Article));
            }
            assert_eq!(kind_of(&format!("{partition}#7"), "P#x#y#0000"), Some(ItemKind::Article));
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
            ("A", "P#x#y#0000"),
            ("A#8", "P#x#y#0000"),
            ("U#a#A#0", "C"),
        ] {
            assert_eq!(kind_of(pk, sk), None, "{pk} {sk}");
        }
        assert_eq!(ItemKind::of(&Item::new()), None);
    }
}
