use domain::AttachmentKind;
use store::{NewTurn, Store, StoredFile};

use crate::support::{Finish, alice, answer, at, first_turn, store};

/// One day in seconds.
const DAY: u64 = 24 * 3600;

async fn turn_with(store: &Store, file: &StoredFile, temporary: bool) -> String {
    let turn = NewTurn { attachments: vec![file.attachment()], temporary, ..first_turn("Q") };
    let lease = store.conversations.begin(&alice(), &turn, at(0)).await.unwrap();
    store.conversations.finish(&lease, &answer("A"), at(1)).await.unwrap();
    lease.conversation_id
}

#[tokio::test]
async fn ended_temporary_conversation_holds_no_file() {
    let store = store().await;
    let file = StoredFile::new(domain::new_id(), "a.txt".into(), "text/plain".into(), 1, AttachmentKind::Text);
    store.files.create(&alice(), &file, false, at(0)).await.unwrap();
    turn_with(&store, &file, true).await;
    let kept = turn_with(&store, &file, false).await;
    let release = async |seconds| {
        store.files.release(&alice(), |conversation, _| conversation == kept, at(seconds)).await.unwrap()
    };
    assert!(release(2).await.is_empty(), "the temporary conversation uses it");
    assert_eq!(release(DAY + 2).await, std::slice::from_ref(&file.id));
    assert_eq!(store.files.get(&alice(), &file.id, at(2)).await.unwrap(), None, "it is being deleted");
    store.files.remove(&alice(), &file.id).await.unwrap();
    assert!(store.files.list(&alice()).await.unwrap().is_empty());
}
