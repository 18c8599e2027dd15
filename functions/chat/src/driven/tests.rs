use agent::Events;
use conversation::Event;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::{AbortHandle, Id, try_id};
use tokio::time::timeout;

use super::*;

/// A turn that says each word it is sent, and notes on which task it did.
struct Said {
    words: Sender<&'static str>,
    events: Events,
    tasks: Arc<Mutex<Vec<Option<Id>>>>,
    guardian: AbortHandle,
}

/// What never comes is missed after this.
const LONG: Duration = Duration::from_secs(20);

/// The turn itself says the words, or a part of it in the inmost place.
const BOTH: [fn() -> (Reader, Said); 2] = [start, start_inmost];

fn start() -> (Reader, Said) {
    begin(false)
}

fn start_inmost() -> (Reader, Said) {
    begin(true)
}

fn begin(inmost: bool) -> (Reader, Said) {
    let (words, coming) = channel::<&str>(2);
    let (events, tasks) = (Events::default(), Arc::<Mutex<Vec<Option<Id>>>>::default());
    let (closing, saying, by) = (events.closing(), events.clone(), Arc::clone(&tasks));
    let turn = async move {
        let _closing = closing;
        let saying_all = say(coming, saying.clone(), by);
        if inmost { saying.inmost().run(saying_all).await } else { saying_all.await }
    };
    let (reader, guardian) = driven(turn, events.follow(0));
    let guardian = tokio::spawn(guardian).abort_handle();
    (reader, Said { words, events, tasks, guardian })
}

async fn say(mut coming: Receiver<&'static str>, saying: Events, by: Arc<Mutex<Vec<Option<Id>>>>) {
    while let Some(word) = coming.recv().await {
        assert_ne!(word, "panic");
        by.lock().unwrap().push(try_id());
        saying.send(Event::Text { delta: word.to_owned() });
    }
}

impl Said {
    fn say(&self, word: &'static str) {
        self.words.try_send(word).unwrap();
    }

    fn text(&self) -> String {
        self.events.draft().content.clone()
    }

    /// Waits for the end of the turn.
    async fn over(self) -> String {
        let Self { words, events, .. } = self;
        drop(words);
        let all = timeout(LONG, events.follow(0).collect::<Vec<_>>()).await;
        assert!(all.is_ok(), "it ends in time");
        events.draft().content.clone()
    }
}

/// A task of another thread.
struct Elsewhere;

impl Wake for Elsewhere {
    fn wake(self: Arc<Self>) {}
}

async fn read(reader: &mut Reader) -> Option<String> {
    let batch = timeout(LONG, reader.next()).await.expect("it is told in time")?;
    let words = batch.iter().map(|event| match event {
        Event::Text { delta } => delta.as_str(),
        _ => "?",
    });
    Some(words.collect())
}

#[tokio::test(start_paused = true)]
async fn a_turn_runs_on_the_task_of_its_reader() {
    for start in BOTH {
        let (mut reader, said) = start();
        let tasks = Arc::clone(&said.tasks);
        let reading = tokio::spawn(async move {
            let mut text = Vec::new();
            while let Some(words) = read(&mut reader).await {
                text.push(words);
            }
            (try_id(), text)
        });
        for word in ["a", "b"] {
            said.say(word);
            sleep(LOOK * 3).await;
        }
        let guardian = said.guardian.clone();
        drop(said);
        let (reader, text) = reading.await.unwrap();
        assert_eq!(text, ["a", "b"]);
        assert_eq!(*tasks.lock().unwrap(), [reader, reader]);
        timeout(LOOK / 2, async {
            while !guardian.is_finished() {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn a_reader_that_is_woken_for_something_else_does_not_run_the_turn() {
    for start in BOTH {
        let (mut reader, said) = start();
        assert!(read(&mut reader).now_or_never().is_none());
        assert!(read(&mut reader).now_or_never().is_none());
        assert_eq!(reader.driver.shared.runs.load(Ordering::Relaxed), 1);
        said.say("a");
        assert_eq!(read(&mut reader).await.unwrap(), "a");
        assert_eq!(reader.driver.shared.runs.load(Ordering::Relaxed), 2);
    }
}

#[tokio::test]
async fn all_that_a_turn_says_at_once_is_one_batch() {
    for start in BOTH {
        let (mut reader, said) = start();
        assert!(read(&mut reader).now_or_never().is_none());
        for word in ["a", "b"] {
            said.say(word);
        }
        assert_eq!(read(&mut reader).await.unwrap(), "ab");
    }
}

#[tokio::test(start_paused = true)]
async fn f096_a_turn_goes_on_when_its_reader_leaves() {
    for start in BOTH {
        let (mut reader, said) = start();
        said.say("a");
        assert_eq!(read(&mut reader).await.unwrap(), "a");
        said.say("b");
        drop(reader);
        assert_eq!(timeout(LOOK / 2, said.over()).await.unwrap(), "ab");
    }
}

#[tokio::test(start_paused = true)]
async fn f096_a_turn_runs_that_nobody_ever_read() {
    for start in BOTH {
        let (reader, said) = start();
        drop(reader);
        said.say("a");
        assert_eq!(said.over().await, "a");
    }
}

#[tokio::test(start_paused = true)]
async fn f097_a_client_that_does_not_read_holds_its_turn_up_for_a_moment_at_most_and_once() {
    for start in BOTH {
        let (mut reader, said) = start();
        said.say("a");
        assert_eq!(read(&mut reader).await.unwrap(), "a");
        sleep(LOOK * 10).await;
        said.say("b");
        sleep(LOOK * 2).await;
        assert_eq!(said.text(), "ab");
        said.say("c");
        sleep(LOOK / 10).await;
        assert_eq!(said.text(), "abc");
        // It reads again: all is there, and what is said from now on comes at once.
        assert_eq!(read(&mut reader).await.unwrap(), "bc");
        let reading = tokio::spawn(async move { (read(&mut reader).await, read(&mut reader).await) });
        sleep(LOOK / 10).await;
        said.say("d");
        sleep(LOOK / 10).await;
        drop(said.words);
        assert_eq!(timeout(LOOK / 10, reading).await.unwrap().unwrap(), (Some("d".to_owned()), None));
    }
}

#[tokio::test(start_paused = true)]
async fn f097_a_client_that_reads_now_and_then_holds_its_turn_up_no_longer() {
    for start in BOTH {
        let (mut reader, said) = start();
        for _ in 0..3 {
            said.say("a");
            sleep(LOOK * 6 / 5).await;
            assert_eq!(read(&mut reader).now_or_never().unwrap().unwrap(), "a");
        }
        said.say("b");
        sleep(LOOK / 10).await;
        assert_eq!(said.text(), "aaab");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_waits_when_its_turn_is_taken_over_is_told_the_rest() {
    for start in BOTH {
        let (mut reader, said) = start();
        let shared = Arc::clone(&reader.driver.shared);
        let mut driver = Driver::new(&shared, true);
        let elsewhere = Waker::from(Arc::new(Elsewhere));
        let mut guardian = || driver.run(&Context::from_waker(&elsewhere));
        let reading = tokio::spawn(async move { read(&mut reader).await });
        sleep(LOOK / 10).await;
        // As when it came by on another thread, just after it had been found missing.
        shared.take();
        assert_eq!(guardian(), Some(Poll::Pending));
        sleep(LOOK / 10).await;
        said.say("a");
        assert_eq!(guardian(), Some(Poll::Pending));
        assert_eq!(timeout(LOOK / 10, reading).await.unwrap().unwrap().unwrap(), "a");
    }
}

#[tokio::test]
async fn a_turn_that_is_over_keeps_no_task_whatever_is_kept_of_it() {
    for start in BOTH {
        let (mut reader, said) = start();
        let (task, waits) = (Arc::new(Elsewhere), said.events.clone());
        let waker = Waker::from(Arc::clone(&task));
        let next = |reader: &mut Reader| reader.poll_next_unpin(&mut Context::from_waker(&waker)).map(drop);
        assert!(next(&mut reader).is_pending());
        // Who waits for so much that it never comes, as the log of a turn does.
        let full = reader.driver.waker.clone();
        assert!(Box::pin(waits.filled(1_000)).poll_unpin(&mut Context::from_waker(&full)).is_pending());
        drop(full);
        drop(said.words);
        while next(&mut reader).is_pending() {
            tokio::task::yield_now().await;
        }
        let shared = Arc::downgrade(&reader.driver.shared);
        drop(reader);
        drop(waker);
        assert_eq!(Arc::strong_count(&task), 1);
        timeout(LONG, async {
            while shared.upgrade().is_some() {
                tokio::task::yield_now().await;
            }
        })
        .await
        .expect("the turn is gone, though its events are kept");
        drop(waits);
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_the_turn_and_not_its_reader() {
    for start in BOTH {
        let (mut reader, said) = start();
        said.say("a");
        said.say("panic");
        assert_eq!(read(&mut reader).await.unwrap(), "a");
        assert_eq!(timeout(LOOK / 2, read(&mut reader)).await.unwrap(), None);
    }
}

#[tokio::test]
async fn with_the_runtime_the_turn_ends_too() {
    for start in BOTH {
        let (mut reader, said) = start();
        said.guardian.abort();
        said.words.closed().await;
        assert_eq!(reader.next().await, None);
    }
}

#[tokio::test]
async fn a_reader_that_waits_is_told_when_nobody_runs_its_turn_any_more() {
    for start in BOTH {
        let (mut reader, said) = start();
        let reading = tokio::spawn(async move {
            assert!(read(&mut reader).now_or_never().is_none());
            reader.next().await
        });
        tokio::task::yield_now().await;
        said.guardian.abort();
        assert_eq!(timeout(LONG, reading).await.unwrap().unwrap(), None);
    }
}
