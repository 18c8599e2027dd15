use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::within;

/// A function's process; it is killed when dropped.
pub struct Function {
    child: Child,
    log: Log,
    readers: [JoinHandle<()>; 2],
}

/// Lines that the process wrote.
type Log = Arc<watch::Sender<Vec<String>>>;

impl Function {
    /// Starts a binary with Lambda's variables, the Runtime API at `api` and these settings, without the test's own
    /// environment.
    pub fn start<'s>(
        binary: impl AsRef<Path>,
        api: &str,
        settings: impl IntoIterator<Item = (&'s str, &'s str)>,
    ) -> Self {
        let lambda = [
            ("AWS_LAMBDA_RUNTIME_API", api),
            ("AWS_LAMBDA_FUNCTION_NAME", "chat"),
            ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
        ];
        let mut command = Command::new(binary.as_ref());
        command.env_clear().envs(lambda).envs(settings).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let log = Log::default();
        let stdout = collect(child.stdout.take().expect("it is piped"), Arc::clone(&log));
        let stderr = collect(child.stderr.take().expect("it is piped"), Arc::clone(&log));
        Self { child, log, readers: [tokio::spawn(stdout), tokio::spawn(stderr)] }
    }

    /// Stops the process, as Lambda freezes an instance between invocations.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Resumes a frozen process.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        kill_process(id.expect("the process runs"), signal).expect("a signal can be sent to one's own child");
    }

    /// Waits until the process exits by itself; returns its exit code and the last line that it wrote.
    pub async fn wait_for_exit(mut self) -> (Option<i32>, String) {
        let status = within("the process to end", self.child.wait()).await.expect("a child can be waited for");
        for reader in &mut self.readers {
            within("the process's last words", reader).await.expect("a log can be read");
        }
        (status.code(), self.log().pop().unwrap_or_default())
    }

    /// Whether the process still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Lines that the process wrote so far.
    pub fn log(&self) -> Vec<String> {
        self.log.borrow().clone()
    }

    /// Waits until `count` lines match, and returns them.
    pub async fn wait_for_lines(&self, count: usize, of: impl Fn(&str) -> bool) -> Vec<String> {
        let mut log = self.log.subscribe();
        let enough = |log: &Vec<String>| log.iter().filter(|line| of(line)).count() >= count;
        let log = within("the process to write", log.wait_for(enough)).await.expect("the log is kept").clone();
        log.into_iter().filter(|line| of(line)).collect()
    }
}

/// A failed test prints the output of its function.
impl Drop for Function {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the function wrote:\n{}", self.log().join("\n"));
        }
    }
}

async fn collect(pipe: impl AsyncRead + Unpin, log: Log) {
    let mut lines = BufReader::new(pipe).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        log.send_modify(|log| log.push(line));
    }
}
