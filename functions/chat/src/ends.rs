//! What may end a turn from outside.

use aside::Aside;
use futures_util::future::{BoxFuture, select_all};

/// The first of these to come, of which there is at least one; they are looked at when one of them was woken, and not
/// whenever the answer beside them goes on.
pub(crate) async fn first<T, const N: usize>(ends: [BoxFuture<'_, T>; N]) -> T {
    const { assert!(N > 0, "something can end it") };
    Aside::new(select_all(ends)).await.0
}
