//! Work that grows with the size of a request, on other threads than the serving one.

use conversation::ErrorCode;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use web::ApiError;

/// The longest body, in bytes, that is read on the thread that serves: it takes less than a millisecond.
const SMALL_BYTES: usize = 32 * 1024;

/// How many large bodies are read at the same time; the others wait for their turn.
const MAX_READERS: usize = 2;

static READERS: Semaphore = Semaphore::const_new(MAX_READERS);

/// Reads a body of this size, without making other requests wait for a large one.
///
/// # Errors
/// Those of `read`; `internal` if it panics.
pub(crate) async fn read<T, E>(size: usize, read: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Send + 'static,
    ApiError: From<E>,
{
    if size <= SMALL_BYTES {
        return Ok(read()?);
    }
    let permit = READERS.acquire().await.map_err(|_| ErrorCode::Internal)?;
    let outcome = spawn_blocking(read).await.map_err(|_| ErrorCode::Internal)?;
    drop(permit);
    Ok(outcome?)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use futures_util::future::join_all;

    use super::*;

    async fn thread_of(size: usize) -> thread::ThreadId {
        read(size, || Ok::<_, ApiError>(thread::current().id())).await.unwrap_or_else(|_| unreachable!())
    }

    #[tokio::test]
    async fn large_bodies_are_read_on_another_thread() {
        assert_eq!(thread_of(SMALL_BYTES).await, thread::current().id());
        assert_ne!(thread_of(SMALL_BYTES + 1).await, thread::current().id());
    }

    #[tokio::test]
    async fn few_large_bodies_are_read_at_the_same_time() {
        static NOW: AtomicUsize = AtomicUsize::new(0);
        static MOST: AtomicUsize = AtomicUsize::new(0);
        let one = || {
            MOST.fetch_max(NOW.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::yield_now();
            NOW.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, ApiError>(())
        };
        let outcomes = join_all((0..50).map(|_| read(SMALL_BYTES + 1, one))).await;
        assert!(outcomes.iter().all(Result::is_ok));
        assert!((1..=MAX_READERS).contains(&MOST.load(Ordering::SeqCst)));
    }

    #[tokio::test]
    async fn a_reader_that_panics_is_an_internal_error() {
        let broken: Result<(), ApiError> = read(SMALL_BYTES + 1, || -> Result<(), ApiError> { unreachable!() }).await;
        assert_eq!(broken.map_err(|error| error.0.code), Err(ErrorCode::Internal));
        assert!(read(SMALL_BYTES + 1, || Ok::<_, ApiError>(())).await.is_ok(), "its place is free again");
    }
}
