use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::tree::NOT_LEGACY;

/// Whether the program `rg` can be run.
pub(crate) fn is_installed() -> bool {
    Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Searches as the tool does, without any configuration of the user.
fn command(folder: &Path, pattern: &str) -> Command {
    let mut command = Command::new("rg");
    command.args(["--no-config", "--no-require-git", "--no-ignore-global", "--no-ignore-parent", "--crlf"]);
    command.args(["--no-messages", "--regexp", pattern, "."]).current_dir(folder);
    command
}

/// Prints the matching lines with their numbers to a pipe, as the tool's results have them.
pub(crate) fn search(folder: &Path, pattern: &str) {
    run(command(folder, pattern).args(["--line-number", "--no-heading"]));
}

/// The numbers of matching lines and of files with matches.
pub(crate) fn count(folder: &Path, pattern: &str) -> (u64, u64) {
    let output = run(command(folder, pattern).args(["--count", "--no-filename", "--glob", NOT_LEGACY]));
    let counts =
        String::from_utf8_lossy(&output.stdout).lines().map(|line| line.parse().unwrap_or(0)).collect::<Vec<u64>>();
    (counts.iter().sum(), u64::try_from(counts.len()).unwrap_or_default())
}

/// Exit code 1 is a search without matches.
fn run(command: &mut Command) -> Output {
    let output = command.output().expect("rg can be run");
    assert!(output.status.code().is_some_and(|code| code < 2), "{output:?}");
    output
}
