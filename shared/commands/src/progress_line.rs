use std::io::{IsTerminal, Stderr, Write, stderr};

/// Width limit of the line, in terminal columns: a wrapped line could not be rewritten.
const MAX_COLUMNS: usize = 72;

/// Moves to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

/// Progress of a long command on the error stream: one line that is rewritten at a terminal, otherwise one line for
/// each finished step.
pub struct ProgressLine<W = Stderr> {
    out: W,
    is_terminal: bool,
}

impl ProgressLine {
    /// Progress on the error stream of this process.
    pub fn on_stderr() -> Self {
        Self { out: stderr(), is_terminal: stderr().is_terminal() }
    }
}

impl<W: Write> ProgressLine<W> {
    /// Shows the step that runs now; only at a terminal.
    pub fn show(&mut self, step: &str) {
        if self.is_terminal {
            self.write(&format!("{CLEAR}{}", truncate(step)));
        }
    }

    /// Removes the line before other output follows; only at a terminal.
    pub fn clear(&mut self) {
        if self.is_terminal {
            self.write(CLEAR);
        }
    }

    /// Writes a line for a finished step; only where the line is not rewritten.
    pub fn finish_step(&mut self, line: &str) {
        if !self.is_terminal {
            self.write(&format!("{line}\n"));
        }
    }

    /// Errors are ignored, because a closed terminal must not fail the command.
    fn write(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes());
        let _ = self.out.flush();
    }
}

/// Shortens a text to [`MAX_COLUMNS`]; characters outside of ASCII count as two columns.
fn truncate(text: &str) -> String {
    let mut columns = 0;
    let fits = |character: &char| {
        columns += if character.is_ascii() { 1 } else { 2 };
        columns <= MAX_COLUMNS
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(is_terminal: bool) -> String {
        let mut progress = ProgressLine { out: Vec::new(), is_terminal };
        progress.show("one");
        progress.finish_step("one: ok");
        progress.show(&"二".repeat(50));
        progress.clear();
        String::from_utf8(progress.out).unwrap()
    }

    #[test]
    fn terminal_has_one_line_that_is_rewritten() {
        assert_eq!(written(true), format!("\r\x1b[Kone\r\x1b[K{}\r\x1b[K", "二".repeat(36)));
    }

    #[test]
    fn other_output_has_line_per_finished_step() {
        assert_eq!(written(false), "one: ok\n");
    }
}
