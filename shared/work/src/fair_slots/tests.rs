use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::*;

/// Polls once; a waiting request acquires a freed slot in one poll.
fn poll<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

#[test]
fn owner_uses_one_slot_at_a_time() {
    let slots = FairSlots::new(2);
    let (mut first, mut second) = (pin!(slots.acquire(&"ada")), pin!(slots.acquire(&"ada")));
    let slot = poll(first.as_mut());
    assert!(slot.is_some() && poll(second.as_mut()).is_none());
    assert!(poll(pin!(slots.acquire(&"bob"))).is_some(), "the other slot is another owner's");
    drop(slot);
    assert!(poll(second.as_mut()).is_some());
}

#[test]
fn owner_may_use_several_slots_where_set() {
    let slots = FairSlots::new(3).with_per_owner(2);
    let mut requests: Vec<_> = (0..3).map(|_| Box::pin(slots.acquire(&"ada"))).collect();
    let running: Vec<_> = requests.iter_mut().map(|request| poll(request.as_mut())).collect();
    assert_eq!(running.iter().flatten().count(), 2);
    assert!(poll(pin!(slots.acquire(&"bob"))).is_some(), "the last slot is another owner's");
}

#[test]
fn other_owners_pass_a_flood() {
    let slots = FairSlots::new(1);
    let mut flood: Vec<_> = (0..100).map(|_| Box::pin(slots.acquire(&"ada"))).collect();
    let mut running: Vec<_> = flood.iter_mut().map(|request| poll(request.as_mut())).collect();
    assert_eq!(running.iter().flatten().count(), 1);
    let (mut bob, mut eve) = (pin!(slots.acquire(&"bob")), pin!(slots.acquire(&"eve")));
    assert!(poll(bob.as_mut()).is_none() && poll(eve.as_mut()).is_none());
    running.clear();
    assert!(flood.iter_mut().skip(1).all(|request| poll(request.as_mut()).is_none()), "the flood is behind the others");
    let slot = poll(bob.as_mut());
    assert!(slot.is_some() && poll(eve.as_mut()).is_none());
    drop(slot);
    assert!(poll(eve.as_mut()).is_some());
}

#[test]
fn abandoned_requests_free_their_lane() {
    let slots = FairSlots::new(1);
    let slot = poll(pin!(slots.acquire(&"ada")));
    {
        let (mut next, mut other) = (pin!(slots.acquire(&"ada")), pin!(slots.acquire(&"bob")));
        assert!(poll(next.as_mut()).is_none() && poll(other.as_mut()).is_none());
        assert_eq!(lock(&slots.lanes).len(), 2);
    }
    assert_eq!(lock(&slots.lanes).len(), 1);
    drop(slot);
    assert!(lock(&slots.lanes).is_empty());
    assert!(poll(pin!(slots.acquire(&"bob"))).is_some());
}
