use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dynoxide::DynoxideError;

use super::operations::Answer;

/// Length limit of a token in bytes; the database rejects longer ones.
pub(super) const LONGEST: usize = 36;

/// Lifetime of an entry: longer than any client retries a call.
const KNOWN: Duration = Duration::from_mins(1);

/// The transactions of the last minute by their `ClientRequestToken`.
///
/// A retried transaction gets the answer of the first attempt and writes nothing. The database does the same, but scans
/// the last ten minutes at each transaction, which dominates the cost when turns follow each other closely.
#[derive(Default)]
pub(super) struct Tokens {
    known: Mutex<Known>,
    hasher: RandomState,
}

#[derive(Default)]
struct Known {
    done: HashMap<String, Done>,
    /// Completion times, oldest first.
    order: VecDeque<(Instant, String)>,
}

struct Done {
    /// Hash of the request body.
    asked: u64,
    answer: Answer,
}

impl Tokens {
    /// Runs a transaction once per token and returns its answer; a failed transaction may be retried.
    pub(super) fn once(&self, token: &str, body: &[u8], now: Instant, act: impl FnOnce() -> Answer) -> Answer {
        let asked = self.hasher.hash_one(body);
        let mut known = self.known();
        known.forget(now);
        match known.done.get(token) {
            Some(done) if done.asked == asked => return done.answer.clone(),
            Some(_) => return mismatch(),
            None => {}
        }
        let answer = act();
        if answer.is_done() {
            known.order.push_back((now, token.to_owned()));
            known.done.insert(token.to_owned(), Done { asked, answer: answer.clone() });
        }
        answer
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // A panic in the database leaves the table unchanged.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn forget(&mut self, now: Instant) {
        while let Some((_, token)) = self.order.pop_front_if(|(done, _)| now.duration_since(*done) > KNOWN) {
            self.done.remove(&token);
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
        let (tokens, first) = (Tokens::default(), Instant::now());
        let mut done = 0;
        let mut ask = |token: &str, seconds: u64| {
            tokens.once(token, b"{}", first + Duration::from_secs(seconds), || {
                done += 1;
                Answer::done(Vec::new())
            });
            done
        };
        assert_eq!(
            [ask("a", 0), ask("b", 40), ask("a", 60), ask("a", 61), ask("b", 100), ask("b", 101)],
            [1, 2, 2, 3, 3, 4]
        );
        let known = tokens.known();
        assert_eq!((known.done.len(), known.order.len()), (2, 2), "and not longer");
    }

    #[test]
    fn failed_transaction_is_run_again() {
        let tokens = Tokens::default();
        let ask = |answer: Answer| tokens.once("a", b"{}", Instant::now(), || answer);
        assert!(!ask(mismatch()).is_done());
        assert!(ask(Answer::done(Vec::new())).is_done());
        assert!(ask(mismatch()).is_done());
    }
}
