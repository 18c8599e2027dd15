//! Documents, each read by this program in a process of its own: what happens to it there happens to one document.
//!
//! The process gets the document on its standard input and writes the result as JSON to its standard output.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use domain::Owner;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use work::FairSlots;

use crate::extraction::{is_in_this_build, text_of};
use crate::file_text::MAX_TEXT_BYTES;
use crate::{FileError, FileText, FileType};

/// The longest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// The longest result that is read, in bytes: the longest text with its escapes.
const MAX_RESULT_BYTES: u64 = 32 * 1024 * 1024;

/// The processor time of the process in seconds, if nobody ends it before.
const MAX_CPU_SECONDS: u64 = 30;

/// The address space of the process, in bytes.
#[cfg(feature = "process")]
const MAX_MEMORY_BYTES: u64 = 512 * 1024 * 1024;

/// How many files are read at the same time: two of an owner, and one more of others, who do not wait for all of these.
static READERS: LazyLock<FairSlots<Owner>> = LazyLock::new(|| FairSlots::new(3).with_per_owner(2));

/// The hidden command that reads a document.
const COMMAND: &str = "read-file";

/// Reads documents in processes of their own.
#[derive(Clone, Debug)]
pub struct Reader {
    /// The program and what is in front of the type.
    program: (PathBuf, Vec<String>),
    max_wait: Duration,
    max_time: Duration,
    max_text_bytes: usize,
}

/// Reads the text of an owner's file. Formats with markup are read in a process of their own, two of an owner at the same
/// time.
///
/// # Errors
/// `NotInThisBuild` without the feature of the format, `Unsupported` for a picture; what reading the file shows.
pub async fn read_text(
    file_type: FileType,
    bytes: Vec<u8>,
    reader: &Reader,
    owner: &Owner,
) -> Result<FileText, FileError> {
    match file_type {
        FileType::Markdown | FileType::Csv | FileType::Json | FileType::Svg | FileType::PlainText => {
            let max_bytes = reader.max_text_bytes;
            spawn_blocking(move || text_of(file_type, bytes, max_bytes)).await.unwrap_or(Err(FileError::Crashed))
        }
        _ if file_type.is_image() => Err(FileError::Unsupported),
        _ if !is_in_this_build(file_type) => Err(FileError::NotInThisBuild(file_type)),
        _ => reader.read(file_type, bytes, owner).await,
    }
}

impl Reader {
    /// For requests: at most five seconds in all, and 2 MiB of text.
    pub fn for_attachments() -> Self {
        Self::new(Duration::from_secs(2), Duration::from_secs(3), 2 * 1024 * 1024)
    }

    /// For commands, which read many files: at most 30 seconds each, and 8 MiB of text.
    pub fn for_articles() -> Self {
        Self::new(Duration::from_mins(2), Duration::from_secs(MAX_CPU_SECONDS), MAX_TEXT_BYTES)
    }

    /// Reads with this program, whose `main` calls [`run_reader`] first.
    fn new(max_wait: Duration, max_time: Duration, max_text_bytes: usize) -> Self {
        // In a root without `/proc`, the path by which it was started.
        let by_start = || std::env::args_os().next().map(PathBuf::from).filter(|path| path.is_absolute());
        let program = std::env::current_exe().ok().or_else(by_start).unwrap_or_default();
        Self { program: (program, vec![COMMAND.to_owned()]), max_wait, max_time, max_text_bytes }
    }

    async fn read(&self, file_type: FileType, bytes: Vec<u8>, owner: &Owner) -> Result<FileText, FileError> {
        let Ok(Ok(_slot)) = timeout(self.max_wait, READERS.acquire(owner)).await else { return Err(FileError::Busy) };
        let (program, arguments) = &self.program;
        let mut command = Command::new(program);
        let what = serde_json::to_string(&(file_type, self.max_text_bytes)).unwrap_or_default();
        command.args(arguments).arg(what);
        self.run(command, bytes).await
    }

    async fn run(&self, mut command: Command, bytes: Vec<u8>) -> Result<FileText, FileError> {
        // Without the environment, which has keys. The allocator must not reserve more than the process may have.
        command.env_clear().env("MIMALLOC_ARENA_RESERVE", "0");
        // A root without devices has no `/dev/null` for the errors.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = RunningProcess(command.spawn().map_err(|error| FileError::NoReader(error.to_string()))?);
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
        let received = timeout(self.max_time, async { tokio::join!(send, receive).1 }).await;
        // Ends the threads too, whose pipes it closes.
        drop(process);
        let Ok(result) = received else { return Err(FileError::TooSlow(self.max_time.as_secs())) };
        serde_json::from_slice(&result.unwrap_or_default()).unwrap_or(Err(FileError::Crashed))
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

/// Reads the document on the standard input, within limits, if this process was started for that; else `None`. A program
/// calls this before anything else.
pub fn run_reader() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(COMMAND)) {
        return None;
    }
    #[cfg(feature = "process")]
    limit_process();
    let what = arguments.next().and_then(|what| serde_json::from_str(what.to_str()?).ok());
    let done = what.and_then(|(file_type, max_bytes)| answer(file_type, max_bytes).ok());
    Some(if done.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn answer(file_type: FileType, max_bytes: usize) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    std::io::stdin().take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    let result = serde_json::to_vec(&text_of(file_type, bytes, max_bytes))?;
    let mut output = std::io::stdout().lock();
    output.write_all(&result)?;
    output.flush()
}

/// Limits memory and processor time, and forbids files and core dumps; the process that started this one limits the time.
#[cfg(feature = "process")]
fn limit_process() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limits =
        [(Resource::As, MAX_MEMORY_BYTES), (Resource::Cpu, MAX_CPU_SECONDS), (Resource::Core, 0), (Resource::Fsize, 0)];
    for (resource, limit) in limits {
        // A system without a limit of this kind has the others.
        let _ = setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads by a script instead of this program.
    fn ada() -> Owner {
        Owner::new("ada")
    }

    fn shell(script: &str, max_time: Duration) -> Reader {
        let program = ("/bin/sh".into(), vec!["-c".to_owned(), script.to_owned()]);
        Reader { program, max_time, ..Reader::for_articles() }
    }

    async fn read_by_shell(script: &str) -> Result<FileText, FileError> {
        shell(script, Duration::from_secs(20)).read(FileType::Pdf, b"%PDF".to_vec(), &ada()).await
    }

    #[tokio::test]
    async fn result_of_the_process_is_returned() {
        let json = r#"{"Ok":{"title":"T","text":"a","pages":2,"truncated":false}}"#;
        let expected = FileText { title: Some("T".to_owned()), text: "a".to_owned(), pages: Some(2), truncated: false };
        assert_eq!(read_by_shell(&format!("cat >/dev/null; printf '{json}'")).await, Ok(expected.clone()));
        assert_eq!(read_by_shell(r#"printf '{"Err":"Encrypted"}'"#).await, Err(FileError::Encrypted));
        let noisy = format!("cat >/dev/null; head -c 1000000 /dev/zero >&2; printf '{json}'");
        assert_eq!(read_by_shell(&noisy).await, Ok(expected), "errors of the process are discarded");
    }

    #[tokio::test]
    async fn process_gets_type_and_limit() {
        let written = r#"test "$0" = '["Pdf",8388608]' && printf '{"Err":"NoText"}'"#;
        assert_eq!(read_by_shell(written).await, Err(FileError::NoText));
    }

    #[tokio::test]
    async fn crashed_process_is_an_error() {
        for script in ["kill -9 $$", "exit 101", r#"printf '{"Ok":'"#, "printf canary"] {
            assert_eq!(read_by_shell(script).await, Err(FileError::Crashed), "{script}");
        }
    }

    #[tokio::test]
    async fn slow_process_is_killed() {
        let endless = shell("while :; do :; done", Duration::from_millis(50));
        assert_eq!(endless.read(FileType::Pdf, Vec::new(), &ada()).await, Err(FileError::TooSlow(0)));
    }

    #[tokio::test]
    async fn third_file_of_an_owner_waits_bounded() {
        let _both = (READERS.acquire(&ada()).await.unwrap(), READERS.acquire(&ada()).await.unwrap());
        let reader = Reader { max_wait: Duration::from_millis(10), ..shell("exit 1", Duration::from_secs(20)) };
        assert_eq!(reader.read(FileType::Pdf, Vec::new(), &ada()).await, Err(FileError::Busy));
        let patient = shell("exit 1", Duration::from_secs(20));
        assert_eq!(
            patient.read(FileType::Pdf, Vec::new(), &Owner::new("bob")).await,
            Err(FileError::Crashed),
            "another owner"
        );
    }

    #[tokio::test]
    async fn missing_program_is_an_error() {
        let reader = Reader { program: ("/no/such/program".into(), Vec::new()), ..Reader::for_articles() };
        assert!(matches!(reader.read(FileType::Pdf, Vec::new(), &ada()).await, Err(FileError::NoReader(_))));
    }

    #[tokio::test]
    async fn svg_is_text_and_pictures_are_none() {
        let reader = Reader::for_attachments();
        let read = read_text(FileType::Svg, b"<svg/>".to_vec(), &reader, &ada()).await;
        assert_eq!(read.map(|read| read.text).as_deref(), Ok("<svg/>"));
        assert_eq!(read_text(FileType::Png, Vec::new(), &reader, &ada()).await, Err(FileError::Unsupported));
    }
}
