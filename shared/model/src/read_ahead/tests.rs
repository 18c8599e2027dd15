use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::stream::poll_fn;
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::timeout;

use super::*;

type Piece = Result<Bytes, std::io::Error>;

/// A response whose pieces are handed on one by one, as those of a connection are.
fn response() -> (Sender<Piece>, ReadAhead) {
    let (sender, mut receiver) = channel::<Piece>(1);
    let body = reqwest::Body::wrap_stream(poll_fn(move |context| receiver.poll_recv(context)));
    (sender, ReadAhead::new(http::Response::new(body).into()))
}

fn piece(number: usize) -> Bytes {
    number.to_string().into()
}

/// Counts how often a reader is run.
#[derive(Default)]
struct Runs(AtomicUsize, tokio::sync::Notify);

impl Wake for Runs {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
        self.1.notify_one();
    }
}

/// Everything, and how often the reader was woken for it.
async fn read(ahead: &mut ReadAhead) -> (Vec<String>, Result<(), Broken>, usize) {
    let runs = Arc::<Runs>::default();
    let waker = Arc::clone(&runs).into();
    let mut pieces = Vec::new();
    loop {
        match pin!(ahead.next()).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(Ok(Some(piece))) => pieces.push(String::from_utf8(piece.to_vec()).unwrap()),
            Poll::Ready(end) => return (pieces, end.map(drop), runs.0.load(Ordering::Relaxed)),
            Poll::Pending => runs.1.notified().await,
        }
    }
}

#[tokio::test]
async fn pieces_that_come_one_upon_the_other_wake_their_reader_once_for_all() {
    let (sender, mut ahead) = response();
    let many = MOST * 4;
    tokio::spawn(async move {
        for number in 0..many {
            sender.send(Ok(piece(number))).await.unwrap();
        }
    });
    let (pieces, end, runs) = read(&mut ahead).await;
    assert_eq!(pieces, (0..many).map(|number| number.to_string()).collect::<Vec<_>>());
    assert_eq!(end, Ok(()));
    assert!(runs <= many / 8, "{runs} wake-ups for {many} pieces");
}

#[tokio::test]
async fn a_lone_piece_waits_for_no_other() {
    let (sender, mut ahead) = response();
    for number in 0..3 {
        sender.send(Ok(piece(number))).await.unwrap();
        assert_eq!(ahead.next().await, Ok(Some(piece(number))));
    }
    drop(sender);
    assert_eq!(ahead.next().await, Ok(None));
    assert_eq!(ahead.next().await, Ok(None), "and so it stays");
}

#[tokio::test]
async fn what_came_before_a_break_is_read_before_it() {
    let (sender, mut ahead) = response();
    for number in 0..3 {
        sender.send(Ok(piece(number))).await.unwrap();
    }
    sender.send(Err(std::io::ErrorKind::ConnectionReset.into())).await.unwrap();
    let (pieces, end, _) = read(&mut ahead).await;
    assert_eq!((pieces.concat().as_str(), end), ("012", Err(Broken)));
}

#[tokio::test(start_paused = true)]
async fn no_more_than_so_many_pieces_are_read_ahead_and_then_it_goes_on() {
    let (sender, mut ahead) = response();
    let mut sent = 0;
    while let Ok(outcome) = timeout(SOON, sender.send(Ok(piece(sent)))).await {
        outcome.unwrap();
        sent += 1;
    }
    // One is in the hand of the connection.
    assert_eq!(sent, MOST + 1);
    for number in 0..=MOST {
        assert_eq!(ahead.next().await, Ok(Some(piece(number))));
    }
    sender.send(Ok(piece(sent))).await.unwrap();
    assert_eq!(ahead.next().await, Ok(Some(piece(sent))));
}

#[tokio::test(start_paused = true)]
async fn so_many_bytes_are_enough() {
    let (sender, mut ahead) = response();
    let large = || Ok(Bytes::from(vec![0; MUCH / 2]));
    let mut sent = 0;
    while let Ok(outcome) = timeout(SOON, sender.send(large())).await {
        outcome.unwrap();
        sent += 1;
    }
    assert_eq!(sent, 3, "two of them, and one in the hand of the connection");
    for _ in 0..3 {
        assert_eq!(ahead.next().await.unwrap().unwrap().len(), MUCH / 2);
    }
    sender.send(large()).await.unwrap();
    assert!(ahead.next().await.unwrap().is_some());
}

/// What a reader waits for that has been let wait once.
fn waiting(pieces: usize, soon: bool) -> State {
    let pieces = (0..pieces).map(piece).collect();
    State { pieces, soon, reader: Some(Waker::noop().clone()), ..State::default() }
}

#[test]
fn others_are_let_pass_while_something_comes_of_it_and_so_often_at_most() {
    let mut state = waiting(1, true);
    assert!(state.lets_pass());
    assert!(!state.lets_pass() && state.reader.is_some(), "they have not passed yet");
    state.passed = true;
    assert!(!state.lets_pass() && state.reader.is_none(), "nothing came");
    let mut state = waiting(0, true);
    let passes = (1..).take_while(|number| {
        state.pieces.push_back(piece(*number));
        state.passed = true;
        state.lets_pass()
    });
    assert_eq!(passes.count(), PASSES as usize);
    assert!(state.reader.is_none());
}

#[test]
fn of_a_piece_that_comes_alone_the_reader_is_told_at_once() {
    let mut state = waiting(1, false);
    assert!(!state.lets_pass() && state.reader.is_none());
}

#[tokio::test]
async fn a_reader_that_leaves_closes_the_connection() {
    let (sender, ahead) = response();
    drop(ahead);
    sender.closed().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_ended_breaks_the_response_off() {
    let (_sender, mut ahead) = response();
    ahead.task.abort();
    assert_eq!(timeout(SOON, ahead.next()).await.unwrap(), Err(Broken));
}

#[test]
fn a_row_of_quick_pieces_is_fast_and_a_pause_begins_anew() {
    let mut pace = Pace::default();
    let mut now = Instant::now();
    let mut after = |pause| {
        now += pause;
        pace.is_fast(now)
    };
    let row: Vec<_> = (0..=ROW).map(|_| after(SOON / 2)).collect();
    assert_eq!(row.iter().filter(|fast| **fast).count(), 1, "with the last of the row: {row:?}");
    assert!(!after(SOON), "too late");
    assert!(!after(SOON / 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_between_two_threads() {
    let (sender, mut ahead) = response();
    let many = MOST * 40;
    tokio::spawn(async move {
        for number in 0..many {
            sender.send(Ok(piece(number))).await.unwrap();
        }
    });
    let (pieces, end, _) = read(&mut ahead).await;
    assert_eq!((pieces, end), ((0..many).map(|number| number.to_string()).collect(), Ok(())));
}
