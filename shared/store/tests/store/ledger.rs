use std::sync::LazyLock;

use domain::{Groups, Owner, Usage};
use futures_util::future::join_all;
use store::{Day, DayUsage, StoreError, TurnUsage, UsageLedger, UsageScope, UsageTotals};

use crate::support::{alice, at, database, rows, store, store_at, store_without_retries_at};
use crate::wire::{Fault, Gate, Wire};

const DAY: u64 = 24 * 3600;

pub(crate) fn today() -> Day {
    Day::of(at(0))
}

pub(crate) fn new_usage(input_tokens: u64, output_tokens: u64, cost_micros: Option<u64>) -> Usage {
    Usage {
        input_tokens,
        cached_tokens: 0,
        output_tokens,
        search_credits: 2,
        estimated: cost_micros.is_none(),
        cost_micros,
    }
}

/// The usage of a turn of that model, whose caller has no groups.
pub(crate) fn turn_usage<'a>(usage: &'a Usage, model: &'a str) -> TurnUsage<'a> {
    static NO_GROUPS: LazyLock<Groups> = LazyLock::new(Groups::default);
    TurnUsage { usage, model, groups: &NO_GROUPS, is_task: false }
}

/// Adds a turn to both totals, concurrently.
pub(crate) async fn add_to_totals(
    ledger: &UsageLedger,
    owner: &Owner,
    day: Day,
    usage: &Usage,
) -> Result<(), StoreError> {
    let turn = turn_usage(usage, "m");
    let (own, all) =
        tokio::join!(ledger.add(UsageScope::User(owner), day, &turn), ledger.add(UsageScope::Global, day, &turn));
    own.and(all)
}

pub(crate) async fn user_totals(ledger: &UsageLedger) -> UsageTotals {
    ledger.day(UsageScope::User(&alice()), today()).await.unwrap()
}

#[tokio::test]
async fn turns_add_to_user_and_global_totals() {
    let ledger = store().await.ledger;
    assert_eq!(user_totals(&ledger).await, UsageTotals::default());
    add_to_totals(&ledger, &alice(), today(), &new_usage(100, 20, None)).await.unwrap();
    add_to_totals(&ledger, &alice(), today(), &new_usage(1, 2, Some(7))).await.unwrap();
    add_to_totals(&ledger, &Owner::new("bob"), today(), &new_usage(5, 5, Some(9))).await.unwrap();
    let alices = UsageTotals {
        turns: 2,
        estimated_turns: 1,
        input_tokens: 101,
        output_tokens: 22,
        search_credits: 4,
        searches: 0,
        cost_micros: Some(7),
    };
    assert_eq!(user_totals(&ledger).await, alices);
    let all = ledger.day(UsageScope::Global, today()).await.unwrap();
    assert_eq!((all.turns, all.tokens(), all.cost_micros), (3, 133, Some(16)));
}

#[tokio::test]
async fn f141_concurrent_turn_ends_are_all_counted() {
    let ledger = store().await.ledger;
    let owner = alice();
    let usage = new_usage(3, 4, Some(5));
    let turns = join_all((0..40).map(|_| add_to_totals(&ledger, &owner, today(), &usage))).await;
    assert_eq!(turns, vec![Ok(()); 40]);
    for account in [UsageScope::User(&owner), UsageScope::Global] {
        let totals = ledger.day(account, today()).await.unwrap();
        assert_eq!((totals.turns, totals.input_tokens, totals.output_tokens), (40, 120, 160));
        assert_eq!((totals.search_credits, totals.cost_micros), (80, Some(200)));
    }
}

#[tokio::test]
async fn simultaneous_turn_ends_share_one_write_per_sum() {
    let (wire, endpoint) = Wire::new().await;
    let ledger = store_at(&endpoint).await.ledger;
    let (ada, bob, usage) = (alice(), Owner::new("bob"), new_usage(3, 4, Some(5)));
    wire.seen();
    let end = async || join_all([&ada, &bob, &ada].map(|owner| add_to_totals(&ledger, owner, today(), &usage))).await;
    assert_eq!(end().await, [Ok(()), Ok(()), Ok(())]);
    assert_eq!(wire.seen(), ["UpdateItem"; 3]);
    let sums = async |account| {
        let totals = ledger.day(account, today()).await.unwrap();
        (totals.turns, totals.estimated_turns, totals.tokens(), totals.search_credits, totals.cost_micros)
    };
    assert_eq!(sums(UsageScope::User(&ada)).await, (2, 0, 14, 4, Some(10)));
    assert_eq!(sums(UsageScope::User(&bob)).await, (1, 0, 7, 2, Some(5)));
    assert_eq!(sums(UsageScope::Global).await, (3, 0, 21, 6, Some(15)));
    wire.fail("UpdateItem", &[Fault::Refused("ValidationException")]);
    let refused = Err(StoreError::Fault("UpdateItem: ValidationException".to_owned()));
    let both = join_all((0..2).map(|_| add_to_totals(&ledger, &ada, today(), &usage))).await;
    assert_eq!(both, [refused.clone(), refused]);
}

#[tokio::test]
async fn sums_are_written_independently() {
    let (wire, endpoint) = Wire::new().await;
    let (ledger, usage) = (store_at(&endpoint).await.ledger, new_usage(3, 4, None));
    let (bob, gates) = (Owner::new("bob"), [(); 3].map(|()| Gate::default()));
    wire.fail("UpdateItem", &gates.clone().map(Fault::Held));
    let [own, all, other] = &gates;
    let later = async {
        own.arrival().await;
        all.arrival().await;
        let open = async {
            other.arrival().await;
            gates.iter().for_each(Gate::open);
        };
        tokio::join!(add_to_totals(&ledger, &bob, today(), &usage), open).0
    };
    let owner = alice();
    assert_eq!(tokio::join!(add_to_totals(&ledger, &owner, today(), &usage), later), (Ok(()), Ok(())));
}

#[tokio::test]
async fn later_entries_survive_a_cancelled_first_writer() {
    let (wire, endpoint) = Wire::new().await;
    let (ledger, owner, usage) = (store_at(&endpoint).await.ledger, alice(), new_usage(3, 4, None));
    for goes_away in [false, true] {
        let gates = [Gate::default(), Gate::default()];
        wire.fail("UpdateItem", &gates.clone().map(Fault::Held));
        wire.seen();
        let mut first = Box::pin(add_to_totals(&ledger, &owner, today(), &usage));
        let arrived = async {
            for gate in &gates {
                gate.arrival().await;
            }
        };
        tokio::select! { _ = &mut first => panic!("it is held"), () = arrived => {} }
        let mut first = Some(first).filter(|_| !goes_away);
        let later = join_all((0..9).map(|_| add_to_totals(&ledger, &owner, today(), &usage)));
        let open = async {
            // The later entries are waiting by then.
            tokio::task::yield_now().await;
            gates.iter().for_each(Gate::open);
        };
        assert_eq!(tokio::join!(later, open).0, vec![Ok(()); 9]);
        if let Some(first) = &mut first {
            assert_eq!(first.await, Ok(()));
        }
        assert_eq!(wire.seen(), ["UpdateItem"; 4], "goes away: {goes_away}");
    }
    assert_eq!(user_totals(&ledger).await.turns, 20);
}

#[tokio::test]
async fn hanging_write_is_resent_for_all_waiters() {
    let (wire, endpoint) = Wire::new().await;
    let (ledger, owner, usage) = (store_at(&endpoint).await.ledger, alice(), new_usage(3, 4, None));
    wire.fail("UpdateItem", &[Fault::Held(Gate::default()), Fault::Held(Gate::default())]);
    let turns = join_all((0..3).map(|_| add_to_totals(&ledger, &owner, today(), &usage))).await;
    assert_eq!(turns, vec![Ok(()); 3]);
    assert_eq!(user_totals(&ledger).await.turns, 3);
}

#[tokio::test]
async fn f141_search_reservations_are_limited_per_day() {
    let ledger = store().await.ledger;
    let owner = alice();
    let booked = join_all((0..12).map(|_| ledger.reserve_search(UsageScope::User(&owner), today(), 5))).await;
    assert_eq!(booked.iter().filter(|booked| **booked == Ok(true)).count(), 5);
    assert_eq!(booked.iter().filter(|booked| **booked == Ok(false)).count(), 7);
    assert_eq!(ledger.reserve_search(UsageScope::Global, today(), 1).await, Ok(true));
    assert_eq!(ledger.reserve_search(UsageScope::User(&owner), Day::of(today().end()), 5).await, Ok(true));
    ledger.release_search(UsageScope::User(&owner), today()).await.unwrap();
    assert_eq!(ledger.reserve_search(UsageScope::User(&owner), today(), 5).await, Ok(true));
    assert_eq!(ledger.reserve_search(UsageScope::User(&owner), today(), 5).await, Ok(false));
    assert_eq!(user_totals(&ledger).await.searches, 5);
}

#[tokio::test]
async fn unreserved_search_is_not_released() {
    let ledger = store().await.ledger;
    ledger.release_search(UsageScope::User(&alice()), today()).await.unwrap();
    assert_eq!(user_totals(&ledger).await.searches, 0);
}

#[tokio::test]
async fn days_are_listed_in_order_per_owner() {
    let ledger = store().await.ledger;
    let owner = alice();
    for day in [3, 0, 1] {
        add_to_totals(&ledger, &owner, Day::of(at(day * DAY)), &new_usage(day, 0, Some(0))).await.unwrap();
    }
    add_to_totals(&ledger, &Owner::new("alice#U"), today(), &new_usage(9, 9, None)).await.unwrap();
    let (first, last) = (Day::of(at(0)), Day::of(at(2 * DAY)));
    let days = ledger.days(UsageScope::User(&owner), first, last).await.unwrap();
    let seen: Vec<(Day, u64)> = days.into_iter().map(|day| (day.day, day.totals.input_tokens)).collect();
    assert_eq!(seen, [(first, 0), (Day::of(at(DAY)), 1)]);
}

#[tokio::test]
async fn entry_with_lost_response_counts_at_least_once() {
    let (wire, endpoint) = Wire::new().await;
    let ledger = store_without_retries_at(&endpoint).await.ledger;
    wire.fail("UpdateItem", &[Fault::LostResponse]);
    assert_eq!(add_to_totals(&ledger, &alice(), today(), &new_usage(1, 1, None)).await, Err(StoreError::Busy));
    let all = ledger.day(UsageScope::Global, today()).await.unwrap();
    assert_eq!((user_totals(&ledger).await.turns, all.turns), (1, 1));
}

#[tokio::test]
async fn f150_deleted_owner_leaves_no_usage() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let bob = Owner::new("bob");
    for owner in [&alice(), &bob] {
        add_to_totals(&store.ledger, owner, today(), &new_usage(1, 1, None)).await.unwrap();
        add_to_totals(&store.ledger, owner, Day::of(at(DAY)), &new_usage(1, 1, None)).await.unwrap();
    }
    assert_eq!(store.delete_owner(&alice()).await.unwrap().others, 2);
    assert_eq!(user_totals(&store.ledger).await, UsageTotals::default());
    assert_eq!(store.ledger.day(UsageScope::User(&bob), today()).await.unwrap().turns, 1);
    assert_eq!(rows(&endpoint, "data").await.len(), 4, "bob's days and everybody's");
}

#[tokio::test]
async fn day_has_parts_of_models_and_groups() {
    let store = store().await;
    let (owner, day) = (alice(), today());
    let groups = Groups::new(["研发".to_owned(), "legal".to_owned()]).unwrap();
    let turns = [("a", 3, Some(7)), ("b#1 模型", 5, None), ("a", 2, Some(1))]
        .map(|(model, input, cost)| (model, new_usage(input, 1, cost)));
    for (model, usage) in &turns {
        let turn = TurnUsage { usage, model, groups: &groups, is_task: false };
        store.ledger.add(UsageScope::User(&owner), day, &turn).await.unwrap();
    }
    let alone = new_usage(1, 1, None);
    store.ledger.add(UsageScope::User(&owner), day, &turn_usage(&alone, "c")).await.unwrap();
    let [DayUsage { totals, models, groups: kept, .. }] =
        &store.ledger.days(UsageScope::User(&owner), day, day).await.unwrap()[..]
    else {
        panic!("one day")
    };
    let parts = models.iter().map(|(name, part)| (name.as_str(), part.turns, part.input_tokens, part.cost_micros));
    assert_eq!(parts.collect::<Vec<_>>(), [("a", 2, 5, Some(8)), ("b#1 模型", 1, 5, None), ("c", 1, 1, None)]);
    assert_eq!(models.values().fold(UsageTotals::default(), |sum, part| sum.plus(*part)), *totals);
    assert_eq!(*kept, ["legal", "研发"], "a turn without groups changes none");
    store.delete_owner(&owner).await.unwrap();
    assert_eq!(store.ledger.days(UsageScope::User(&owner), day, day).await.unwrap(), []);
}

#[tokio::test]
async fn owners_are_listed_with_one_write_a_day() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await;
    let holder = Owner::key_holder("bob");
    let key = store::ApiKey::generate().unwrap();
    let new = store::NewKey {
        owner: "bob".to_owned(),
        administrator: false,
        expires: None,
        citation_links: false,
        groups: domain::Groups::default(),
    };
    store.keys.create(&key, &new, at(0)).await.unwrap();
    for owner in [&alice(), &holder] {
        add_to_totals(&store.ledger, owner, today(), &new_usage(1, 1, None)).await.unwrap();
    }
    wire.seen();
    for _ in 0..3 {
        store.ledger.list_owner(&alice(), today()).await.unwrap();
        store.ledger.list_owner(&holder, today()).await.unwrap();
    }
    assert_eq!(wire.seen(), ["BatchWriteItem"], "holders of keys are listed with their keys");
    let owners = async |day| {
        let mut owners = store.usage_by_owner(day, day).await.unwrap();
        owners.retain(|(_, days)| !days.is_empty());
        owners.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
        owners.into_iter().map(|(owner, days)| (owner, days[0].totals.turns)).collect::<Vec<_>>()
    };
    assert_eq!(owners(today()).await, [(alice(), 1), (holder.clone(), 1)]);
    assert_eq!(owners(Day::of(today().end())).await, []);
    store.erase(&alice(), at(0)).await.unwrap();
    assert_eq!(owners(today()).await, [(holder, 1)]);
    assert!(rows(&endpoint, "data").await.iter().all(|row| row["pk"].as_s().unwrap() != "USAGE#OWNERS"));
}
