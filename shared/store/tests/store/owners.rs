use std::collections::{BTreeMap, BTreeSet};

use domain::Owner;
use proptest::prelude::*;
use store::ConversationStore;
use tokio::runtime::Runtime;

use crate::support::{Finish, ReadStored, answer, at, first_turn, next_turn, store, title};

/// Names that imitate each other's keys.
const NAMES: [&str; 4] = ["a", "a#C#", "A%23C", ""];

/// One step: the owner, the conversation (of any owner), and the action.
type Step = (usize, usize, u8);

/// Runs the steps, and tracks the expected state: for each owner, conversations and their texts.
async fn play(store: &ConversationStore, steps: &[Step]) -> [BTreeMap<String, Vec<String>>; 4] {
    let mut expected: [BTreeMap<String, Vec<String>>; 4] = Default::default();
    let mut ids: Vec<String> = Vec::new();
    for (number, (who, which, what)) in steps.iter().enumerate() {
        let (owner, now) = (Owner::new(NAMES[*who]), at(number as u64));
        let id = ids.get(which % ids.len().max(1)).cloned();
        let text = format!("{who}:{number}");
        let mine = id.as_ref().filter(|id| expected[*who].contains_key(*id));
        match (what, &id) {
            (0, _) | (_, None) => {
                let lease = store.begin(&owner, &first_turn(&text), now).await.unwrap();
                store.finish(&lease, &answer(&text), now).await.unwrap();
                expected[*who].insert(lease.conversation_id.clone(), vec![text.clone(), text]);
                ids.push(lease.conversation_id);
            }
            (1, Some(id)) => {
                let begun = store.begin(&owner, &next_turn(id, &text), now).await;
                assert_eq!(begun.is_ok(), mine.is_some(), "{id} for {owner:?}");
                if let Ok(lease) = begun {
                    store.finish(&lease, &answer(&text), now).await.unwrap();
                    expected[*who].entry(id.clone()).or_default().extend([text.clone(), text]);
                }
            }
            (2, Some(id)) => {
                let deleted = store.delete(&owner, id).await;
                assert_eq!(deleted.is_ok(), mine.is_some(), "{id} for {owner:?}");
                expected[*who].remove(id);
            }
            (_, Some(id)) => {
                let renamed = store.edit(&owner, id, &title(&text), now).await;
                assert_eq!(renamed.is_ok(), mine.is_some(), "{id} for {owner:?}");
            }
        }
    }
    expected
}

async fn check(steps: &[Step]) {
    let store = store().await.conversations;
    let expected = play(&store, steps).await;
    for (name, conversations) in NAMES.into_iter().zip(expected) {
        let owner = Owner::new(name);
        let listed = store.list(&owner, 100, None).await.unwrap().items;
        let listed: BTreeSet<String> = listed.into_iter().map(|conversation| conversation.id).collect();
        assert_eq!(listed, conversations.keys().cloned().collect(), "{owner:?}");
        for (id, texts) in conversations {
            let page = store.messages(&owner, &id, 100, None, at(1000)).await.unwrap();
            let seen: Vec<String> = page.items.into_iter().map(|message| message.content).collect();
            assert_eq!(seen, texts, "{owner:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn f119_owners_access_only_their_conversations(
        steps in prop::collection::vec((0..4_usize, 0..20_usize, 0..4_u8), 1..40),
    ) {
        Runtime::new().unwrap().block_on(check(&steps));
    }
}
