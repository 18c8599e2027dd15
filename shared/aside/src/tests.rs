use std::future::{pending, poll_fn};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{join, select};
use tokio::sync::Notify;
use tokio::sync::oneshot::channel;
use tokio::task::yield_now;

use super::*;

/// How often it was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Woken {
    fn times(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A future that counts how often it is polled, and the waker it was given last.
#[derive(Default)]
struct Polled {
    times: usize,
    waker: Option<Waker>,
}

impl Future for Polled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.times += 1;
        self.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

#[test]
fn a_future_is_polled_when_it_was_woken_and_not_when_its_task_was() {
    let (task, mut aside) = (Arc::<Woken>::default(), Aside::new(Polled::default()));
    let waker = Waker::from(Arc::clone(&task));
    for _ in 0..5 {
        assert!(poll(&mut aside, &waker).is_pending());
    }
    assert_eq!((aside.future.times, task.times()), (1, 0));
    aside.future.waker.as_ref().unwrap().wake_by_ref();
    assert_eq!(task.times(), 1, "its task is woken with it");
    for _ in 0..5 {
        assert!(poll(&mut aside, &waker).is_pending());
    }
    assert_eq!(aside.future.times, 2);
}

#[test]
fn the_task_that_polled_last_is_woken_though_the_future_was_not_polled_then() {
    let (first, second) = (Arc::<Woken>::default(), Arc::<Woken>::default());
    let mut aside = Aside::new(Polled::default());
    assert!(poll(&mut aside, &Arc::clone(&first).into()).is_pending());
    assert!(poll(&mut aside, &Arc::clone(&second).into()).is_pending());
    aside.future.waker.as_ref().unwrap().wake_by_ref();
    assert_eq!((first.times(), second.times(), aside.future.times), (0, 1, 1));
}

#[test]
fn what_can_wake_a_future_that_is_gone_does_not_keep_its_task() {
    let (task, mut aside) = (Arc::<Woken>::default(), Aside::new(Polled::default()));
    assert!(poll(&mut aside, &Arc::clone(&task).into()).is_pending());
    let kept = aside.future.waker.clone();
    assert!(kept.is_some() && Arc::strong_count(&task) > 1);
    drop(aside);
    assert_eq!(Arc::strong_count(&task), 1);
}

#[tokio::test]
async fn what_it_waits_for_comes_through_while_its_task_is_busy_with_something_else() {
    let (sender, receiver) = channel();
    let busy = async {
        for _ in 0..100 {
            yield_now().await;
        }
        sender.send(7).unwrap();
        for _ in 0..100 {
            yield_now().await;
        }
    };
    assert_eq!(join(Aside::new(receiver), busy).await.0, Ok(7));
}

#[test]
fn a_bell_wakes_the_task_that_attends_to_it_and_can_be_silenced_once() {
    let (bell, task, before) = (Arc::new(Bell::ringing()), Arc::<Woken>::default(), Arc::<Woken>::default());
    assert!(bell.rings(), "it rings from the start");
    assert!(bell.silence() && !bell.silence() && !bell.rings());
    bell.attend(&Arc::clone(&before).into());
    bell.attend(&Arc::clone(&task).into());
    Waker::from(Arc::clone(&bell)).wake();
    assert!(bell.rings());
    assert_eq!((before.times(), task.times()), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_wake_up_is_lost_between_threads() {
    for _ in 0..2_000 {
        let (notify, begun) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (ringing, wait) = (Arc::clone(&notify), Arc::clone(&begun));
        let ring = tokio::spawn(async move {
            wait.notified().await;
            ringing.notify_one();
        });
        let mut aside = Aside::new(Box::pin(notify.notified()));
        let waited = poll_fn(|context| {
            begun.notify_one();
            // Another task looks just before this one.
            match poll(&mut aside, Waker::noop()) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => Pin::new(&mut aside).poll(context),
            }
        });
        tokio::time::timeout(Duration::from_secs(20), waited).await.expect("it was woken");
        ring.await.unwrap();
    }
}

/// What a place stands in.
#[derive(Default)]
struct House(Inmost);

impl Wake for House {
    fn wake(self: Arc<Self>) {
        self.0.ring();
    }
}

/// Polls what stands in the place, then the whole if that was woken, as whoever opens a place does.
async fn driven<T>(house: &Arc<House>, whole: impl Future<Output = T>) -> (T, usize) {
    let (mut whole, mut times) = (Aside::new(Box::pin(whole)), 0);
    let (place, waker) = (&house.0, Arc::clone(house).into());
    place.open();
    let output = poll_fn(|context| {
        place.attend(context.waker());
        place.poll(&waker);
        times += usize::from(whole.bell.rings());
        Pin::new(&mut whole).poll(context)
    })
    .await;
    (output, times)
}

async fn counted(times: usize) -> usize {
    for _ in 0..times {
        yield_now().await;
    }
    times
}

#[tokio::test]
async fn what_runs_in_the_inmost_place_does_not_poll_what_waits_for_it() {
    let house = Arc::<House>::default();
    let whole = async {
        let first = house.0.run(counted(50)).await;
        first + house.0.run(counted(30)).await
    };
    let (output, times) = driven(&house, whole).await;
    assert_eq!(
        (output, times),
        (80, 5),
        "to begin, and twice for each: what it was woken for before it stood there, and its end"
    );
}

#[tokio::test]
async fn where_nobody_polls_the_place_a_future_runs_where_it_is_awaited() {
    assert_eq!(Inmost::default().run(counted(3)).await, 3);
}

#[tokio::test]
async fn what_nobody_waits_for_any_more_is_dropped_at_once() {
    let (house, connection) = (Arc::<House>::default(), Arc::new(()));
    let whole = async {
        let copy = Arc::clone(&connection);
        let never = house.0.run(async move {
            pending::<()>().await;
            drop(copy);
        });
        select(Box::pin(never), Box::pin(counted(3))).await;
        Arc::strong_count(&connection)
    };
    assert_eq!(driven(&house, whole).await.0, 1);
    assert_eq!(driven(&house, house.0.run(counted(2))).await.0, 2, "the place can be used again");
}

#[tokio::test]
async fn a_panic_in_the_inmost_place_is_one_where_it_is_awaited() {
    let house = Arc::<House>::default();
    let whole = async {
        let panics = house.0.run(async {
            yield_now().await;
            assert_eq!(1, 2, "as expected");
        });
        let ended = AssertUnwindSafe(panics).catch_unwind().await;
        (ended.is_err(), house.0.run(counted(2)).await)
    };
    assert_eq!(driven(&house, whole).await.0, (true, 2), "the place can be used again");
}

#[tokio::test]
async fn what_can_be_done_at_once_is_done_before_the_whole_waits() {
    let (house, done) = (Arc::<House>::default(), Arc::new(AtomicBool::new(false)));
    house.0.open();
    let tells = Arc::clone(&done);
    let words = house.0.run(async move {
        tells.store(true, Ordering::SeqCst);
        pending::<()>().await;
    });
    assert!(words.now_or_never().is_none());
    assert!(done.load(Ordering::SeqCst));
}
