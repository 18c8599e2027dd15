//! The agent loop: it calls the model, runs the tools that the model calls, and repeats until there is an answer.
//!
//! The agent knows models and tools but no storage. The history comes in with the [`Turn`], events leave through
//! [`EventLog`], and the [`TurnState`] holds what must be stored, also when the turn is interrupted.
//!
//! * `turn`: the agent, a turn, and the traits that the embedding program implements
//! * `run`: the rounds of a turn, their limits, deadlines, failover and search prefetch
//! * `reply`: one reply, read while its calls already run
//! * `round`: the outcome of one round
//! * `single_call`: a call that a client made itself
//! * `continuation`: joins the texts of two models after a failover
//! * `prompt`, `message_format`, `call_ids`: what the model reads
//! * `context`, `compactness`: what fits into the context window of a model
//! * `earlier_results`: what later turns read of the results of a turn
//! * `turn_state`, `event_log`: the events of a turn and what they add up to
//! * `answer_filter`, `citation_filter`: personal data and invented citations in an answer as it streams
//! * `unseen_reply`: replies that no user sees, such as summaries and titles
//! * `tokens`, `estimate`: token counts without a tokenizer
//! * `usage`: tokens and cost of a reply
//! * `fallback`: answers without a model

mod answer_filter;
mod attached;
mod call_ids;
mod citation_filter;
mod compactness;
mod context;
mod continuation;
mod earlier_results;
mod estimate;
mod event_log;
mod fallback;
mod message_format;
mod prompt;
mod prompt_cache;
mod reply;
mod round;
mod run;
mod single_call;
mod thinking_clock;
mod tokens;
mod turn;
mod turn_state;
mod unseen_reply;
mod usage;

pub use event_log::{CloseGuard, EventLog, Subscriber};
pub use prompt_cache::PromptCache;
pub use single_call::run_call;
pub use turn::{Agent, BuiltInPrompt, ClientContext, PreSearch, ToolModes, Turn, TurnRecorder, TurnRecorderFactory};
pub use turn_state::{CallRecord, TurnState};
pub use unseen_reply::request_title;
