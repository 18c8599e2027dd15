//! Progress of a running call, limited in rate and size.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until};

/// Maximum size of the progress of one call, in bytes.
const MOST: usize = 64 * 1024;

/// Minimum interval between two parts.
const PAUSE: Duration = Duration::from_millis(100);

/// The channel to which a call reports its progress; by default it discards everything.
///
/// Only the user receives the progress, at most ten times a second and at most 64 KiB; the model reads the result.
#[derive(Clone, Debug, Default)]
pub struct Progress(Option<Telling>);

#[derive(Clone, Debug)]
struct Telling {
    parts: UnboundedSender<String>,
    left: Arc<AtomicUsize>,
}

impl Progress {
    /// Creates the sender for a call and the receiver that forwards its parts.
    pub(crate) fn channel() -> (Self, Parts) {
        let (parts, received) = unbounded_channel();
        let telling = Telling { parts, left: Arc::new(AtomicUsize::new(MOST)) };
        (Self(Some(telling)), Parts { received, held: String::new(), last: None })
    }

    /// Sends more text; text over the limit is dropped.
    pub fn tell(&self, text: &str) {
        let Some(Telling { parts, left }) = &self.0 else { return };
        let shown = |room: usize| text.get(..text.floor_char_boundary(room)).unwrap_or_default();
        let take = |room| Some(room - shown(room).len());
        let room = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).unwrap_or_default();
        let shown = shown(room);
        if !shown.is_empty() {
            // The receiver is gone when the call is being cancelled.
            let _gone = parts.send(shown.to_owned());
        }
    }
}

/// The receiver for the progress of a call, in order.
pub(crate) struct Parts {
    received: UnboundedReceiver<String>,
    held: String,
    last: Option<Instant>,
}

impl Parts {
    /// Runs a call to its end and forwards its progress meanwhile. Parts within the minimum interval are joined.
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

    /// Runs a call that sends a text after each pause in milliseconds; returns the forwarded parts with their times.
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
    async fn fast_parts_are_joined_and_none_is_lost() {
        let steps = [(0, "a"), (10, "b"), (20, "c"), (200, "d"), (1, "e")];
        let expected = [(0, "a"), (100, "bc"), (230, "d"), (231, "e")];
        assert_eq!(told(&steps).await, expected.map(|(at, text)| (at, text.to_owned())));
    }

    #[tokio::test(start_paused = true)]
    async fn progress_is_truncated_at_the_size_limit() {
        let long = "汉".repeat(MOST / 3 - 1);
        let told = told(&[(0, &long), (0, "汉汉汉"), (0, "a"), (0, "bcdefg")]).await;
        let all: String = told.into_iter().map(|(_, text)| text).collect();
        assert_eq!(all, format!("{long}汉a"));
    }
}
