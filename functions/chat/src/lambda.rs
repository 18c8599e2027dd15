use std::io::Write;
use std::process::ExitCode;

use platform::settings::Settings;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use web::{LambdaSettings, Platform};

use crate::{App, Config, Metrics, Traces};

/// Runs the function until its instance ends.
///
/// A setting that cannot be parsed is one line and exit code 2; a runtime that breaks off is exit code 1.
pub fn run() -> ExitCode {
    let settings = Settings::from_env();
    log(&settings);
    match assemble(&settings) {
        Ok((app, front)) => serve(&app, front),
        Err(line) => failed(&line, 2),
    }
}

fn assemble(settings: &Settings) -> Result<(App, LambdaSettings), String> {
    let http = platform::transport::build_client().map_err(|error| error.to_string())?;
    let mut config = Config::from_settings(settings, Platform::Lambda, http).map_err(|error| error.to_string())?;
    if let Some(warning) = config.auth.warning() {
        tracing::warn!("{warning}");
    }
    for note in config.notes() {
        tracing::warn!("{note}");
    }
    if let Some(name) = settings.var("AWS_LAMBDA_FUNCTION_NAME") {
        config.metrics = Metrics::to(name, std::io::stdout());
    }
    config.traces = Traces::from_settings(settings).map_err(|error| error.to_string())?;
    let front = LambdaSettings::from_settings(settings).map_err(|error| error.to_string())?;
    let aws = store::sdk_config(settings).map_err(|error| error.to_string())?;
    Ok((App::new(config, &aws), front))
}

fn serve(app: &App, front: LambdaSettings) -> ExitCode {
    // One thread: most instances have one turn at a time and less than one core. Where they have many, turns wait.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.to_string(), 1),
    };
    match runtime.block_on(web::run(app.router(), front)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error.to_string(), 1),
    }
}

fn failed(line: &str, code: u8) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{line}");
    ExitCode::from(code)
}

/// One JSON object per line, and of a panic only where it happened: its message may hold what a user wrote.
///
/// The level `trace` is left out whatever `RUST_LOG` says: at it the Lambda runtime logs whole events, with keys and users'
/// words, and the AWS SDK whole items. `RUST_LOG` holds levels and targets, no fields: those would take a regex engine into the binary.
fn log(settings: &Settings) {
    let told = settings.var("RUST_LOG").and_then(|text| text.parse().ok());
    let targets = told.unwrap_or_else(|| Targets::new().with_default(LevelFilter::INFO));
    let lines = tracing_subscriber::fmt::layer().json().flatten_event(true).with_ansi(false);
    tracing_subscriber::registry().with(targets).with(LevelFilter::DEBUG).with(lines).init();
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "a panic");
    }));
}
