use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// The same tree as a table of parents and roles.
#[derive(Clone, Debug, Default)]
struct Table {
    messages: BTreeMap<u64, (u64, Role)>,
    last: u64,
}

impl Table {
    fn push(&mut self, parent: u64, role: Role) {
        self.last += 1;
        self.messages.insert(self.last, (parent, role));
    }

    fn path(&self, leaf: u64) -> Vec<u64> {
        let (mut path, mut seq) = (Vec::new(), leaf);
        while let Some((parent, _)) = self.messages.get(&seq) {
            path.insert(0, seq);
            seq = *parent;
        }
        path
    }

    fn subtree(&self, root: u64) -> Vec<u64> {
        self.messages.keys().copied().filter(|seq| self.path(*seq).contains(&root)).collect()
    }

    fn children(&self, parent: u64) -> Vec<u64> {
        self.messages.iter().filter(|(_, (one, _))| *one == parent).map(|(seq, _)| *seq).collect()
    }

    fn leaf_without(&self, root: u64) -> u64 {
        let parent = self.messages[&root].0;
        let siblings = self.children(parent);
        let before = siblings.iter().rev().find(|seq| **seq < root);
        let nearest = before.or_else(|| siblings.iter().find(|seq| **seq > root));
        nearest.map_or(parent, |nearest| *self.subtree(*nearest).last().unwrap())
    }
}

fn seqs(ranges: &SeqRanges) -> Vec<u64> {
    ranges.0.iter().flat_map(|(first, last)| *first..=*last).collect()
}

fn check(tree: &MessageTree, table: &Table) -> Result<(), TestCaseError> {
    // No head has a tree that never had a message.
    if table.last > 0 {
        prop_assert_eq!(&MessageTree::parse(&tree.to_text()).unwrap_or_default(), tree);
    }
    prop_assert_eq!(seqs(&tree.all()), table.messages.keys().copied().collect::<Vec<_>>());
    for seq in 0..=table.last + 1 {
        let known = table.messages.get(&seq);
        prop_assert_eq!(tree.role(seq), known.map(|(_, role)| *role));
        prop_assert_eq!(tree.deleted().contains(seq), known.is_none() && (1..=table.last).contains(&seq));
        prop_assert_eq!(seqs(&tree.path(seq)), table.path(seq));
        if let Some((parent, _)) = known {
            prop_assert_eq!(tree.parent(seq), *parent);
            prop_assert_eq!(seqs(&tree.subtree(seq)), table.subtree(seq));
            prop_assert_eq!(tree.siblings(seq), table.children(*parent));
            prop_assert_eq!(tree.newest_below(seq), *table.subtree(seq).last().unwrap());
            prop_assert_eq!(tree.leaf_without(seq), table.leaf_without(seq));
        }
    }
    Ok(())
}

#[test]
fn deleted_branches_no_longer_count() {
    let mut tree = MessageTree::linear(2);
    for _ in 0..MAX_SEGMENTS {
        tree.push(1, Role::Assistant);
    }
    assert!(tree.is_too_large());
    tree.delete(&tree.subtree(3));
    assert!(!tree.is_too_large());
}

proptest! {
    #[test]
    fn tree_agrees_with_a_table_of_parents(steps in prop::collection::vec((0..4_u8, any::<prop::sample::Index>()), 1..40)) {
        let (mut tree, mut table) = (MessageTree::default(), Table::default());
        for (kind, index) in steps {
            let mut existing = vec![0];
            existing.extend(table.messages.keys());
            let chosen = *index.get(&existing);
            let last = *existing.last().unwrap();
            match kind {
                0 | 1 => {
                    let parent = if kind == 0 { last } else { chosen };
                    let role = if tree.role(parent) == Some(Role::User) { Role::Assistant } else { Role::User };
                    tree.push(parent, role);
                    table.push(parent, role);
                }
                2 => {
                    tree.push(chosen, Role::User);
                    table.push(chosen, Role::User);
                }
                _ if chosen > 0 => {
                    let subtree = tree.subtree(chosen);
                    tree.delete(&subtree);
                    table.messages.retain(|seq, _| !subtree.contains(*seq));
                }
                _ => {}
            }
            check(&tree, &table)?;
        }
        let messages = table.messages.iter().map(|(seq, (parent, role))| (*seq, *parent, *role));
        check(&MessageTree::of(messages, table.last), &table)?;
    }

    #[test]
    fn any_text_is_a_tree_or_rejected(text in "[0-9]{1,3}( [0-9]{0,3}[.:-]{1,2}[0-9]{0,3}){0,6}|.{0,20}") {
        if let Some(tree) = MessageTree::parse(&text) {
            (0..=tree.last().min(1000)).for_each(|seq| drop((tree.path(seq), tree.siblings(seq), tree.subtree(seq))));
        }
    }
}

#[test]
fn linear_tree_needs_its_last_seq_only() {
    let mut tree = MessageTree::linear(2);
    let question = tree.push(2, Role::User);
    assert_eq!((tree.push(question, Role::Assistant), tree.to_text().as_str()), (4, "4"));
    tree.push(3, Role::Assistant);
    assert_eq!(tree.to_text(), "5 5:3");
}

#[test]
fn close_ranges_are_read_by_one_query() {
    let ranges = SeqRanges(vec![(1, 2), (4, 9), (100, 101), (103, 200)]);
    assert_eq!(ranges.queries(), [(1, 9), (100, 200)]);
    assert_eq!((ranges.count(), ranges.contains(3), ranges.contains(100)), (108, false, true));
    assert_eq!(ranges.between(2, 100), SeqRanges(vec![(2, 2), (4, 9), (100, 100)]));
}
