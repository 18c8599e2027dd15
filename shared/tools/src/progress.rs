//! What a running call says of itself, as far as it is passed on.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until};

/// The most that is passed on of one call, in bytes.
const MOST: usize = 64 * 1024;

/// The shortest time between two parts.
const PAUSE: Duration = Duration::from_millis(100);

/// Where a call tells how far it is; nowhere by default.
///
/// What it is told reaches the user only, ten times a second and 64 KiB at most; the model reads the result.
#[derive(Clone, Debug, Default)]
pub struct Progress(Option<Telling>);

#[derive(Clone, Debug)]
struct Telling {
    parts: UnboundedSender<String>,
    left: Arc<AtomicUsize>,
}

impl Progress {
    /// A call's end of it, and the end from which its parts are passed on.
    pub(crate) fn channel() -> (Self, Parts) {
        let (parts, received) = unbounded_channel();
        let telling = Telling { parts, left: Arc::new(AtomicUsize::new(MOST)) };
        (Self(Some(telling)), Parts { received, held: String::new(), last: None })
    }

    /// Tells more; what is more than a call may tell is lost.
    pub fn tell(&self, text: &str) {
        let Some(Telling { parts, left }) = &self.0 else { return };
        let shown = |room: usize| text.get(..text.floor_char_boundary(room)).unwrap_or_default();
        let take = |room| Some(room - shown(room).len());
        let room = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).unwrap_or_default();
        let shown = shown(room);
        if !shown.is_empty() {
            // Nobody is there any more when the call is being given up.
            let _gone = parts.send(shown.to_owned());
        }
    }
}

/// The parts that a call tells, in the order in which it does.
pub(crate) struct Parts {
    received: UnboundedReceiver<String>,
    held: String,
    last: Option<Instant>,
}

impl Parts {
    /// Runs a call to its end, and passes on what it tells meanwhile: as it comes, joined where it comes too fast.
    pub(crate) async fn beside<T>(&mut self, call: impl Future<Output = T>, tell: &(dyn Fn(String) + Sync)) -> T {
        let mut call = pin!(call);
        let ended = tokio::select! {
            biased;
            ended = &mut call => ended,
            () = self.pass_on(tell) => call.await,
        };
        self.rest(tell);
        ended
    }

    async fn pass_on(&mut self, tell: &(dyn Fn(String) + Sync)) {
        while let Some(part) = self.received.recv().await {
            self.held.push_str(&part);
            if let Some(last) = self.last {
                sleep_until(last + PAUSE).await;
            }
            self.rest(tell);
        }
    }

    fn rest(&mut self, tell: &(dyn Fn(String) + Sync)) {
        while let Ok(part) = self.received.try_recv() {
            self.held.push_str(&part);
        }
        if !self.held.is_empty() {
            self.last = Some(Instant::now());
            tell(std::mem::take(&mut self.held));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// What is passed on of a call that tells something every so many milliseconds, and when.
    async fn told(steps: &[(u64, &str)]) -> Vec<(u128, String)> {
        let (progress, mut parts) = Progress::channel();
        let (began, told) = (Instant::now(), Mutex::new(Vec::new()));
        let tell = |text| told.lock().unwrap().push((began.elapsed().as_millis(), text));
        let call = async {
            for (pause, text) in steps {
                tokio::time::sleep(Duration::from_millis(*pause)).await;
                progress.tell(text);
            }
        };
        parts.beside(call, &tell).await;
        told.into_inner().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn parts_that_come_too_fast_are_joined_and_none_is_lost_at_the_end() {
        let steps = [(0, "a"), (10, "b"), (20, "c"), (200, "d"), (1, "e")];
        let expected = [(0, "a"), (100, "bc"), (230, "d"), (231, "e")];
        assert_eq!(told(&steps).await, expected.map(|(at, text)| (at, text.to_owned())));
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_call_tells_is_cut_where_it_becomes_too_much() {
        let long = "汉".repeat(MOST / 3 - 1);
        let told = told(&[(0, &long), (0, "汉汉汉"), (0, "a"), (0, "bcdefg")]).await;
        let all: String = told.into_iter().map(|(_, text)| text).collect();
        assert_eq!(all, format!("{long}汉a"));
    }
}
