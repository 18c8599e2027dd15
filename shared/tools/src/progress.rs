//! Progress of a running call, limited in rate and size.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until};

/// Maximum size of the progress of one call, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// Minimum interval between two parts.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// The channel to which a call reports its progress; by default it discards everything.
///
/// Only the user receives the progress, at most ten times a second and at most 64 KiB; the model reads the result.
#[derive(Clone, Debug, Default)]
pub struct Progress(Option<(UnboundedSender<String>, Remaining)>);

/// How many bytes may still be sent.
type Remaining = Arc<AtomicUsize>;

impl Progress {
    /// Creates the sender for a call and the receiver that forwards its parts.
    pub fn channel() -> (Self, ProgressReceiver) {
        let (parts, received) = unbounded_channel();
        let remaining = Arc::new(AtomicUsize::new(MAX_BYTES));
        (Self(Some((parts, remaining))), ProgressReceiver { received, buffer: String::new(), last: None })
    }

    /// Sends more text; text over the limit is dropped.
    pub fn send(&self, text: &str) {
        let Some((parts, remaining)) = &self.0 else { return };
        let prefix = |limit: usize| text.get(..text.floor_char_boundary(limit)).unwrap_or_default();
        let take = |limit| Some(limit - prefix(limit).len());
        let available = remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).unwrap_or_default();
        let part = prefix(available);
        if !part.is_empty() {
            // The receiver is gone when the call is being cancelled.
            let _gone = parts.send(part.to_owned());
        }
    }
}

/// The receiver for the progress of a call, in order.
pub struct ProgressReceiver {
    received: UnboundedReceiver<String>,
    buffer: String,
    last: Option<Instant>,
}

impl ProgressReceiver {
    /// Runs a call to its end and forwards its progress meanwhile. Parts within the minimum interval are joined.
    pub async fn forward_during<T>(
        &mut self,
        call: impl Future<Output = T>,
        on_progress: &(dyn Fn(String) + Sync),
    ) -> T {
        let mut call = pin!(call);
        let ended = tokio::select! {
            biased;
            ended = &mut call => ended,
            () = self.forward(on_progress) => call.await,
        };
        self.flush(on_progress);
        ended
    }

    async fn forward(&mut self, on_progress: &(dyn Fn(String) + Sync)) {
        while let Some(part) = self.received.recv().await {
            self.buffer.push_str(&part);
            if let Some(last) = self.last {
                sleep_until(last + MIN_INTERVAL).await;
            }
            self.flush(on_progress);
        }
    }

    fn flush(&mut self, on_progress: &(dyn Fn(String) + Sync)) {
        while let Ok(part) = self.received.try_recv() {
            self.buffer.push_str(&part);
        }
        if !self.buffer.is_empty() {
            self.last = Some(Instant::now());
            on_progress(std::mem::take(&mut self.buffer));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Runs a call that sends a text after each pause in milliseconds; returns the forwarded parts with their times.
    async fn forwarded_parts(steps: &[(u64, &str)]) -> Vec<(u128, String)> {
        let (progress, mut receiver) = Progress::channel();
        let (began, forwarded) = (Instant::now(), Mutex::new(Vec::new()));
        let on_progress = |text| forwarded.lock().unwrap().push((began.elapsed().as_millis(), text));
        let call = async {
            for (pause, text) in steps {
                tokio::time::sleep(Duration::from_millis(*pause)).await;
                progress.send(text);
            }
        };
        receiver.forward_during(call, &on_progress).await;
        forwarded.into_inner().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn fast_parts_are_joined_and_none_is_lost() {
        let steps = [(0, "a"), (10, "b"), (20, "c"), (200, "d"), (1, "e")];
        let expected = [(0, "a"), (100, "bc"), (230, "d"), (231, "e")];
        assert_eq!(forwarded_parts(&steps).await, expected.map(|(at, text)| (at, text.to_owned())));
    }

    #[tokio::test(start_paused = true)]
    async fn progress_is_truncated_at_the_size_limit() {
        let long = "汉".repeat(MAX_BYTES / 3 - 1);
        let parts = forwarded_parts(&[(0, &long), (0, "汉汉汉"), (0, "a"), (0, "bcdefg")]).await;
        let all: String = parts.into_iter().map(|(_, text)| text).collect();
        assert_eq!(all, format!("{long}汉a"));
    }
}
