use std::future::{pending, poll_fn};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{join, select};
use futures_util::task::noop_waker;
use tokio::sync::Notify;
use tokio::sync::oneshot::channel;
use tokio::task::yield_now;
use tokio::time::{Sleep, sleep};

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
    ends: bool,
}

impl Future for Polled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.times += 1;
        self.waker = Some(context.waker().clone());
        if self.ends { Poll::Ready(()) } else { Poll::Pending }
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
    assert_eq!((aside.future().times, task.times()), (1, 0));
    aside.future().waker.as_ref().unwrap().wake_by_ref();
    assert_eq!(task.times(), 1, "its task is woken with it");
    for _ in 0..5 {
        assert!(poll(&mut aside, &waker).is_pending());
    }
    assert_eq!(aside.future().times, 2);
}

#[test]
fn the_task_that_polled_last_is_woken_though_the_future_was_not_polled_then() {
    let (first, second) = (Arc::<Woken>::default(), Arc::<Woken>::default());
    let mut aside = Aside::new(Polled::default());
    assert!(poll(&mut aside, &Arc::clone(&first).into()).is_pending());
    assert!(poll(&mut aside, &Arc::clone(&second).into()).is_pending());
    aside.future().waker.as_ref().unwrap().wake_by_ref();
    assert_eq!((first.times(), second.times(), aside.future().times), (0, 1, 1));
}

#[test]
fn a_future_that_was_changed_is_polled_without_being_woken() {
    let mut aside = Aside::new(Polled::default());
    assert!(poll(&mut aside, &noop_waker()).is_pending());
    aside.change().ends = true;
    assert!(poll(&mut aside, &noop_waker()).is_ready());
}

#[tokio::test(start_paused = true)]
async fn a_timer_that_ended_ends_again_and_can_be_set_anew() {
    let mut timer = Aside::new(Box::pin(sleep(Duration::from_secs(1))));
    (&mut timer).await;
    (&mut timer).await;
    let until = timer.future().deadline() + Duration::from_secs(5);
    timer.change().as_mut().reset(until);
    let (mut other, begun) = (Box::pin(sleep(Duration::from_secs(4))), tokio::time::Instant::now());
    let first: &mut Pin<Box<Sleep>> = &mut other;
    select(first, &mut timer).await;
    assert_eq!(begun.elapsed().as_secs(), 4, "it is not over yet");
    timer.await;
    assert_eq!(begun.elapsed().as_secs(), 5);
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
fn a_bell_is_quiet_for_the_task_that_attends_to_it_and_no_other() {
    let (bell, task) = (Bell::ringing(), Arc::<Woken>::default());
    let (mine, another) = (Waker::from(Arc::clone(&task)), Waker::from(Arc::<Woken>::default()));
    bell.attend(&mine);
    assert!(!bell.is_quiet_for(&mine), "it rings from the start");
    assert!(bell.silence() && !bell.silence());
    assert!(bell.is_quiet_for(&mine) && !bell.is_quiet_for(&another));
    Waker::from(Arc::clone(&bell)).wake();
    assert!(bell.rings() && !bell.is_quiet_for(&mine));
    assert_eq!(task.times(), 1);
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

/// Polls what stands in the place, then the whole if that was woken, as whoever opens a place does.
async fn driven<T>(place: &Inmost, whole: impl Future<Output = T>) -> (T, usize) {
    let (mut whole, mut times) = (Aside::new(Box::pin(whole)), 0);
    place.open();
    let output = poll_fn(|context| {
        place.attend(context.waker());
        place.poll();
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
    let place = Inmost::default();
    let whole = async {
        let first = place.run(counted(50)).await;
        first + place.run(counted(30)).await
    };
    let (output, times) = driven(&place, whole).await;
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
    let (place, connection) = (Inmost::default(), Arc::new(()));
    let whole = async {
        let copy = Arc::clone(&connection);
        let never = place.run(async move {
            pending::<()>().await;
            drop(copy);
        });
        select(Box::pin(never), Box::pin(counted(3))).await;
        Arc::strong_count(&connection)
    };
    assert_eq!(driven(&place, whole).await.0, 1);
    assert_eq!(driven(&place, place.run(counted(2))).await.0, 2, "the place can be used again");
}

#[tokio::test]
async fn a_panic_in_the_inmost_place_is_one_where_it_is_awaited() {
    let place = Inmost::default();
    let whole = async {
        let panics = place.run(async {
            yield_now().await;
            assert_eq!(1, 2, "as expected");
        });
        let ended = AssertUnwindSafe(panics).catch_unwind().await;
        (ended.is_err(), place.run(counted(2)).await)
    };
    assert_eq!(driven(&place, whole).await.0, (true, 2), "the place can be used again");
}

#[tokio::test]
async fn what_can_be_done_at_once_is_done_before_the_whole_waits() {
    let (place, done) = (Inmost::default(), Arc::new(AtomicBool::new(false)));
    place.open();
    let tells = Arc::clone(&done);
    let words = place.run(async move {
        tells.store(true, Ordering::SeqCst);
        pending::<()>().await;
    });
    assert!(words.now_or_never().is_none());
    assert!(done.load(Ordering::SeqCst));
}
