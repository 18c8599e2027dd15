use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dynoxide::DynoxideError;

use super::operations::Answer;

/// Length limit of a token in bytes; the database rejects longer ones.
pub(super) const MAX_TOKEN_BYTES: usize = 36;

/// Lifetime of an entry: longer than any client retries a call.
const TOKEN_LIFETIME: Duration = Duration::from_mins(1);

/// The transactions of the last minute by their `ClientRequestToken`.
///
/// A retried transaction gets the answer of the first attempt and writes nothing. The database does the same, but scans
/// the last ten minutes at each transaction, which dominates the cost when turns follow each other closely.
#[derive(Default)]
pub(super) struct RequestTokens {
    table: Mutex<TokenTable>,
    hasher: RandomState,
}

#[derive(Default)]
struct TokenTable {
    completed: HashMap<String, CompletedTransaction>,
    /// Completion times, oldest first.
    order: VecDeque<(Instant, String)>,
}

struct CompletedTransaction {
    /// Hash of the request body.
    body_hash: u64,
    answer: Answer,
}

impl RequestTokens {
    /// Runs a transaction once per token and returns its answer; a failed transaction may be retried.
    pub(super) fn run_once(&self, token: &str, body: &[u8], now: Instant, act: impl FnOnce() -> Answer) -> Answer {
        let body_hash = self.hasher.hash_one(body);
        let mut table = self.table();
        table.remove_expired(now);
        match table.completed.get(token) {
            Some(done) if done.body_hash == body_hash => return done.answer.clone(),
            Some(_) => return mismatch(),
            None => {}
        }
        let answer = act();
        if answer.is_done() {
            table.order.push_back((now, token.to_owned()));
            table.completed.insert(token.to_owned(), CompletedTransaction { body_hash, answer: answer.clone() });
        }
        answer
    }

    fn table(&self) -> MutexGuard<'_, TokenTable> {
        // A panic in the database leaves the table unchanged.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenTable {
    fn remove_expired(&mut self, now: Instant) {
        while let Some((_, token)) = self.order.pop_front_if(|(done, _)| now.duration_since(*done) > TOKEN_LIFETIME) {
            self.completed.remove(&token);
        }
    }
}

fn mismatch() -> Answer {
    let error = "An error occurred (IdempotentParameterMismatchException)".to_owned();
    Answer::from(DynoxideError::IdempotentParameterMismatchException(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_kept_for_a_minute() {
        let (tokens, first) = (RequestTokens::default(), Instant::now());
        let mut done = 0;
        let mut run = |token: &str, seconds: u64| {
            tokens.run_once(token, b"{}", first + Duration::from_secs(seconds), || {
                done += 1;
                Answer::done(Vec::new())
            });
            done
        };
        assert_eq!(
            [run("a", 0), run("b", 40), run("a", 60), run("a", 61), run("b", 100), run("b", 101)],
            [1, 2, 2, 3, 3, 4]
        );
        let table = tokens.table();
        assert_eq!((table.completed.len(), table.order.len()), (2, 2), "and not longer");
    }

    #[test]
    fn failed_transaction_is_run_again() {
        let tokens = RequestTokens::default();
        let run = |answer: Answer| tokens.run_once("a", b"{}", Instant::now(), || answer);
        assert!(!run(mismatch()).is_done());
        assert!(run(Answer::done(Vec::new())).is_done());
        assert!(run(mismatch()).is_done());
    }
}
