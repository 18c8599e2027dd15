//! What may end a turn from outside.

use std::future::pending;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;

/// The first of these to come, each looked at only when it was woken itself: beside an answer, whose words come often,
/// to look at all of them for every word would cost as much as the word.
pub(crate) async fn first<'a, T>(ends: impl IntoIterator<Item = BoxFuture<'a, T>>) -> T {
    let mut ends: FuturesUnordered<_> = ends.into_iter().collect();
    match ends.next().await {
        Some(end) => end,
        None => pending().await,
    }
}
