use conversation::Usage;
use futures_util::future::join_all;
use store::{Account, Day, Ledger, Owner, Spent, StoreError};

use crate::support::{alice, at, database, impatient_store_at, rows, store};
use crate::wire::{Fault, Wire};

const DAY: u64 = 24 * 3600;

fn today() -> Day {
    Day::of(at(0))
}

fn used(input_tokens: u64, output_tokens: u64, cost_micros: Option<u64>) -> Usage {
    Usage { input_tokens, output_tokens, search_credits: 2, estimated: cost_micros.is_none(), cost_micros }
}

async fn own(ledger: &Ledger) -> Spent {
    ledger.day(Account::Own(&alice()), today()).await.unwrap()
}

#[tokio::test]
async fn turns_add_up_for_their_owner_and_for_everybody() {
    let ledger = store().await.ledger;
    assert_eq!(own(&ledger).await, Spent::default());
    ledger.add(&alice(), today(), &used(100, 20, None)).await.unwrap();
    ledger.add(&alice(), today(), &used(1, 2, Some(7))).await.unwrap();
    ledger.add(&Owner::new("bob"), today(), &used(5, 5, Some(9))).await.unwrap();
    let alices = Spent {
        turns: 2,
        estimated_turns: 1,
        input_tokens: 101,
        output_tokens: 22,
        search_credits: 4,
        searches: 0,
        cost_micros: Some(7),
    };
    assert_eq!(own(&ledger).await, alices);
    let all = ledger.day(Account::Everybody, today()).await.unwrap();
    assert_eq!((all.turns, all.tokens(), all.cost_micros), (3, 133, Some(16)));
}

#[tokio::test]
async fn f141_turns_that_end_at_the_same_time_are_all_counted() {
    let ledger = store().await.ledger;
    let owner = alice();
    let usage = used(3, 4, Some(5));
    let turns = join_all((0..40).map(|_| ledger.add(&owner, today(), &usage))).await;
    assert_eq!(turns, vec![Ok(()); 40]);
    for account in [Account::Own(&owner), Account::Everybody] {
        let spent = ledger.day(account, today()).await.unwrap();
        assert_eq!((spent.turns, spent.input_tokens, spent.output_tokens), (40, 120, 160));
        assert_eq!((spent.search_credits, spent.cost_micros), (80, Some(200)));
    }
}

#[tokio::test]
async fn f141_no_more_searches_are_booked_than_a_day_has_and_a_new_day_has_all_again() {
    let ledger = store().await.ledger;
    let owner = alice();
    let booked = join_all((0..12).map(|_| ledger.book_search(Account::Own(&owner), today(), 5))).await;
    assert_eq!(booked.iter().filter(|booked| **booked == Ok(true)).count(), 5);
    assert_eq!(booked.iter().filter(|booked| **booked == Ok(false)).count(), 7);
    assert_eq!(ledger.book_search(Account::Everybody, today(), 1).await, Ok(true));
    assert_eq!(ledger.book_search(Account::Own(&owner), Day::of(today().end()), 5).await, Ok(true));
    ledger.return_search(Account::Own(&owner), today()).await.unwrap();
    assert_eq!(ledger.book_search(Account::Own(&owner), today(), 5).await, Ok(true));
    assert_eq!(ledger.book_search(Account::Own(&owner), today(), 5).await, Ok(false));
    assert_eq!(own(&ledger).await.searches, 5);
}

#[tokio::test]
async fn a_place_that_was_never_booked_is_not_given_back() {
    let ledger = store().await.ledger;
    ledger.return_search(Account::Own(&alice()), today()).await.unwrap();
    assert_eq!(own(&ledger).await.searches, 0);
}

#[tokio::test]
async fn days_are_listed_in_their_order_and_each_owner_has_their_own() {
    let ledger = store().await.ledger;
    let owner = alice();
    for day in [3, 0, 1] {
        ledger.add(&owner, Day::of(at(day * DAY)), &used(day, 0, Some(0))).await.unwrap();
    }
    ledger.add(&Owner::new("alice#U"), today(), &used(9, 9, None)).await.unwrap();
    let (first, last) = (Day::of(at(0)), Day::of(at(2 * DAY)));
    let days = ledger.days(Account::Own(&owner), first, last).await.unwrap();
    let seen: Vec<(Day, u64)> = days.into_iter().map(|(day, spent)| (day, spent.input_tokens)).collect();
    assert_eq!(seen, [(first, 0), (Day::of(at(DAY)), 1)]);
}

#[tokio::test]
async fn an_entry_whose_answer_was_lost_is_counted_at_least_once() {
    let (wire, endpoint) = Wire::new().await;
    let ledger = impatient_store_at(&endpoint).await.ledger;
    wire.fail("UpdateItem", &[Fault::LostAnswer]);
    assert_eq!(ledger.add(&alice(), today(), &used(1, 1, None)).await, Err(StoreError::Busy));
    let all = ledger.day(Account::Everybody, today()).await.unwrap();
    assert_eq!((own(&ledger).await.turns, all.turns), (1, 1));
}

#[tokio::test]
async fn f150_a_deleted_owner_leaves_no_sums_and_those_of_others_stay() {
    let endpoint = database().await;
    let store = crate::support::store_at(&endpoint).await;
    let bob = Owner::new("bob");
    for owner in [&alice(), &bob] {
        store.ledger.add(owner, today(), &used(1, 1, None)).await.unwrap();
        store.ledger.add(owner, Day::of(at(DAY)), &used(1, 1, None)).await.unwrap();
    }
    assert_eq!(store.delete_owner(&alice()).await.unwrap().others, 2);
    assert_eq!(own(&store.ledger).await, Spent::default());
    assert_eq!(store.ledger.day(Account::Own(&bob), today()).await.unwrap().turns, 1);
    assert_eq!(rows(&endpoint, "data").await.len(), 4, "bob's days and everybody's");
}
