mod reading;

use std::future::pending;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{Event, ToolCall, ToolProgress, ToolSpec};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use llm::{Delta, Finish, ModelError, Reply, TokenUsage, ToolMode};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tool_calls::Malformed;
use tools::{ToolRun, ToolSession};
use tracing::Instrument;

use self::reading::{MAX_RUN_CALLS, Reading};
use crate::failure::{Broken, heals};
use crate::{Caller, EventLog, Recording};

/// Deltas of so many bytes take milliseconds to read; models write shorter ones.
const LONG_DELTA: usize = 4 * 1024;

/// Maximum number of deltas that are appended to the log before subscribers are woken.
const MAX_UNSEEN_DELTAS: usize = 64;

/// What reading one reply needs to know.
pub(crate) struct Reader<'a> {
    pub(crate) events: &'a EventLog,
    pub(crate) session: &'a ToolSession,
    /// What takes the turn down, if anything does.
    pub(crate) recording: Option<&'a dyn Recording>,
    /// Decides what counts as a call where the form alone is ambiguous.
    pub(crate) declared: &'a [ToolSpec],
    /// Who has tools of his own: calls of those do not run here.
    pub(crate) caller: Option<&'a Caller>,
    /// Whether calls run; otherwise they are neither run nor shown.
    pub(crate) tools_on: bool,
    /// When a reply with tools is given up that is no answer yet.
    pub(crate) closing: Closing,
    /// Where native calls are expected, calls in the text count only if none comes.
    pub(crate) path: ToolMode,
    /// Whether a call that cannot be read may go back to the model; otherwise its text is shown.
    pub(crate) may_correct: bool,
    /// What was said of this reply by a model that failed.
    pub(crate) said: &'a str,
    /// Whether another model can go on when this one fails.
    pub(crate) alternative: bool,
}

/// The end of the time in which a reply need not be an answer.
#[derive(Clone, Copy)]
pub(crate) struct Closing {
    pub(crate) at: Instant,
    /// Whether earlier rounds found something of which an answer can be made.
    pub(crate) informed: bool,
}

impl Reader<'_> {
    /// Whether the calls of a reply that breaks off are awaited, because another model goes on from their results.
    fn goes_on(&self, calls: &[Option<ToolRun>], error: &ModelError) -> bool {
        self.alternative && !calls.is_empty() && heals(error)
    }

    /// Shows what a running call says of itself.
    fn telling(&self, call: &ToolCall) -> impl Fn(String) + Sync {
        let (events, id, name) = (self.events, call.id.clone(), call.name.clone());
        move |text| {
            let progress = ToolProgress { id: id.clone(), name: name.clone(), text };
            events.send(Event::ToolProgress(Box::new(progress)));
        }
    }

    /// Whether another reply, without tools, is of more use than the rest of this one.
    fn gives_up(&self, calls: &[Option<ToolRun>]) -> bool {
        let is_answer = || !self.events.draft().open_round().0.trim().is_empty();
        !calls.is_empty() || (self.closing.informed && !is_answer())
    }

    fn report(&self, call: &ToolCall, ran: Result<ToolRun, anyhow::Error>) -> Result<ToolRun, Broken> {
        if let Some(recording) = self.recording {
            recording.ran(call, ran.as_ref().ok());
        }
        let ran = ran.map_err(Broken::Fatal)?;
        self.events.draft().weigh(&ran);
        self.events.send(Event::ToolResult(Box::new(ran.report.clone())));
        Ok(ran)
    }
}

/// One reply, read to its end, with the results of its calls.
pub(crate) struct Round {
    /// In the order in which the model made them.
    pub(crate) calls: Vec<ToolCall>,
    /// One for each call, in the same order.
    pub(crate) results: Vec<ToolRun>,
    /// Calls of the caller's tools, which nobody was told of.
    pub(crate) callers: Vec<ToolCall>,
    /// A call that could not be used, and was not shown.
    pub(crate) malformed: Option<Malformed>,
    pub(crate) finish: Finish,
    pub(crate) usage: Option<TokenUsage>,
}

/// Reads a reply as it comes: text and thinking leave at once, and each call runs from the moment it is complete.
pub(crate) async fn read(reply: Reply, reader: &Reader<'_>) -> Result<Round, Broken> {
    let reading = Arc::new(Mutex::new(Reading::new(reader)));
    let mut running = FuturesUnordered::new();
    let mut results: Vec<Option<ToolRun>> = Vec::new();
    let read_on = |reply| ReplyReader::spawn(reply, Arc::clone(&reading), reader.events.clone());
    // Dropped as soon as the rest of the reply is of no use: that closes its connection.
    let (mut reply, mut broke) = (Some(read_on(reply)), None);
    let mut closing = pin!(sleep_until(reader.closing.at));
    let (mut in_time, mut given_up) = (reader.tools_on, false);
    loop {
        tokio::select! {
            biased;
            Some((place, call, ran)) = running.next(), if !running.is_empty() => {
                results[place] = Some(reader.report(&call, ran)?);
                // A reply may make thousands of calls that end at once.
                yield_now().await;
            }
            Some(came) = next(&mut reply) => match came {
                Came::End(Some(error)) if !reader.goes_on(&results, &error) => return Err(Broken::Model(error)),
                Came::End(error) => (reply, broke) = (None, error),
                Came::Calls(rest, calls) => {
                    reply = Some(read_on(*rest));
                    for call in calls {
                        let place = results.len();
                        results.push(None);
                        running.push(async move {
                            let ran = if place < MAX_RUN_CALLS {
                                reader.session.run_with_progress(&call, &reader.telling(&call)).await
                            } else {
                                Ok(reader.session.reject_excess(&call, MAX_RUN_CALLS))
                            };
                            (place, call, ran)
                        });
                    }
                }
            },
            () = &mut closing, if reply.is_some() && in_time => {
                (in_time, given_up) = (false, lock(&reading).callers.is_empty() && reader.gives_up(&results));
                reply = reply.filter(|_| !given_up);
            }
            else => break,
        }
    }
    drop(reply);
    let results = results.into_iter().flatten().collect();
    let mut reading = lock(&reading);
    if given_up { Err(reading.given_up(results)) } else { reading.close(results, broke, reader.alternative) }
}

/// What a reply was read up to.
enum Came {
    /// Calls, and the rest of the reply.
    Calls(Box<Reply>, Vec<ToolCall>),
    /// Its end, or what broke it off.
    End(Option<ModelError>),
}

/// Whether reading a delta takes so long that other turns are to run before the next one.
fn is_long(delta: &Delta) -> bool {
    matches!(delta, Delta::Text(text) | Delta::Thinking(text) if text.len() >= LONG_DELTA)
}

/// The task that reads a reply up to its next calls or its end. Dropping this stops the task: it sends no event afterwards.
struct ReplyReader {
    task: JoinHandle<Came>,
    reading: Arc<Mutex<Reading>>,
    stop: CancellationToken,
}

impl ReplyReader {
    fn spawn(reply: Reply, reading: Arc<Mutex<Reading>>, events: EventLog) -> Self {
        let stop = CancellationToken::new();
        let task = read_deltas(reply, Arc::clone(&reading), events, stop.clone());
        Self { task: tokio::spawn(task.in_current_span()), reading, stop }
    }

    /// What the reply was read up to; a panic of the task is a panic here.
    async fn end(&mut self) -> Came {
        match (&mut self.task).await {
            Ok(came) => came,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The runtime shuts down, and this task with it.
                Err(_) => pending().await,
            },
        }
    }
}

impl Drop for ReplyReader {
    fn drop(&mut self) {
        self.stop.cancel();
        self.task.abort();
        // On another thread the task may be in the middle of a delta, whose events are sent before this returns.
        drop(lock(&self.reading));
    }
}

/// Reads a reply up to the next calls, or to its end.
///
/// Where deltas come faster than the runtime runs its tasks once, subscribers are woken for several at a time: each pass of
/// the runtime lets the connection hand over one more chunk. A delta that comes alone waits for one such pass.
async fn read_deltas(
    mut reply: Reply,
    reading: Arc<Mutex<Reading>>,
    events: EventLog,
    stop: CancellationToken,
) -> Came {
    let mut unseen = 0;
    loop {
        if unseen >= MAX_UNSEEN_DELTAS {
            events.notify();
            unseen = 0;
        }
        let next = tokio::select! {
            biased;
            next = reply.next() => next,
            () = yield_now(), if unseen > 0 => {
                events.notify();
                unseen = 0;
                continue;
            }
        };
        let delta = match next {
            Some(Ok(delta)) => delta,
            end => {
                events.notify();
                return Came::End(end.and_then(Result::err));
            }
        };
        unseen += 1;
        let is_long = is_long(&delta);
        let calls = {
            let mut reading = lock(&reading);
            if stop.is_cancelled() {
                return Came::End(None);
            }
            reading.take(delta)
        };
        if !calls.is_empty() {
            events.notify();
            return Came::Calls(Box::new(reply), calls);
        }
        if is_long {
            events.notify();
            unseen = 0;
            yield_now().await;
        }
    }
}

/// What a reply that is still read was read up to.
async fn next(reply: &mut Option<ReplyReader>) -> Option<Came> {
    match reply {
        Some(reply) => Some(reply.end().await),
        None => None,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
