//! Parsing of request bodies; large ones are parsed outside the serving threads.

use domain::{ErrorCode, Owner};
use web::ApiError;
use work::SHORT_WORK;

/// The longest body, in bytes, that the serving thread parses: it takes less than a millisecond.
const MAX_INLINE_BYTES: usize = 32 * 1024;

/// The size of a body of any size whose parts can take long.
pub(crate) const HEAVY: usize = usize::MAX;

/// Parses a body of `size` bytes, so that many large bodies of one owner do not delay requests of others.
///
/// # Errors
/// Those of `parse`; `internal` if it panics.
pub(crate) async fn parse<T, E>(
    owner: &Owner,
    size: usize,
    parse: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Send + 'static,
    ApiError: From<E>,
{
    if size <= MAX_INLINE_BYTES {
        return Ok(parse()?);
    }
    Ok(SHORT_WORK.run(owner, |_| parse()).await.ok_or(ErrorCode::Internal)??)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex, mpsc};
    use std::thread;
    use std::time::Duration;

    use futures_util::future::join_all;
    use tokio::time::timeout;

    use super::*;

    async fn thread_of(size: usize) -> thread::ThreadId {
        parse(&Owner::new("ada"), size, || Ok::<_, ApiError>(thread::current().id()))
            .await
            .unwrap_or_else(|_| unreachable!())
    }

    #[tokio::test]
    async fn large_bodies_are_parsed_on_another_thread() {
        assert_eq!(thread_of(MAX_INLINE_BYTES).await, thread::current().id());
        assert_ne!(thread_of(MAX_INLINE_BYTES + 1).await, thread::current().id());
    }

    #[tokio::test]
    async fn parallel_large_bodies_are_limited() {
        static NOW: AtomicUsize = AtomicUsize::new(0);
        static HIGHEST: AtomicUsize = AtomicUsize::new(0);
        let one = || {
            HIGHEST.fetch_max(NOW.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::yield_now();
            NOW.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, ApiError>(())
        };
        let owners: Vec<_> = (0..50).map(|at| Owner::new(format!("{}", at % 5))).collect();
        let outcomes = join_all(owners.iter().map(|owner| parse(owner, MAX_INLINE_BYTES + 1, one))).await;
        assert!(outcomes.iter().all(Result::is_ok));
        assert!((1..=work::THREADS).contains(&HIGHEST.load(Ordering::SeqCst)));
    }

    #[tokio::test]
    async fn large_body_passes_another_owners_flood() {
        let (ada, bob) = (Owner::new("flooding"), Owner::new("waiting"));
        let (open, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        // Each parser of the flood waits at the gate, which opens after the other owner's body was read.
        let flood = join_all((0..8).map(|_| {
            let gate = Arc::clone(&gate);
            let wait = move || {
                let opened = gate.lock().map(|gate| gate.recv_timeout(Duration::from_mins(1)));
                opened.map(|_| ()).map_err(|_| ApiError::from(ErrorCode::Internal))
            };
            parse(&ada, MAX_INLINE_BYTES + 1, wait)
        }));
        let other = async {
            let outcome = parse(&bob, MAX_INLINE_BYTES + 1, || Ok::<_, ApiError>(())).await;
            drop(open);
            outcome
        };
        let both = futures_util::future::join(flood, timeout(Duration::from_secs(40), other));
        let (flood, other) = both.await;
        assert!(other.is_ok_and(|outcome| outcome.is_ok()), "nobody waits for the flood");
        assert!(flood.iter().all(Result::is_ok));
    }

    #[tokio::test]
    async fn panic_while_parsing_is_an_internal_error() {
        let ada = Owner::new("ada");
        let broken: Result<(), ApiError> =
            parse(&ada, MAX_INLINE_BYTES + 1, || -> Result<(), ApiError> { unreachable!() }).await;
        assert_eq!(broken.map_err(|error| error.failure.code), Err(ErrorCode::Internal));
        assert!(parse(&ada, MAX_INLINE_BYTES + 1, || Ok::<_, ApiError>(())).await.is_ok(), "its place is free again");
    }
}
