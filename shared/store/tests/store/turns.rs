use std::time::Duration;

use domain::{CallPosition, ErrorCode, FinishReason, Source, Usage};
use serde_json::json;
use store::{
    Answer, BeginError, LeaseError, MessageError, Role, Status, StoredCall, StoredMessage, TurnEnd, TurnOutcome,
};

use crate::support::{
    Finish, ReadStored, alice, answer, assistant_message, at, database, ended, first_turn, history_of, next_turn, rows,
    store, store_at, user_message,
};

#[tokio::test]
async fn turn_is_stored_and_counted() {
    let store = store().await.conversations;
    let turn = first_turn("Q");
    let lease = store.begin(&alice(), &turn, at(0)).await.unwrap();
    let call = StoredCall {
        id: "call_1".to_owned(),
        name: "search_web".to_owned(),
        arguments: json!({ "query": "天气" }),
        ok: true,
        summary: "10 results".to_owned(),
        position: Some(CallPosition { text: 0, thinking: 2, thinking_ms: Some(20) }),
        duration_ms: Some(7),
        cached: true,
        client: false,
        error: None,
    };
    let source =
        Source { index: 1, title: "T".to_owned(), url: "https://a.example/".to_owned(), excerpt: String::new() };
    let usage = Usage { input_tokens: 3, output_tokens: 4, search_credits: 2, ..Usage::default() };
    let done = TurnEnd::Done(FinishReason::Stop);
    let outcome = TurnOutcome { usage, thinking_ms: Some(30), ..ended(done) };
    let answer = Answer {
        thinking: "hm".to_owned(),
        tool_calls: vec![call.clone()],
        sources: vec![source.clone()],
        outcome: outcome.clone(),
        ..answer("A")
    };
    store.finish(&lease, &answer, at(2)).await.unwrap();
    let user = StoredMessage {
        attachments: Vec::new(),
        feedback: None,
        models: Vec::new(),
        id: turn.user_message_id.clone(),
        parent_id: None,
        siblings: Vec::new(),
        role: Role::User,
        content: "Q".to_owned(),
        thinking: String::new(),
        thinking_ms: None,
        usage: None,
        model: String::new(),
        tool_calls: Vec::new(),
        sources: Vec::new(),
        status: Status::Complete,
        finish_reason: None,
        error: None,
        created_at: "2027-01-15T08:00:00.000Z".to_owned(),
    };
    let assistant = StoredMessage {
        feedback: None,
        id: turn.assistant_message_id,
        parent_id: Some(turn.user_message_id),
        siblings: Vec::new(),
        role: Role::Assistant,
        content: "A".to_owned(),
        thinking: "hm".to_owned(),
        thinking_ms: Some(30),
        usage: Some(usage),
        model: "volcano".to_owned(),
        tool_calls: vec![call],
        sources: vec![source],
        ..user.clone()
    };
    let page = store.messages(&alice(), &lease.conversation_id, 10, None, at(3)).await.unwrap();
    assert_eq!((page.items, page.next_cursor), (vec![user, assistant.clone()], None));
    let turn = store.get_turn(&alice(), &lease.conversation_id, lease.answer_seq, at(3)).await.unwrap();
    assert_eq!((turn.message, turn.outcome), (StoredMessage { parent_id: None, ..assistant }, Some(outcome)));
    let head = store.get(&alice(), &lease.conversation_id).await.unwrap();
    assert_eq!((head.title.as_str(), head.model.as_str(), head.message_count), ("About Q", "volcano", 2));
    let times = (head.created_at.as_str(), head.updated_at.as_str());
    assert_eq!(times, ("2027-01-15T08:00:00.000Z", "2027-01-15T08:00:02.000Z"));
}

#[tokio::test]
async fn f099_second_turn_gets_remaining_lease_time() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q1"), at(0)).await.unwrap();
    let next = next_turn(&lease.conversation_id, "Q2");
    let refused = store.begin(&alice(), &next, at(5)).await.unwrap_err();
    assert_eq!(refused, BeginError::InProgress { retry_after: Duration::from_secs(10) });
    store.renew(&lease, at(10)).await.unwrap();
    let refused = store.begin(&alice(), &next, at(20)).await.unwrap_err();
    assert_eq!(refused, BeginError::InProgress { retry_after: Duration::from_secs(5) });
    store.finish(&lease, &answer("A1"), at(21)).await.unwrap();
    store.begin(&alice(), &next, at(22)).await.unwrap();
}

#[tokio::test]
async fn f087_lease_of_far_clock_blocks_no_turn() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q1"), at(30)).await.unwrap();
    let next = next_turn(&lease.conversation_id, "Q2");
    let refused = store.begin(&alice(), &next, at(0)).await.unwrap_err();
    assert_eq!(
        refused,
        BeginError::InProgress { retry_after: Duration::from_secs(45) },
        "clocks may differ by so much"
    );
    store.renew(&lease, at(3600)).await.unwrap();
    store.begin(&alice(), &next, at(0)).await.unwrap();
    assert_eq!(store.renew(&lease, at(3603)).await.unwrap_err(), LeaseError::Lost);
}

#[tokio::test]
async fn f100_one_of_simultaneous_turns_runs() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q0"), at(0)).await.unwrap();
    store.finish(&lease, &answer("A0"), at(0)).await.unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            let (store, turn) = (store.clone(), next_turn(&lease.conversation_id, &number.to_string()));
            tokio::spawn(async move { store.begin(&alice(), &turn, at(1)).await })
        })
        .collect();
    let mut begun = Vec::new();
    for task in tasks {
        match task.await.unwrap() {
            Ok(lease) => begun.push(lease),
            Err(error) => assert_eq!(error, BeginError::InProgress { retry_after: Duration::from_secs(15) }),
        }
    }
    assert_eq!(begun.len(), 1);
    let page = store.messages(&alice(), &lease.conversation_id, 100, None, at(1)).await.unwrap();
    assert_eq!(page.items.len(), 4);
    assert_eq!(store.get(&alice(), &lease.conversation_id).await.unwrap().message_count, 4);
}

#[tokio::test]
async fn f101_dead_turn_is_interrupted_after_lease() {
    let store = store().await.conversations;
    let dead = store.begin(&alice(), &first_turn("Q1"), at(0)).await.unwrap();
    let id = dead.conversation_id.clone();
    for (seconds, status) in [(14, Status::Running), (15, Status::Interrupted)] {
        let page = store.messages(&alice(), &id, 10, None, at(seconds)).await.unwrap();
        assert_eq!(page.items[1].status, status, "after {seconds} s");
    }
    let next = store.begin(&alice(), &next_turn(&id, "Q2"), at(15)).await.unwrap();
    assert_eq!(history_of(&store, &next, 1000).await, [user_message("Q1")]);
    assert_eq!(store.renew(&dead, at(16)).await, Err(LeaseError::Lost));
    assert_eq!(store.finish(&dead, &answer("late"), at(16)).await, Err(LeaseError::Lost));
    store.finish(&next, &answer("A2"), at(17)).await.unwrap();
    let page = store.messages(&alice(), &id, 10, None, at(18)).await.unwrap();
    let shown: Vec<_> = page.items.iter().map(|message| (message.content.as_str(), message.status)).collect();
    let (complete, interrupted) = (Status::Complete, Status::Interrupted);
    assert_eq!(shown, [("Q1", complete), ("", interrupted), ("Q2", complete), ("A2", complete)]);
}

#[tokio::test]
async fn f101_next_turn_marks_dead_one_interrupted() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let dead = store.begin(&alice(), &first_turn("Q1"), at(0)).await.unwrap();
    store.begin(&alice(), &next_turn(&dead.conversation_id, "Q2"), at(15)).await.unwrap();
    let rows = rows(&endpoint, "data").await;
    let mut progress: Vec<(&String, &String)> =
        rows.iter().filter_map(|row| Some((row["sk"].as_s().ok()?, row.get("progress")?.as_s().ok()?))).collect();
    progress.sort();
    let progress: Vec<&str> = progress.into_iter().map(|(_, progress)| progress.as_str()).collect();
    assert_eq!(progress, ["complete", "interrupted", "complete", "running"]);
}

#[tokio::test]
async fn late_end_is_valid_without_next_turn() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.finish(&lease, &answer("A"), at(60)).await.unwrap();
    let page = store.messages(&alice(), &lease.conversation_id, 10, None, at(61)).await.unwrap();
    assert_eq!((page.items[1].content.as_str(), page.items[1].status), ("A", Status::Complete));
}

#[tokio::test]
async fn finishing_again_changes_nothing() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.finish(&lease, &answer("A"), at(1)).await.unwrap();
    store.finish(&lease, &answer("B"), at(2)).await.unwrap();
    let next = store.begin(&alice(), &next_turn(&lease.conversation_id, "Q2"), at(3)).await.unwrap();
    store.finish(&lease, &answer("C"), at(4)).await.unwrap();
    assert_eq!(history_of(&store, &next, 1000).await, [user_message("Q"), assistant_message("A")]);
    assert_eq!(store.renew(&lease, at(5)).await, Err(LeaseError::Lost));
}

#[tokio::test]
async fn interrupted_answer_keeps_partial_text() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let cut = Answer { outcome: ended(TurnEnd::Failed(ErrorCode::Interrupted)), ..answer("half an ans") };
    store.finish(&lease, &cut, at(1)).await.unwrap();
    let page = store.messages(&alice(), &lease.conversation_id, 10, None, at(2)).await.unwrap();
    assert_eq!((page.items[1].content.as_str(), page.items[1].status), ("half an ans", Status::Interrupted));
}

#[tokio::test]
async fn failed_answer_keeps_its_error() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    for (own, message) in [(None, "The model stopped answering."), (Some("No answer came."), "No answer came.")] {
        let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
        let end = TurnEnd::Failed(ErrorCode::UpstreamStalled);
        let outcome = TurnOutcome { error_message: own.map(str::to_owned), ..ended(end) };
        let failed = Answer { outcome, ..answer("half") };
        store.finish(&lease, &failed, at(1)).await.unwrap();
        let page = store.messages(&alice(), &lease.conversation_id, 10, None, at(2)).await.unwrap();
        assert_eq!((page.items[1].content.as_str(), page.items[1].status), ("half", Status::Failed));
        let error = MessageError { code: ErrorCode::UpstreamStalled, message: message.to_owned() };
        assert_eq!(page.items[1].error, Some(error));
    }
    let stored = rows(&endpoint, "data").await;
    let progress: Vec<_> = stored.iter().filter_map(|row| row.get("progress")?.as_s().ok()).collect();
    assert!(progress.iter().all(|text| ["complete", "interrupted"].contains(&text.as_str())), "{progress:?}");
}

#[tokio::test]
async fn messages_are_ordered_by_seq_not_clock() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("1"), at(1000)).await.unwrap();
    store.finish(&lease, &answer("2"), at(1000)).await.unwrap();
    let id = lease.conversation_id;
    for (text, reply) in [("3", "4"), ("5", "6"), ("7", "8"), ("9", "10"), ("11", "12")] {
        let lease = store.begin(&alice(), &next_turn(&id, text), at(5)).await.unwrap();
        store.finish(&lease, &answer(reply), at(1)).await.unwrap();
    }
    let page = store.messages(&alice(), &id, 100, None, at(6)).await.unwrap();
    let shown: Vec<String> = page.items.into_iter().map(|message| message.content).collect();
    let expected: Vec<String> = (1..=12).map(|number| number.to_string()).collect();
    assert_eq!(shown, expected);
}
