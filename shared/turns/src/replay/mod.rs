//! Reading a turn again: from memory while it runs or just after it finished in this process, otherwise from the log and
//! the answer that its instance stores.

mod from_answer;
mod log_batcher;
mod log_tailer;
mod log_writer;
mod resume;

pub use self::from_answer::events_of_answer;
pub use self::log_batcher::{FLUSH_INTERVAL as LOG_FLUSH_INTERVAL, GRACE_PERIOD as LOG_GRACE_PERIOD};
pub use self::resume::{FrameId, current, repeated, resume};

pub(crate) use self::log_writer::LogWriter;
