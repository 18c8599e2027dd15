use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use chat::DOCUMENTS_DIR;
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use commands::{CommandError, CommandOutput, WRONG_USE, print_line};
use evaluation::{CheckCommand, EvaluateCommand};
use platform::settings::Settings;
use recordings::{RECORD_TURNS, ReplayCommand};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::articles::ArticlesCommand;
use crate::backup::{BackupCommand, RestoreCommand};
use crate::keys::KeysCommand;
use crate::server::start_demo_endpoints;
use crate::smoke_command::{HealthCommand, SmokeCommand};
use crate::users::UsersCommand;
use crate::{Data, Options, Server};

/// The log filter of a server without `RUST_LOG`.
const LOG_FILTER: &str = "warn,audit=info,dynoxide=error";

const ABOUT_SETTINGS: &str = "\
Models, search, access and limits are set by environment variables, such as OPENAI_API_KEY, OPENAI_MODEL, TAVILY_API_KEY
and AUTH=api_key. The page docs/reference/settings.md of the project lists all of them.";

/// Lambda Chat on this machine: the chat page and every route on one port, with DynamoDB in the process.
#[derive(Parser)]
#[command(name = "lambda-chat", version = chat::VERSION, args_conflicts_with_subcommands = true, after_help = ABOUT_SETTINGS)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

#[derive(Subcommand)]
enum Command {
    /// Serves everything (the default).
    Serve(Serve),
    /// Creates, lists and revokes API keys.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Deletes users, and exports their data.
    #[command(subcommand)]
    Users(UsersCommand),
    /// Adds, lists, removes and searches the articles of `search_articles`.
    #[command(subcommand)]
    Articles(ArticlesCommand),
    Backup(BackupCommand),
    Restore(RestoreCommand),
    /// Replays a recorded turn, without a network.
    Replay(ReplayCommand),
    Smoke(SmokeCommand),
    Health(HealthCommand),
    Check(CheckCommand),
    Evaluate(EvaluateCommand),
    /// Prints a script that completes commands and options in a shell.
    Completions {
        shell: Shell,
    },
}

impl Command {
    /// The log filter without `RUST_LOG`. The commands that report failed requests themselves do not log them too.
    fn log_filter(&self) -> &'static str {
        match self {
            Self::Check(_) => "error,search=off",
            Self::Evaluate(_) => "error",
            _ => LOG_FILTER,
        }
    }
}

#[derive(Args)]
struct Serve {
    /// The address to listen on; must be loopback if authentication is off.
    #[arg(long, default_value = "127.0.0.1", value_parser = host)]
    host: IpAddr,
    /// The port to listen on; 0 takes any free one.
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// The folder that stores conversations.
    #[arg(long, value_name = "DIR", default_value = ".data")]
    data: PathBuf,
    /// Keeps everything in memory only.
    #[arg(long, conflicts_with = "data")]
    ephemeral: bool,
    /// Also serves the embedded DynamoDB at this address.
    #[arg(long, value_name = "ADDR:PORT")]
    dynamodb: Option<SocketAddr>,
    /// Records every turn in this folder, one file each: what users write, what models and tools answer, but no keys.
    #[arg(long, value_name = "DIR")]
    record: Option<String>,
    /// The folder of documents that the agent `documents` answers from. It is only read.
    #[arg(long, value_name = "DIR")]
    documents: Option<String>,
}

fn host(text: &str) -> Result<IpAddr, String> {
    if text.eq_ignore_ascii_case("localhost") {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    text.parse().map_err(|_| "an IP address such as 127.0.0.1 is accepted".to_owned())
}

/// Runs the command line: exit code 0, 1 for a failure, or 2 for wrong use.
pub fn run() -> ExitCode {
    if let Some(code) = files::run_reader() {
        return code;
    }
    let CommandLine { command, serve } = CommandLine::parse();
    init_logging(command.as_ref().map_or(LOG_FILTER, Command::log_filter));
    // One thread, as deployed: passing a delta between threads costs a quarter more.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report_failure(&format!("cannot start: {error}"), 1),
    };
    let settings = Settings::from_env();
    let now = SystemTime::now();
    let run = async {
        let outcome = match command.unwrap_or(Command::Serve(serve)) {
            Command::Serve(serve) => return serve_until_stopped(serve, settings).await,
            Command::Keys(command) => command.run(settings, now).await,
            Command::Users(command) => command.run(settings).await,
            Command::Articles(command) => Box::pin(run_unless_stopped(command.run(settings, now))).await,
            Command::Backup(command) => run_unless_stopped(command.run()).await,
            Command::Restore(command) => run_unless_stopped(command.run()).await,
            Command::Replay(command) => return run_replay(command).await,
            Command::Smoke(command) => good_or(command.run(&settings).await, "a check failed"),
            Command::Health(command) => command.run().await,
            Command::Completions { shell } => Ok(completions(shell)),
            Command::Check(command) => good_or(command.run(&settings).await, "a check failed"),
            Command::Evaluate(command) => {
                let verdict = command.run(settings, start_demo_endpoints).await;
                good_or(verdict, "a model answered no question")
            }
        };
        report_outcome(outcome)
    };
    runtime.block_on(Box::pin(run))
}

fn completions(shell: Shell) -> CommandOutput {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "lambda-chat", &mut script);
    String::from_utf8_lossy(&script).into_owned().into()
}

/// Exit code 0 for an identical replay, 1 for a difference, 2 for a file that is not a recording.
async fn run_replay(command: ReplayCommand) -> ExitCode {
    match command.run().await {
        Ok((report, same)) => {
            print_line(&mut std::io::stderr(), &report);
            if same { ExitCode::SUCCESS } else { ExitCode::from(1) }
        }
        Err(error) => report_failure(&error.to_string(), WRONG_USE),
    }
}

/// The outcome of a command that has printed its findings; `bad_result` for bad ones.
fn good_or(verdict: Result<bool, CommandError>, bad_result: &str) -> Result<CommandOutput, CommandError> {
    if verdict? { Ok(CommandOutput::default()) } else { Err(CommandError::failed(bad_result)) }
}

/// Runs a command until it ends or a stop signal arrives, so that its draft file is cleaned up in both cases.
async fn run_unless_stopped(
    command: impl Future<Output = Result<CommandOutput, CommandError>>,
) -> Result<CommandOutput, CommandError> {
    tokio::select! {
        // Register the handler before the command starts, so that no signal is missed.
        biased;
        () = stop_signal() => Err(CommandError::failed("stopped")),
        outcome = command => outcome,
    }
}

fn report_outcome(outcome: Result<CommandOutput, CommandError>) -> ExitCode {
    match outcome {
        Ok(output) => {
            if !output.note.is_empty() {
                print_line(&mut std::io::stderr(), &output.note);
            }
            if !output.result.is_empty() {
                print_line(&mut std::io::stdout(), &output.result);
            }
            ExitCode::SUCCESS
        }
        Err(error) => report_failure(&error.to_string(), error.exit_code),
    }
}

async fn serve_until_stopped(serve: Serve, mut settings: Settings) -> ExitCode {
    if let Some(folder) = serve.record {
        settings.set(RECORD_TURNS, folder);
    }
    // An error names what was used.
    let documents = if serve.documents.is_some() { "--documents" } else { DOCUMENTS_DIR };
    if let Some(folder) = serve.documents {
        settings.set(DOCUMENTS_DIR, folder);
    }
    let data = if serve.ephemeral { Data::Memory } else { Data::Folder(serve.data) };
    let options = Options { host: serve.host, port: serve.port, data, dynamodb: serve.dynamodb, settings };
    let server = match Server::start(options).await {
        Ok(server) => server,
        Err(error) => return report_failure(&error.to_string().replace(DOCUMENTS_DIR, documents), WRONG_USE),
    };
    print_line(&mut std::io::stdout(), server.banner());
    stop_signal().await;
    print_line(&mut std::io::stderr(), "\nStopping: running answers are stored. Press Ctrl-C again to leave at once.");
    tokio::select! {
        () = server.shut_down() => ExitCode::SUCCESS,
        () = stop_signal() => ExitCode::from(130),
    }
}

/// Waits for Ctrl-C or for the signal that service managers send to stop a process.
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

fn report_failure(line: &str, code: u8) -> ExitCode {
    print_line(&mut std::io::stderr(), &format!("lambda-chat: {line}"));
    ExitCode::from(code)
}

/// Logs to the error stream (`RUST_LOG` overrides the filter).
///
/// Of a panic only the location is logged: its message may hold user text.
fn init_logging(filter: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(filter));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    tracing_subscriber::registry().with(filter).with(lines).init();
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(location, "a panic");
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_serve(arguments: &[&str]) -> Serve {
        let line = CommandLine::try_parse_from([&["lambda-chat"], arguments].concat()).unwrap();
        match line.command.unwrap_or(Command::Serve(line.serve)) {
            Command::Serve(serve) => serve,
            _ => panic!("another command"),
        }
    }

    #[test]
    fn version_names_the_commit() {
        let shown = CommandLine::try_parse_from(["lambda-chat", "--version"]).err().unwrap().to_string();
        let commit = option_env!("LAMBDA_CHAT_COMMIT").filter(|commit| !commit.is_empty()).unwrap_or("unknown");
        assert_eq!(shown, format!("lambda-chat {} ({commit})\n", env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn serve_is_the_default_command() {
        for arguments in [["--port", "8080"].as_slice(), &["serve", "--port", "8080"]] {
            assert_eq!(parse_serve(arguments).port, 8080);
        }
        let serve = parse_serve(&["--host", "localhost"]);
        assert_eq!((serve.host, serve.port, serve.data), (Ipv4Addr::LOCALHOST.into(), 3000, ".data".into()));
    }

    #[test]
    fn wrong_use_is_rejected() {
        let lines: [&[&str]; 39] = [
            &["articles"],
            &["articles", "add"],
            &["articles", "remove"],
            &["articles", "search", "q", "--limit", "21"],
            &["--port", "70000"],
            &["--host", "example.com"],
            &["dance"],
            &["--ephemeral", "--data", "x"],
            &["keys"],
            &["keys", "create"],
            &["keys", "create", "--user", ""],
            &["keys", "create", "--user", " "],
            &["keys", "create", "--user", "a\nb"],
            &["keys", "create", "--user", "a", "--expires", "0"],
            &["keys", "create", "--user", "a", "--expires", "soon"],
            &["keys", "list", "--aws", "--data", "x"],
            &["keys", "revoke"],
            &["--port", "1", "keys", "list"],
            &["users", "delete"],
            &["replay"],
            &["replay", "x", "--speed", "slow"],
            &["--record", "x", "replay", "y"],
            &["smoke"],
            &["smoke", "http://127.0.0.1:1", "--key-from"],
            &["users", "delete", ""],
            &["users", "delete", "a", "--from", "b"],
            &["users", "delete", "a", "--yes", "--dry-run"],
            &["completions"],
            &["completions", "dash"],
            &["users", "delete", "a", "--issuer", "id.example"],
            &["backup"],
            &["restore"],
            &["backup", "x", "--aws"],
            &["restore", "x", "--aws"],
            &["check", "--timeout", "0"],
            &["check", "--slow", "soon"],
            &["check", "openai"],
            &["evaluate", "--model"],
            &["evaluate", "--questions"],
        ];
        for arguments in lines {
            assert!(CommandLine::try_parse_from([&["lambda-chat"], arguments].concat()).is_err(), "{arguments:?}");
        }
    }
}
