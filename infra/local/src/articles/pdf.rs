//! PDF documents, each read by this program in a process of its own: what happens to it there happens to one document.
//!
//! The process gets the document on its standard input and writes the result as JSON to its standard output.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use articles::{PdfError, PdfText, pdf_to_text};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

pub(super) const MAX_PDF_BYTES: u64 = 64 * 1024 * 1024;

/// The longest result that is read, in bytes: the longest text with its escapes.
const MAX_RESULT_BYTES: u64 = 32 * 1024 * 1024;

const TIME_LIMIT: Duration = Duration::from_mins(1);

/// The address space of the process, in bytes.
const MAX_MEMORY_BYTES: u64 = 512 * 1024 * 1024;

/// The hidden command that reads a document.
pub(crate) const COMMAND: &str = "read-pdf";

pub(super) async fn read(bytes: Vec<u8>) -> Result<PdfText, String> {
    let program = this_program().map_err(|error| error.to_string())?;
    read_with(program, &[COMMAND], TIME_LIMIT, bytes).await
}

/// The path of this program; in a root without `/proc`, the one by which it was started.
fn this_program() -> std::io::Result<PathBuf> {
    let by_start = || std::env::args_os().next().map(PathBuf::from).filter(|path| path.is_absolute());
    std::env::current_exe().or_else(|error| by_start().ok_or(error))
}

async fn read_with(program: PathBuf, arguments: &[&str], limit: Duration, bytes: Vec<u8>) -> Result<PdfText, String> {
    let mut command = Command::new(program);
    // Without the environment, which has keys. The allocator must not reserve more than the process may have.
    command.args(arguments).env_clear().env("MIMALLOC_ARENA_RESERVE", "0");
    // A root without devices has no `/dev/null` for the errors.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = RunningProcess(command.spawn().map_err(|error| error.to_string())?);
    let (input, output, errors) = (process.0.stdin.take(), process.0.stdout.take(), process.0.stderr.take());
    spawn_blocking(move || errors.map(|mut errors| std::io::copy(&mut errors, &mut std::io::sink())));
    let send = spawn_blocking(move || {
        // A process that ended does not read all; its result states why.
        input.map(|mut input| input.write_all(&bytes))
    });
    let receive = spawn_blocking(move || {
        let mut result = Vec::new();
        output.map(|output| output.take(MAX_RESULT_BYTES).read_to_end(&mut result));
        result
    });
    let received = timeout(limit, async { tokio::join!(send, receive).1 }).await;
    // Ends the threads too, whose pipes it closes.
    drop(process);
    let Ok(result) = received else {
        return Err(format!("the PDF could not be read within {} s", limit.as_secs()));
    };
    match serde_json::from_slice::<Result<PdfText, PdfError>>(&result.unwrap_or_default()) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_incomplete) => Err("the PDF cannot be read: it is damaged, or takes too much memory".to_owned()),
    }
}

/// A process that is killed when this is dropped.
struct RunningProcess(Child);

impl Drop for RunningProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The hidden command: reads the document on the standard input, within limits.
pub(crate) fn run_reader() -> ExitCode {
    limit_process();
    let mut bytes = Vec::new();
    if std::io::stdin().take(MAX_PDF_BYTES).read_to_end(&mut bytes).is_err() {
        return ExitCode::FAILURE;
    }
    let Ok(result) = serde_json::to_vec(&pdf_to_text(bytes)) else { return ExitCode::FAILURE };
    let mut output = std::io::stdout().lock();
    match output.write_all(&result).and_then(|()| output.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_closed) => ExitCode::FAILURE,
    }
}

/// Limits memory and processor time, and forbids files and core dumps; the process that started this one limits the time.
fn limit_process() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limits = [
        (Resource::As, MAX_MEMORY_BYTES),
        (Resource::Cpu, TIME_LIMIT.as_secs()),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ];
    for (resource, limit) in limits {
        // A system without a limit of this kind has the others.
        let _ = setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_by_shell(script: &str) -> Result<PdfText, String> {
        read_with("/bin/sh".into(), &["-c", script], Duration::from_secs(20), b"%PDF".to_vec()).await
    }

    #[tokio::test]
    async fn result_of_the_process_is_returned() {
        let read = read_by_shell(r#"cat >/dev/null; printf '{"Ok":{"title":"T","text":"a"}}'"#).await;
        assert_eq!(read, Ok(PdfText { title: Some("T".to_owned()), text: "a".to_owned() }));
        let refused = read_by_shell(r#"printf '{"Err":"Encrypted"}'"#).await;
        assert_eq!(refused.unwrap_err(), "the PDF is encrypted: store it without a password");
    }

    #[tokio::test]
    async fn errors_of_the_process_are_discarded() {
        let read = read_by_shell(
            r#"cat >/dev/null; head -c 1000000 /dev/zero >&2; printf '{"Ok":{"title":null,"text":"a"}}'"#,
        )
        .await;
        assert_eq!(read.map(|read| read.text), Ok("a".to_owned()));
    }

    #[tokio::test]
    async fn crashed_process_is_an_error() {
        for script in ["kill -9 $$", "exit 101", r#"printf '{"Ok":'"#, "printf canary"] {
            let error = read_by_shell(script).await.unwrap_err();
            assert_eq!(error, "the PDF cannot be read: it is damaged, or takes too much memory", "{script}");
        }
    }

    #[tokio::test]
    async fn slow_process_is_killed() {
        let limit = Duration::from_millis(50);
        let read = read_with("/bin/sh".into(), &["-c", "exec cat"], limit, Vec::new());
        assert!(read.await.is_err(), "an empty result is an error");
        let endless = read_with("/bin/sh".into(), &["-c", "while :; do :; done"], limit, Vec::new()).await;
        assert_eq!(endless.unwrap_err(), "the PDF could not be read within 0 s");
    }
}
