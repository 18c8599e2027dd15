use std::io::Write;
use std::process::ExitCode;
use std::time::SystemTime;

use axum::routing::any;
use axum::{Extension, Router};
use domain::{ErrorCode, RequestOrigin};
use platform::settings::Settings;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use web::{ApiError, Exposure, LambdaSettings, Origins, Platform};

use crate::http::audit::AUDIT;
use crate::{App, Config, Metrics, STAGES, Traces};

/// Runs the function until its instance ends.
///
/// With a setting that cannot be parsed it logs one line, and answers every request with `503`. A failed runtime ends it with
/// exit code 1.
pub fn run() -> ExitCode {
    let settings = Settings::from_env();
    init_logging(&settings);
    match assemble(&settings) {
        Ok((app, front)) => serve(app.router(), front, app.turns.traces.clone()),
        Err(line) => {
            tracing::error!("{line}");
            let front = LambdaSettings::from_settings(&settings).unwrap_or_default();
            serve(unconfigured_routes(metrics(&settings)), front, Traces::default())
        }
    }
}

/// Routes that answer every request with `503`. If the process ended instead, Lambda would answer without a reason.
fn unconfigured_routes(metrics: Metrics) -> Router {
    let reject = async move |Extension(context): Extension<RequestOrigin>| {
        metrics.request_rejected(ErrorCode::NotConfigured, &context.request_id, SystemTime::now());
        ApiError::from(ErrorCode::NotConfigured)
    };
    let routes = Router::new().route("/", any(reject.clone())).route("/{*path}", any(reject));
    web::wrap_routes(routes, Origins::default(), Exposure::Public)
}

fn metrics(settings: &Settings) -> Metrics {
    let version = settings.var("AWS_LAMBDA_FUNCTION_VERSION").unwrap_or("$LATEST");
    let to_stdout = |name| Metrics::to(name, version, std::io::stdout());
    settings.var("AWS_LAMBDA_FUNCTION_NAME").map(to_stdout).unwrap_or_default()
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
    config.metrics = metrics(settings);
    let front = config.lambda.clone();
    let aws = store::sdk_config(settings).map_err(|error| error.to_string())?;
    Ok((App::new(config, &aws), front))
}

fn serve(routes: Router, front: LambdaSettings, traces: Traces) -> ExitCode {
    // One thread: most instances run one turn at a time and have less than one core. Turns mostly wait for the network.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return exit_with(&error.to_string()),
    };
    let send_traces = move |invocation_end| {
        let traces = traces.clone();
        async move { traces.flush(invocation_end).await }
    };
    match runtime.block_on(web::run(routes, front, send_traces)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit_with(&error.to_string()),
    }
}

fn exit_with(line: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{line}");
    ExitCode::FAILURE
}

/// Sets up logging: one JSON object per line. A panic logs only its location, because its message may hold users' text.
///
/// `RUST_LOG` filters by level and target only; filters by field need a regex engine in the binary.
fn init_logging(settings: &Settings) {
    let targets = log_targets(settings.var("RUST_LOG"));
    let lines = tracing_subscriber::fmt::layer().json().flatten_event(true).with_ansi(false);
    tracing_subscriber::registry().with(targets).with(lines).init();
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!("place" = location, "a panic");
    }));
}

/// The levels by target. The stages of turns are logged only if the filter names their target: a function has metrics. The
/// audit trail is logged unless the filter names its target.
fn log_targets(filter: Option<&str>) -> Targets {
    let targets = filter.and_then(|text| text.parse().ok());
    let targets: Targets = targets.unwrap_or_else(|| Targets::new().with_default(LevelFilter::INFO));
    let defaults = [(STAGES, LevelFilter::OFF), (AUDIT, LevelFilter::INFO)];
    defaults.into_iter().fold(targets, |targets, (own, level)| {
        let is_named = targets.iter().any(|(target, _)| target == own);
        if is_named { targets } else { targets.with_target(own, level) }
    })
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn log_filter_has_stages_off_and_audit_on() {
        for (filter, stages, audit, others) in [
            (None, false, true, true),
            (Some("info"), false, true, true),
            (Some("debug"), false, true, true),
            (Some("error"), false, true, false),
            (Some("stages=info"), true, true, false),
            (Some("warn,stages=info,audit=off"), true, false, false),
        ] {
            let targets = log_targets(filter);
            let enabled = [STAGES, AUDIT, "chat"].map(|target| targets.would_enable(target, &Level::INFO));
            assert_eq!(enabled, [stages, audit, others], "{filter:?}");
        }
    }
}
