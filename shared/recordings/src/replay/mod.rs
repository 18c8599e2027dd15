//! Replays a recorded turn: the real agent, model client and tool session run over loopback against the recording.

mod calls;
mod compare;
mod models;
mod script;
mod sequencer;
mod server;
mod turn;

use std::path::PathBuf;

use clap::Args;
use commands::{CommandError, print_line};

pub use compare::{ReplayReport, Verdict};
pub use turn::replay;

/// Speed of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Speed {
    /// In the time that it took.
    Real,
    /// Without waiting.
    #[default]
    Fast,
}

/// Replays a recorded turn, without a network, and compares what clients would see.
#[derive(Args, Debug)]
pub struct ReplayCommand {
    /// The recording, as `--record` made it.
    file: PathBuf,
    /// In the time that it took, or without waiting.
    #[arg(long, value_enum, default_value_t)]
    speed: Speed,
}

impl ReplayCommand {
    /// Prints the events as they arrive; returns the verdict, and whether the events are as recorded.
    pub async fn run(self) -> Result<(String, bool), CommandError> {
        let replayed =
            replay(&self.file, self.speed, |event| print_line(&mut std::io::stdout(), &event.to_string())).await?;
        let verdict = replayed.verdict();
        let lines: Vec<String> = replayed.remarks().into_iter().chain([verdict.to_string()]).collect();
        Ok((lines.join("\n"), matches!(verdict, Verdict::Same(_))))
    }
}
